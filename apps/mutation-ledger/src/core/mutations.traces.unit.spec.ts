import { describe, expect, it } from '@jest/globals';
import {
  DISPATCHED,
  escalated,
  executed,
  ledger,
  NOW,
  outcome,
  refund,
  ROLLBACK,
  TRIGGERED,
} from './ledger.testing.js';
import { ledgerSpans } from './traces.js';

describe('what the ledger adds to the trace of a rollback', () => {
  it('is the mark of the commit, and how it ended (C50)', () => {
    const { run } = ledger();
    run
      .when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(DISPATCHED, NOW + 2)
      .when(outcome('compensated', 'VERIFIED'), NOW + 3);
    const spans = run.records().flatMap(ledgerSpans);
    expect(
      spans.map(({ name, parent, startAt, endAt, problem }) => [name, parent?.name ?? null, startAt, endAt, problem]),
    ).toEqual([
      ['trigger', null, NOW + 1, NOW + 1, null],
      ['mark', 'trigger', NOW + 1, NOW + 1, null],
      ['settlement', 'trigger', NOW + 3, NOW + 3, null],
    ]);
    expect(new Set(spans.map(({ about }) => about))).toEqual(new Set([ROLLBACK]));
  });

  it('says why a person has it', () => {
    const { run } = ledger();
    run
      .when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(DISPATCHED, NOW + 2)
      .when(outcome('stale', 'STALE'), NOW + 3)
      .when(escalated('RESOURCE_CHANGED'), NOW + 4);
    expect(
      run
        .records()
        .flatMap(ledgerSpans)
        .map(({ name, problem }) => [name, problem]),
    ).toEqual([
      ['trigger', null],
      ['mark', null],
      ['settlement', 'RESOURCE_CHANGED'],
    ]);
  });

  it('tells the trigger of an unknown commit once, when it comes, and the mark later', () => {
    const { run } = ledger();
    run
      .when(TRIGGERED, NOW)
      .when(executed(refund()), NOW + 5)
      .whenDue(NOW + 5);
    expect(
      run
        .records()
        .flatMap(ledgerSpans)
        .map(({ name, endAt }) => [name, endAt]),
    ).toEqual([
      ['trigger', NOW],
      ['mark', NOW + 5],
    ]);
  });

  it('is nothing for a commit that nobody rolled back', () => {
    const { run } = ledger();
    run.when(executed(refund({ contract_digest: null })), NOW);
    expect(run.records().flatMap(ledgerSpans)).toEqual([]);
  });
});
