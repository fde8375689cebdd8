import { describe, expect, it } from '@jest/globals';
import { placeInTrace, spanIdOf, TRACEPARENT, traceIdOf } from '@recourse/kernel';
import type { CoreHarness } from '@recourse/testing';
import { harness, WAYS } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  CONFIG,
  core,
  denial,
  LEASE,
  MARGIN,
  markedInput,
  MUTATION,
  PAID_OUT,
  requestIn,
  ROLLBACK,
  terms,
  views,
  agreed,
} from '../recoveries.testing.js';
import { recoverySpans } from './traces.js';
import type { RecoverySpan } from './traces.js';

const AUTO = terms({ recovery_approval_mode: 'auto', impact: 'write' });
/** The observation of a verification is made at this instant, as its worker says. */
const LOOKED_AT = 20;

const spansOf = (run: CoreHarness): readonly RecoverySpan[] =>
  run.records().flatMap((record) => recoverySpans(record, run.changedBy(record)));
/** Spans as a tree reads: each with what it hangs on, its time and its problem. */
const told = (run: CoreHarness) =>
  spansOf(run).map(({ name, which, parent, startAt, endAt, problem }) => [
    `${name} ${which}`.trim(),
    parent === null ? null : `${parent.name} ${parent.which}`.trim(),
    startAt,
    endAt,
    problem,
  ]);

describe.each(WAYS)('the trace of a recovery, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });

  it('leads from the trigger of the ledger over the decision, the approval and the leg to the verification (C50)', () => {
    const run = agreed(start().when(markedInput(), 10_000), 40_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 41_000);
    expect(told(run)).toEqual([
      ['decision', 'trigger', 8_000, 10_000, null],
      ['approval 1', 'decision', 10_000, 40_000, null],
      ['leg 1 answered', 'decision', 40_000, 41_000, null],
      ['verification 1', 'leg 1 answered', LOOKED_AT, 41_000, null],
    ]);
  });

  it.each([
    ['a moment after it was judged', 41_013, 41_013],
    ['hours after it was judged', 9_000_000, 42_000],
  ])('encloses what its worker told, by another clock: %s', (_when, observed_at, endsAt) => {
    const run = agreed(start().when(markedInput(), 10_000), 40_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [{ ...BALANCE_ZERO, observed_at }]), 41_000);
    expect(told(run).slice(2)).toEqual([
      ['leg 1 answered', 'decision', 40_000, endsAt, null],
      ['verification 1', 'leg 1 answered', 41_000, endsAt, null],
    ]);
  });

  it('is one trace: every span is about the rollback, and hangs on the trigger or on one that was told before it', () => {
    const run = start().when(markedInput({ terms: AUTO }), 10_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 11_000);
    const spans = spansOf(run);
    expect(new Set(spans.map(({ about }) => about))).toEqual(new Set([ROLLBACK]));
    const id = ({ name, which }: Pick<RecoverySpan, 'name' | 'which'>): string => `${name} ${which}`;
    for (const [at, { parent }] of spans.entries())
      expect(
        parent?.name === 'trigger' || spans.slice(0, at).some((span) => parent !== null && id(span) === id(parent)),
      ).toBe(true);
    expect(new Set(spans.map(id)).size).toBe(spans.length);
  });

  it('goes on at the worker: the request names the span of its leg, which the answer ends', () => {
    const run = start().when(markedInput({ terms: AUTO }), 10_000);
    const [message] = run.outgoing();
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 11_000);
    const leg = spansOf(run).find(({ name }) => name === 'leg');
    expect(leg).toBeDefined();
    expect(placeInTrace(message?.headers?.[TRACEPARENT])).toEqual({
      traceId: traceIdOf(ROLLBACK),
      spanId: spanIdOf(leg?.about ?? '', { name: 'leg', which: leg?.which ?? '' }),
    });
  });

  it('names the mutation, the tool and the record each span was told from', () => {
    const run = start().when(markedInput(), 10_000);
    const [decided] = run.records();
    expect(spansOf(run)[0]).toMatchObject({
      attributes: {
        mutation_id: MUTATION,
        capability: 'payments.issue_refund',
        decision: 'request_approval',
        'record.type': 'RecoveryPlanned',
        'record.seq': decided?.seq,
        'record.hash': decided?.hash.toString('hex'),
      },
    });
  });

  it('shows silence, the late answer and the attempt after it apart', () => {
    const run = start().when(markedInput({ terms: AUTO }), 10_000);
    const request = requestIn(run.outgoing());
    const silentAt = 10_000 + LEASE + CALL_TIMEOUT + MARGIN;
    run.whenDue(silentAt).when(answered(request, 'verified', [BALANCE_ZERO]), silentAt + CONFIG.backoff.baseMs / 2);
    expect(told(run).slice(1)).toEqual([
      ['leg 1 unanswered', 'decision', 10_000, silentAt, 'NO_ANSWER'],
      ['leg 1 answered', 'decision', 10_000, silentAt + CONFIG.backoff.baseMs / 2, null],
      ['verification 1', 'leg 1 answered', LOOKED_AT, silentAt + CONFIG.backoff.baseMs / 2, null],
    ]);
  });

  it('ends with the person who was given the step, and why', () => {
    const run = start().when(markedInput({ terms: AUTO }), 10_000);
    run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), 11_000);
    expect(told(run).slice(1)).toEqual([
      ['leg 1 answered', 'decision', 10_000, 11_000, 'STALE_CONDITION_FALSE'],
      ['handover', 'decision', 11_000, 11_000, 'RESOURCE_CHANGED'],
    ]);
  });

  it('shows a denial as one', () => {
    expect(told(start().when(markedInput(), 10_000).when(denial(), 12_000)).at(-1)).toEqual([
      'approval 0',
      'decision',
      10_000,
      12_000,
      'DENIED',
    ]);
  });

  it('says nothing of people or payloads', () => {
    const run = start()
      .when(markedInput(), 10_000)
      .when(approval({ by: 'olga' }), 40_000);
    expect(JSON.stringify(spansOf(run))).not.toMatch(/olga|ines|4711|4_?900|shipped after all/);
  });
});
