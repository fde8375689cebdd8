// A reversal of several calls: what is sent, what a report of some of them counts for, and what a person is shown.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { LegReported, LegRequested, Observation, ReversalCall } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { reviewItem } from '../reads/review-item.query.js';
import { reader } from '../reads/review-item.testing.js';
import { actionDigest } from '../rules/step/opening.decisions.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import {
  answered,
  approval,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  core,
  leg,
  MARGIN,
  markedInput,
  observed,
  ref,
  requestIn,
  settled,
  terms,
  views,
  WINDOW_END,
} from '../recoveries.testing.js';
import { switchboard } from '../legs.testing.js';

const RESET: ReversalCall = {
  capability: 'payments.reset_counter',
  args: plainPayload({ counter: 'c-1' }),
  taken: [{ name: 'count', call: 1, path: '/refunded' }],
  verify_capability: 'payments.read_counter',
  success_condition: 'observed.count == bound.args.count',
  verify_max_attempts: 1,
  verify_delay_ms: 0,
};
const POINTER = ref({ reversal_then: [RESET] });
const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto' });
const resource = (status: string): Observation => observed('verify', 'payments.read_refund', { status });
const second = (count: number): Observation => ({ ...observed('verify', 'payments.read_counter', { count }), call: 2 });

type Told = Partial<LegReported['steps'][number]>;
function told(request: LegRequested, outcome: LegReported['steps'][number]['outcome'], more: Told) {
  const [step] = request.steps;
  const nothing = { observations: [], error_kind: null, detail: null, external_transaction_ref: null, calls_done: 0 };
  return answered(request, outcome, [], { steps: [{ step_id: step?.step_id ?? '', outcome, ...nothing, ...more }] });
}

