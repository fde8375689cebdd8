import { describe, expect, it } from '@jest/globals';
import { DISPATCHED, escalated, executed, ledger, NOW, outcome, refund, TRIGGERED } from './ledger.testing.js';
import { ledgerSpans } from './mutations.traces.js';

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
      spans.map(({ name, parent, startAt, endAt, problem }) => [name, parent.name, startAt, endAt, problem]),
    ).toEqual([
      ['mark', 'trigger', NOW + 1, NOW + 1, null],
      ['settlement', 'trigger', NOW + 3, NOW + 3, null],
    ]);
    expect(new Set(spans.map(({ about }) => about))).toEqual(new Set([TRIGGERED.body['rollback_id']]));
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
      ['mark', null],
      ['settlement', 'RESOURCE_CHANGED'],
    ]);
  });

  it('is nothing for a commit that nobody rolled back', () => {
    const { run } = ledger();
    run.when(executed(refund({ contract_digest: null })), NOW);
    expect(run.records().flatMap(ledgerSpans)).toEqual([]);
  });
});
