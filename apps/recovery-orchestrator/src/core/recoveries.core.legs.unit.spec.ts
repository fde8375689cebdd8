// Legs: what is sent, what an answer counts for, silence, retries, and when a person is asked.
import { leaseIdOf } from '@recourse/kernel';
import { plainPayload } from '@recourse/contract';
import { describe, expect, it } from '@jest/globals';
import type { LegRequested } from '@recourse/messages';
import type { CoreHarness } from '@recourse/testing';
import { fact, harness, WAYS } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_KEPT,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  CONFIG,
  core,
  digest,
  dispatched,
  LEASE,
  MARGIN,
  markedInput,
  observed,
  PAID_OUT,
  ref,
  requestIn,
  RUN,
  STEP,
  STILL_PENDING,
  terms,
  windowClosed,
  views,
  leg,
  settled,
  agreed,
} from '../recoveries.testing.js';

const SENT_AT = 20_000;
/** Without an answer until then the step is uncertain. */
const ANSWER_BY = SENT_AT + LEASE + CALL_TIMEOUT + MARGIN;
const RETRY_AT = ANSWER_BY + CONFIG.backoff.baseMs;

/** A look back that finds the effect. */
const LOOKED_BACK = observed('reconcile', 'payments.find_cancellation', { refunded: 0 });