describe.each(WAYS)('a reversal of two calls, $way', ({ isRebuilt }) => {
  const start = (more: Parameters<typeof terms>[0] = {}, pointer = POINTER): CoreHarness =>
    harness(core(), { isRebuilt, views: views() }).when(
      markedInput({ terms: { ...AUTO, ...more }, ref: pointer }),
      10_000,
    );
  const stepOf = (run: CoreHarness): StepDoc => run.rows('step')[0]?.doc as unknown as StepDoc; // rows are typed as JSON
  const reconciled = (run: CoreHarness) =>
    reviewItem(stepOf(run), {
      reader: reader(),
      log: 'recourse.recoveries',
      partition: 0,
      now: 12_000,
      marginMs: MARGIN,
      ofOpen: () => null,
      traceUrl: null,
      agreedBy: [],
    }).reconciliation;

  it('is asked of its worker as one step, with the calls behind the first', () => {
    const [step] = requestIn(start().outgoing()).steps;
    expect(step).toMatchObject({ calls_done: 0, call: { capability: 'payments.cancel_refund', then: [RESET] } });
  });

  it('is compensated only when each call is verified, by our own judgement', () => {
    const run = start();
    const request = requestIn(run.outgoing());
    run
      .when(told(request, 'verified', { observations: [BALANCE_ZERO, second(0)], calls_done: 2 }), 11_000)
      .then(settled({ outcome: 'compensated', calls_done: 2 }), CLOSED_COMPENSATED);
  });

  it.each([
    ['of the second is nothing to see', [BALANCE_ZERO], 2, { outcome: 'uncertain', reason: 'SUCCESS_NOT_OBSERVED' }, 1],
    ['the second is not as it should be', [BALANCE_ZERO, second(7)], 2, { outcome: 'unverified' }, 1],
    ['of the first is nothing to see', [second(0)], 2, { outcome: 'uncertain', reason: 'VERDICTS_DISAGREE' }, 0],
    ['a worker knows of one call alone', [BALANCE_ZERO], 0, { outcome: 'uncertain' }, 1],
  ])('is not, whatever its worker says, where %s', (_, observations, done, verdict, calls_done) => {
    const run = start();
    run
      .when(told(requestIn(run.outgoing()), 'verified', { observations, calls_done: done }), 11_000)
      .then(settled({ ...verdict, calls_done }));
  });

  it('goes on where it stopped: the next attempt is told what was made, and the item says which call failed', () => {
    const run = start();
    const failed = { observations: [BALANCE_ZERO], calls_done: 1, error_kind: 'TOOL_REJECTED' };
    run
      .when(told(requestIn(run.outgoing()), 'failed', failed), 11_000)
      .then(settled({ outcome: 'failed', reason: 'TOOL_FAILED', calls_done: 1 }));
    expect(reconciled(run)).toMatchObject({
      outcome: 'failed',
      calls: { done: ['payments.cancel_refund'], stopped_at: 'payments.reset_counter' },
      observations: [{ call: 1, capability: 'payments.read_balance' }],
    });
    run.whenDue(12_000).then(leg({ attempt: 2 }));
    const again = requestIn(run.outgoing());
    expect(again.steps[0]).toMatchObject({ calls_done: 1 });
    run
      .when(told(again, 'failed', { observations: [BALANCE_ZERO], calls_done: 1 }), 13_000)
      .then(settled({ outcome: 'failed', calls_done: 1 }), fact('StepEscalated'), CLOSED_MANUAL);
  });

  it('keeps what was made through an attempt that nobody answers, and through one that finds it changed', () => {
    const run = start({ max_attempts: 3 });
    run.when(told(requestIn(run.outgoing()), 'failed', { observations: [BALANCE_ZERO], calls_done: 1 }), 11_000);
    run.whenDue(12_000);
    run.whenDue(stepOf(run).due_at ?? 0).then(settled({ outcome: 'uncertain', reason: 'NO_ANSWER', calls_done: 1 }));
    run.whenDue(stepOf(run).due_at ?? 0);
    const stale = { observations: [], calls_done: 0, error_kind: 'STALE' };
    run
      .when(told(requestIn(run.outgoing()), 'stale', stale), 60_000)
      .then(settled({ outcome: 'stale', calls_done: 1 }), fact('StepEscalated'), CLOSED_MANUAL);
  });

  it('is stopped by a switch over any of its calls', () => {
    const { views: both, on } = switchboard();
    on('stop', { over: 'capability', capability: 'payments.reset_counter' }, 'acme');
    const halted = harness(core(), { isRebuilt, views: both }).when(markedInput({ terms: AUTO, ref: POINTER }), 10_000);
    halted.then(
      fact('RecoveryPlanned'),
      fact('StepHalted', { reason: 'KILL_SWITCH', capability: 'payments.reset_counter' }),
    );
  });

  it('needs room for all its calls before the window ends (P6)', () => {
    const endsAt = (calls: number): number => 10_000 + MARGIN + calls * CALL_TIMEOUT + 1;
    const at = (calls: number) => start({}, { ...POINTER, reversal_expires_at: endsAt(calls) }).outgoing().length;
    expect([at(1), at(2)]).toEqual([0, 1]);
  });

  describe('that a person decides about', () => {
    /** Within the window, but with room for one of the two calls alone. */
    const TOO_LATE = WINDOW_END - MARGIN - 2 * CALL_TIMEOUT;
    const asked = (): CoreHarness =>
      harness(core({ reviewDeadlineMs: 10 * WINDOW_END }), { isRebuilt, views: views() }).when(
        markedInput({ terms: terms(), ref: POINTER }),
        10_000,
      );
    const agreeing = (run: CoreHarness) => {
      const { action_digest } = stepOf(run);
      if (action_digest === null) throw new Error('there is something to agree to');
      return approval({ digest: action_digest });
    };

    it('is agreed to only while all its calls still fit into the window', () => {
      const last = asked();
      last.when(agreeing(last), TOO_LATE - 1).then(fact('StepApproved'), fact('FactsAsked'));
      const late = asked();
      late.when(agreeing(late), TOO_LATE).then().thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
    });

    it('is said to have run out of its window, and not of patience, where its calls no longer fit', () => {
      asked()
        .whenDue(TOO_LATE)
        .then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), CLOSED_MANUAL);
    });

    it('has a person decide anew, after a fact changed, no later than all its calls still fit', () => {
      const run = asked();
      const saw = (status: string, at: number) =>
        run.when(answered(requestIn(run.outgoing()), 'verified', [resource(status)]), at);
      saw('pending', 11_000).when(agreeing(run), 12_000);
      saw('paid_out', 13_000).then(fact('FactsObserved'), fact('FactChanged', { deadline_at: TOO_LATE }));
    });
  });

  it('is agreed to as a whole: whatever a further call says is in the digest', () => {
    const call = stepOf(start()).call;
    if (call === null) throw new Error('there is a call');
    const digestOf = (changes: Partial<ReversalCall>) =>
      actionDigest({ tenant: 't', terms: AUTO, ref: POINTER, call: { ...call, then: [{ ...RESET, ...changes }] } });
    const changes: readonly Partial<ReversalCall>[] = [
      { capability: 'payments.drop_counter' },
      { args: plainPayload({ counter: 'c-2' }) },
      { taken: [] },
      { success_condition: 'true' },
      { verify_capability: 'payments.read_other' },
    ];
    const digests = [{}, ...changes].map((one) => digestOf(one).toString('hex'));
    expect(new Set(digests).size).toBe(digests.length);
  });
});