describe.each(WAYS)('$way', ({ isRebuilt }) => {
  const dispatchedWith = (
    more: Partial<ReturnType<typeof terms>> = {},
    pointer = ref(),
  ): { run: CoreHarness; request: LegRequested } => {
    const contract = terms(more);
    const run = harness(core(), { isRebuilt, views: views() })
      .when(markedInput({ terms: contract, ref: pointer }), 10_000)
      .when(approval({ digest: digest({ terms: contract, ref: pointer }) }), SENT_AT);
    return { run, request: dispatched(run, SENT_AT) };
  };
  const stepOf = (run: CoreHarness): Readonly<Record<string, unknown>> => run.rows('step')[0]?.doc ?? {};

  describe('a request', () => {
    it('carries what a worker needs and the lease only we can make (L11)', () => {
      const { request } = dispatchedWith();
      expect(request).toMatchObject({
        attempt: 1,
        not_after: SENT_AT + LEASE,
        lease_id: leaseIdOf(CONFIG.leaseKey, request.leg_id, 1, SENT_AT + LEASE),
      });
      expect(request.steps[0]).toMatchObject({
        step_id: STEP,
        call_timeout_ms: CALL_TIMEOUT,
        verify_capability: 'payments.read_balance',
        stale_capability: 'payments.read_refund',
        external_transaction_ref: 're_1',
      });
    });

    it('is one golden call: whose effect, what, with which arguments, under which key, and nothing else (A66, C49)', () => {
      const { request } = dispatchedWith();
      expect(request.steps[0]?.call).toEqual({
        call_id: 'rev_mut_1',
        run_id: RUN,
        adapter_id: 'payments',
        capability: 'payments.cancel_refund',
        args: plainPayload({ refund_id: 're_1' }),
        approval_mode: 'delegated',
        policy_ref: null,
        idempotency_key: 'rev_mut_1',
        reverses_mutation_ref: 'mut_1',
        then: [],
      });
    });

    it('goes to the topic of its adapter under its run', () => {
      const { run } = dispatchedWith();
      expect(run.outgoing()[0]).toMatchObject({
        topic: 'recourse.tool-requests.payments',
        key: RUN,
        type: 'recourse.tools.LegRequested',
      });
    });

    it('is owed until it is too late, answered or superseded', () => {
      const { run, request } = dispatchedWith();
      const [message] = run.outgoing();
      if (message === undefined) throw new Error('nothing was sent');
      expect(run.owed(message, SENT_AT)).toBe(true);
      expect(run.owed(message, SENT_AT + LEASE)).toBe(false);
      run.when(answered(request, 'verified', [BALANCE_ZERO]), 25_000);
      expect(run.owed(message, 25_000)).toBe(false);
    });

    it('is superseded by the next attempt', () => {
      const { run } = dispatchedWith();
      const [first] = run.outgoing();
      if (first === undefined) throw new Error('nothing was sent');
      run.whenDue(ANSWER_BY).whenDue(RETRY_AT);
      expect(run.owed(first, RETRY_AT)).toBe(false);
      const [second] = run.outgoing();
      expect(second !== undefined && run.owed(second, RETRY_AT)).toBe(true);
    });
  });

  describe('an answer', () => {
    it('that we judge verified ourselves compensates, with causality in the record (A70, A71)', () => {
      const { run, request } = dispatchedWith();
      run.when(answered(request, 'verified', [STILL_PENDING, BALANCE_ZERO]), 25_000).then(
        settled({
          outcome: 'compensated',
          reported: 'verified',
          reason: 'SUCCESS_CONDITION_HELD',
          reverses_call_id: 'call-1',
          reverses_mutation_ref: 'mut_1',
          reverses_record_hash: Buffer.alloc(32, 9),
          assumption_refs: ['order/4711#not_shipped'],
          retry_at: null,
        }),
        CLOSED_COMPENSATED,
      );
      expect(stepOf(run)).toMatchObject({ phase: 'compensated', due_at: null, deadline_at: null });
      expect(run.rows('recovery')[0]?.doc).toMatchObject({ phase: 'closed', outcome: 'compensated' });
    });

    it('repeated changes nothing', () => {
      const { run, request } = dispatchedWith();
      const message = answered(request, 'verified', [BALANCE_ZERO]);
      run.when(message, 25_000).when(message, 26_000).thenNothing();
    });

    it('that contradicts the one taken is refused', () => {
      const { run, request } = dispatchedWith();
      run
        .when(answered(request, 'verified', [BALANCE_ZERO]), 25_000)
        .when(answered(request, 'failed', []), 26_000)
        .then(fact('ReportRefused', { code: 'ALREADY_ANSWERED' }));
      expect(stepOf(run)['phase']).toBe('compensated');
    });

    it.each([
      ['with another lease', { lease_id: 'f'.repeat(64) }, 'LEASE_UNKNOWN'],
      ['of another tenant', { tenant: 'evil' }, 'LEASE_UNKNOWN'],
      ['about another leg', { leg_id: 'leg_x' }, 'LEASE_UNKNOWN'],
      ['with another attempt', { attempt: 2 }, 'ATTEMPT_STALE'],
      ['under another key', { key: 'other' }, 'KEY_MISMATCH'],
    ])('%s is refused and changes nothing', (_name, more, code) => {
      const { run, request } = dispatchedWith();
      run.when(answered(request, 'verified', [BALANCE_ZERO], more), 25_000).then(fact('ReportRefused', { code }));
      expect(stepOf(run)['phase']).toBe('dispatched');
    });

    it('that was refused as late proves nothing about another copy', () => {
      const { run, request } = dispatchedWith();
      run.when(answered(request, 'refused_late', []), 25_000).then(fact('ReportRefused', { code: 'REFUSED_LATE' }));
      expect(stepOf(run)).toMatchObject({ phase: 'dispatched', due_at: ANSWER_BY });
      run
        .when(answered(request, 'verified', [BALANCE_ZERO]), 26_000)
        .then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
    });

    it('that the resource was changed goes to a person at once (P7)', () => {
      const { run, request } = dispatchedWith();
      run
        .when(answered(request, 'stale', [PAID_OUT]), 25_000)
        .then(
          settled({ outcome: 'stale', reason: 'STALE_CONDITION_FALSE' }),
          fact('StepEscalated', { reason: 'RESOURCE_CHANGED' }),
          CLOSED_MANUAL,
        );
      expect(run.outgoing()).toEqual([]);
    });

    it('that says nothing of the step is uncertain', () => {
      const { run, request } = dispatchedWith();
      run
        .when(answered(request, 'verified', [], { steps: [] }), 25_000)
        .then(settled({ outcome: 'uncertain', reason: 'STEP_NOT_REPORTED', retry_at: ANSWER_BY }));
    });
  });

  describe('our verdict against the worker’s', () => {
    it.each([
      ['verified without an observation', 'verified', [], 'uncertain', 'SUCCESS_NOT_OBSERVED'],
      ['verified where the condition is false', 'verified', [BALANCE_KEPT], 'unverified', 'SUCCESS_CONDITION_FALSE'],
      [
        'verified by the acting capability',
        'verified',
        [observed('verify', 'payments.cancel_refund', { refunded: 0 })],
        'uncertain',
        'SUCCESS_NOT_OBSERVED',
      ],
      [
        'verified by what was seen before acting',
        'verified',
        [{ ...BALANCE_ZERO, phase: 'reconcile' as const }],
        'uncertain',
        'SUCCESS_NOT_OBSERVED',
      ],
      [
        'verified by a value that is missing',
        'verified',
        [observed('verify', 'payments.read_balance', {})],
        'uncertain',
        'SUCCESS_NOT_OBSERVED',
      ],
      [
        'verified first and then not',
        'verified',
        [BALANCE_ZERO, BALANCE_KEPT],
        'unverified',
        'SUCCESS_CONDITION_FALSE',
      ],
      [
        'verified though the resource was changed',
        'verified',
        [PAID_OUT, BALANCE_ZERO],
        'uncertain',
        'VERDICTS_DISAGREE',
      ],
      [
        'verified though the resource was changed after the look back',
        'verified',
        [LOOKED_BACK, PAID_OUT, BALANCE_ZERO],
        'uncertain',
        'VERDICTS_DISAGREE',
      ],
      ['unverified where the condition holds', 'unverified', [BALANCE_ZERO], 'uncertain', 'VERDICTS_DISAGREE'],
      ['unverified where it does not', 'unverified', [BALANCE_KEPT], 'unverified', 'SUCCESS_CONDITION_FALSE'],
      ['failed', 'failed', [STILL_PENDING], 'failed', 'TOOL_FAILED'],
      ['failed where the condition holds', 'failed', [BALANCE_ZERO], 'uncertain', 'VERDICTS_DISAGREE'],
      ['stale where the resource is as we left it', 'stale', [STILL_PENDING], 'uncertain', 'VERDICTS_DISAGREE'],
      ['not executed', 'not_executed', [], 'failed', 'NOT_EXECUTED'],
      ['unknown', 'unknown', [], 'uncertain', 'OUTCOME_NOT_KNOWN'],
    ] as const)('on %s', (_name, reported, observations, outcome, reason) => {
      const { run, request } = dispatchedWith();
      run.when(answered(request, reported, observations), 25_000).then(settled({ reported, outcome, reason }));
      expect(stepOf(run)['phase']).not.toBe('compensated');
    });

    it('agrees where an earlier delivery acted, and the worker found it done: looked back and verified is compensated (B18)', () => {
      const { run, request } = dispatchedWith();
      run
        .when(answered(request, 'verified', [{ ...BALANCE_ZERO, phase: 'reconcile' as const }, BALANCE_ZERO]), 25_000)
        .then(settled({ outcome: 'compensated', reason: 'SUCCESS_CONDITION_HELD' }), CLOSED_COMPENSATED);
      expect(stepOf(run)['phase']).toBe('compensated');
    });

    it('agrees where the change it saw turned out to be our own: looked back after it, and verified, is compensated', () => {
      const { run, request } = dispatchedWith();
      run
        .when(answered(request, 'verified', [PAID_OUT, LOOKED_BACK, BALANCE_ZERO]), 25_000)
        .then(settled({ outcome: 'compensated', reason: 'SUCCESS_CONDITION_HELD' }), CLOSED_COMPENSATED);
    });

    it('survives observations that are sealed or no JSON', () => {
      const { run, request } = dispatchedWith();
      const sealed = {
        ...BALANCE_ZERO,
        observed: { ...BALANCE_ZERO.observed, encoding: 'sealed' as const, key_id: 'k' },
      };
      const damaged = { ...BALANCE_ZERO, observed: { ...BALANCE_ZERO.observed, body: Buffer.from('{') } };
      run.when(answered(request, 'verified', [sealed]), 25_000).then(settled({ outcome: 'uncertain' }));
      const other = dispatchedWith();
      other.run.when(answered(other.request, 'verified', [damaged]), 25_000).then(settled({ outcome: 'uncertain' }));
    });
  });

  describe('silence', () => {
    it('leaves the step alone until lease, call time-out and margin have passed', () => {
      const { run } = dispatchedWith();
      run
        .whenDue(ANSWER_BY - 1)
        .thenNothing()
        .whenDue(ANSWER_BY)
        .then(settled({ outcome: 'uncertain', attempt: 1, reason: 'NO_ANSWER', retry_at: RETRY_AT }));
      expect(stepOf(run)).toMatchObject({ phase: 'uncertain', owner: 'adapter:payments', deadline_at: RETRY_AT });
    });

    it('is followed by an attempt that reconciles first, under the same call and key (C49)', () => {
      const { run, request } = dispatchedWith();
      run
        .whenDue(ANSWER_BY)
        .whenDue(RETRY_AT)
        .then(
          leg({
            attempt: 2,
            reconcile_first: true,
            first_dispatched_at: SENT_AT,
            not_after: RETRY_AT + LEASE,
          }),
        );
      const again = requestIn(run.outgoing());
      expect(again.leg_id).not.toBe(request.leg_id);
      expect(again.lease_id).not.toBe(request.lease_id);
      expect(again.steps[0]?.call).toEqual(request.steps[0]?.call);
    });

    it('after the last attempt goes to a person, and only then', () => {
      const { run } = dispatchedWith();
      run.whenDue(ANSWER_BY).whenDue(RETRY_AT);
      const lastAnswerBy = RETRY_AT + LEASE + CALL_TIMEOUT + MARGIN;
      run.whenDue(lastAnswerBy).then(settled({ outcome: 'uncertain', attempt: 2, retry_at: lastAnswerBy + 2_000 }));
      run.whenDue(lastAnswerBy + 2_000).then(fact('StepEscalated', { reason: 'OUTCOME_UNKNOWN' }), CLOSED_MANUAL);
    });

    it('then proof of the earlier attempt compensates', () => {
      const { run, request } = dispatchedWith();
      run
        .whenDue(ANSWER_BY)
        .when(answered(request, 'verified', [BALANCE_ZERO]), ANSWER_BY + 1)
        .then(settled({ attempt: 1, outcome: 'compensated' }), CLOSED_COMPENSATED);
      expect(run.rows('step')[0]?.dueAt).toBeNull();
    });

    it('then anything but proof is stale', () => {
      const { run, request } = dispatchedWith();
      run
        .whenDue(ANSWER_BY)
        .when(answered(request, 'failed', []), ANSWER_BY + 1)
        .then(fact('ReportRefused', { code: 'ATTEMPT_STALE' }));
      run
        .when(answered(request, 'verified', [BALANCE_KEPT]), ANSWER_BY + 2)
        .then(fact('ReportRefused', { code: 'ATTEMPT_STALE' }));
    });

    it('then an answer of the earlier attempt while the next is out is stale', () => {
      const { run, request } = dispatchedWith();
      run
        .whenDue(ANSWER_BY)
        .whenDue(RETRY_AT)
        .when(answered(request, 'verified', [BALANCE_ZERO]), RETRY_AT + 1)
        .then(fact('ReportRefused', { code: 'ATTEMPT_STALE' }));
      expect(stepOf(run)).toMatchObject({ phase: 'dispatched', attempt: 2 });
    });

    it('past the life of the key goes to a person (L11)', () => {
      const { run } = dispatchedWith({ key_lifetime_ms: 40_000 });
      run
        .whenDue(ANSWER_BY)
        .whenDue(RETRY_AT)
        .then(fact('StepEscalated', { reason: 'KEY_LIFETIME_OVER' }), CLOSED_MANUAL);
    });

    it('of a tool that takes no key is never followed by a second call', () => {
      const { run } = dispatchedWith({ key_lifetime_ms: null });
      run
        .whenDue(ANSWER_BY)
        .whenDue(RETRY_AT)
        .then(fact('StepEscalated', { reason: 'KEY_LIFETIME_OVER' }), CLOSED_MANUAL);
    });

    it('past the window goes to a person: it closed before the next dispatch (P6)', () => {
      const { run } = dispatchedWith({}, ref({ reversal_expires_at: ANSWER_BY + 5_000 }));
      run.when(windowClosed(), SENT_AT + 1).then(fact('MutationAdvanced', { reason: 'REVERSAL_EXPIRED' }));
      run
        .whenDue(ANSWER_BY)
        .whenDue(RETRY_AT)
        .then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), CLOSED_MANUAL);
    });
  });

  describe('an attempt that did not settle', () => {
    it('by failure is tried again after a pause, then goes to a person', () => {
      const { run, request } = dispatchedWith();
      run.when(answered(request, 'failed', []), 25_000).then(settled({ outcome: 'failed', retry_at: 26_000 }));
      run.whenDue(26_000).then(leg({ attempt: 2, reconcile_first: true }));
      run
        .when(answered(requestIn(run.outgoing()), 'failed', []), 27_000)
        .then(
          settled({ attempt: 2, outcome: 'failed' }),
          fact('StepEscalated', { reason: 'COMPENSATION_FAILED' }),
          CLOSED_MANUAL,
        );
    });

    it('by a phantom undo is never compensated, and a person hears of it', () => {
      const { run, request } = dispatchedWith();
      run.when(answered(request, 'verified', [BALANCE_KEPT]), 25_000).whenDue(26_000);
      run
        .when(answered(requestIn(run.outgoing()), 'unverified', [BALANCE_KEPT]), 27_000)
        .then(
          settled({ outcome: 'unverified' }),
          fact('StepEscalated', { reason: 'VERIFICATION_FAILED' }),
          CLOSED_MANUAL,
        );
      expect(run.records().some(({ body }) => body['outcome'] === 'compensated')).toBe(false);
    });

    it('by an unknown outcome waits until no copy can act any more', () => {
      const { run, request } = dispatchedWith();
      run.when(answered(request, 'unknown', []), 25_000).then(settled({ outcome: 'uncertain', retry_at: ANSWER_BY }));
      run
        .whenDue(ANSWER_BY - 1)
        .thenNothing()
        .whenDue(ANSWER_BY)
        .then(leg({ attempt: 2, reconcile_first: true }));
    });

    it('by an unknown outcome is settled by the copy that had the claim', () => {
      const { run, request } = dispatchedWith();
      run
        .when(answered(request, 'unknown', []), 25_000)
        .when(answered(request, 'unknown', []), 25_500)
        .thenNothing()
        .when(answered(request, 'verified', [BALANCE_ZERO]), 26_000)
        .then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
    });

    it('claimed verified but never observed, ends as a failed verification', () => {
      const { run, request } = dispatchedWith({ max_attempts: 1 });
      run.when(answered(request, 'verified', []), 25_000).then(settled({ outcome: 'uncertain' }));
      run.whenDue(ANSWER_BY).then(fact('StepEscalated', { reason: 'VERIFICATION_FAILED' }), CLOSED_MANUAL);
    });
  });

  it('a timer that was overtaken does nothing', () => {
    const { run, request } = dispatchedWith();
    const overtaken = run.timer('step', STEP);
    run
      .when(answered(request, 'verified', [BALANCE_ZERO]), 25_000)
      .when(overtaken, ANSWER_BY)
      .thenNothing();
  });

  it('a mark that is read again after the compensation is no second undo (P1)', () => {
    const run = agreed(harness(core(), { isRebuilt, views: views() }).when(markedInput(), 10_000), SENT_AT);
    run
      .when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 25_000)
      .when(markedInput(), 30_000)
      .thenNothing();
    expect(run.records().filter(({ type }) => type === 'LegDispatched')).toHaveLength(1);
  });
});
