// The facts people rely on: shown to them, observed again before the dispatch; a change voids what they agreed to and says which fact it was.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { LegRequested } from '@recourse/messages';
import { fact, harness, logged, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  core,
  denial,
  digest,
  EVIDENCE,
  LEASE,
  MARGIN,
  markedInput,
  MUTATION,
  observed,
  ref,
  requestIn,
  REVIEW,
  RUN,
  STEP,
  STILL_PENDING,
  TENANT,
  terms,
  views,
  leg,
  settled,
  planned,
  withoutKey,
} from '../recoveries.testing.js';

const AT = 10_000;
const PENDING = { status: 'pending', amount: 4_900, read_at: 1 };

/** The action as it is shown before anything changed. */
const SHOWN = digest({ terms: terms() });

function agreeing(more: Parameters<typeof approval>[0] = {}) {
  return approval({ digest: SHOWN, ...more });
}
function resource(json: Json) {
  return observed('verify', 'payments.read_refund', json);
}
function saw(request: LegRequested, json: Json) {
  return answered(request, 'verified', [resource(json)]);
}
function reaffirmed(eventId = 'ev-2') {
  return logged(
    'recourse.mutations',
    'MutationReaffirmed',
    {
      mutation_id: MUTATION,
      tenant: TENANT,
      run_id: RUN,
      evidence: { ...EVIDENCE, event_id: eventId, source: 'warehouse', position: 4 },
    },
    5,
    { key: RUN },
  );
}

describe.each(WAYS)('the facts people rely on, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const asked = (more: Parameters<typeof terms>[0] = {}): CoreHarness =>
    start().when(markedInput({ terms: terms(more) }), AT);
  const doc = (run: CoreHarness) => run.rows('step')[0]?.doc as Readonly<Record<string, unknown>>;
  /** Somebody decides about the step who sees the resource. */
  function shown(json: Json = PENDING, more: Parameters<typeof terms>[0] = {}): CoreHarness {
    const run = asked(more);
    return run.when(saw(requestIn(run.outgoing()), json), AT + 100).then(fact('FactsObserved', { purpose: 'review' }));
  }
  /** They agreed, and the resource is looked at again. */
  function agreed(more: Parameters<typeof terms>[0] = {}): CoreHarness {
    return shown(PENDING, more)
      .when(agreeing(), AT + 200)
      .then(fact('StepApproved'), fact('FactsAsked', { purpose: 'dispatch', round: 1, not_after: AT + 200 + LEASE }));
  }

  it('are looked at as soon as a person is to decide, by the capability of the stale-state check, and nothing is called', () => {
    const run = asked().then(
      planned({ decision: 'request_approval' }),
      fact('FactsAsked', { purpose: 'review', adapter: 'payments' }),
    );
    expect(requestIn(run.outgoing())).toMatchObject({
      kind: 'observe',
      steps: [{ verify_capability: 'payments.read_refund', success_condition: 'observed.status == "pending"' }],
    });
    expect(doc(run)).toMatchObject({ phase: 'awaiting_approval', owner: 'role:approver', deadline_at: AT + REVIEW });
  });

  it('are not looked at where nobody is asked, or where the contract says no way to', () => {
    asked({ impact: 'write', recovery_approval_mode: 'auto' }).then(planned({ decision: 'compensate_now' }), leg());
    asked({ stale_capability: null, stale_condition: null })
      .then(planned())
      .when(approval({ digest: digest({ terms: terms({ stale_capability: null, stale_condition: null }) }) }), AT + 200)
      .then(fact('StepApproved'), leg());
  });

  it('that are as they were let the compensation go', () => {
    const run = agreed();
    expect(doc(run)).toMatchObject({ phase: 'observing', owner: 'adapter:payments' });
    run
      .when(saw(requestIn(run.outgoing()), PENDING), AT + 300)
      .then(fact('FactsObserved', { purpose: 'dispatch' }), leg({ attempt: 1 }));
    run
      .when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), AT + 400)
      .then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
  });

  it('that changed void the approval, say which fact it was, and make it another action to agree to', () => {
    const run = agreed();
    run.when(saw(requestIn(run.outgoing()), { ...PENDING, status: 'paid_out' }), AT + 300).then(
      fact('FactsObserved'),
      fact('FactChanged', {
        changed: ['/status'],
        evidence: null,
        owner: 'role:approver',
        deadline_at: AT + 300 + REVIEW,
      }),
    );
    expect(run.outgoing()).toEqual([]);
    expect(doc(run)).toMatchObject({
      phase: 'awaiting_approval',
      reason: 'FACT_CHANGED',
      approvals: [],
      changed: ['/status'],
    });
    // The tab of before is stale: what it names is no action any more.
    run
      .when(agreeing({ by: 'petra' }), AT + 400)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'DIGEST_MISMATCH' });
    run
      .when(denial({ by: 'petra', digest: SHOWN }), AT + 400)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'DIGEST_MISMATCH' });
  });

  it('are agreed to anew as they are now, and the same approver may', () => {
    const run = agreed();
    run.when(saw(requestIn(run.outgoing()), { ...PENDING, status: 'paid_out' }), AT + 300);
    const anew = doc(run)['action_digest'] as Buffer;
    run
      .when(approval({ digest: anew }), AT + 400)
      .then(fact('StepApproved', { action_digest: anew }), fact('FactsAsked', { purpose: 'dispatch' }));
    run
      .when(saw(requestIn(run.outgoing()), { ...PENDING, status: 'paid_out' }), AT + 500)
      .then(fact('FactsObserved'), leg());
  });

  it('may change by themselves where the contract says so', () => {
    const run = shown({ ...PENDING, read_at: 1 }, { stale_volatile: ['/read_at'] });
    run.when(approval({ digest: doc(run)['action_digest'] as Buffer }), AT + 200);
    run.when(saw(requestIn(run.outgoing()), { ...PENDING, read_at: 2 }), AT + 300).then(fact('FactsObserved'), leg());
  });

  it('that nobody saw before are compared with nothing; the stale-state check of the leg stands', () => {
    const run = asked()
      .when(agreeing(), AT + 200)
      .then(fact('StepApproved'), fact('FactsAsked', { purpose: 'dispatch' }));
    run.when(saw(requestIn(run.outgoing()), { status: 'paid_out' }), AT + 300).then(fact('FactsObserved'), leg());
  });

  it('that nobody showed in time are asked for again, three times in all, and the deadline of whoever decides stands', () => {
    const run = asked();
    const asks = [2, 3].map((round) => {
      const due = Number(doc(run)['due_at']);
      run
        .whenDue(due)
        .then(fact('FactsAsked', { purpose: 'review', round, answer_by: due + LEASE + CALL_TIMEOUT + MARGIN }));
      return due;
    });
    expect(asks).toEqual([1, 2].map((round) => AT + round * (LEASE + CALL_TIMEOUT + MARGIN)));
    expect(doc(run)).toMatchObject({ phase: 'awaiting_approval', deadline_at: AT + REVIEW, due_at: AT + REVIEW });
    run.when(saw(requestIn(run.outgoing()), PENDING), asks[1] ?? 0).then(fact('FactsObserved', { purpose: 'review' }));
    run.whenDue(AT + REVIEW).then(fact('StepEscalated', { reason: 'APPROVAL_TIMEOUT' }), CLOSED_MANUAL);
  });

  it('that were shown are asked for no more', () => {
    const run = shown();
    expect(doc(run)).toMatchObject({ facts_ask: null, due_at: AT + REVIEW });
    run.whenDue(AT + LEASE + CALL_TIMEOUT + MARGIN).then();
  });

  it("that cannot be observed are asked for three times, and then the step is a person's", () => {
    const run = agreed();
    const last = [1, 2].reduce((at, round) => {
      const due = at + LEASE + CALL_TIMEOUT + MARGIN;
      run.when(run.timer('step', STEP), due).then(fact('FactsAsked', { purpose: 'dispatch', round: round + 1 }));
      return due;
    }, AT + 200);
    const due = last + LEASE + CALL_TIMEOUT + MARGIN;
    run
      .when(run.timer('step', STEP), due)
      .then(fact('StepEscalated', { reason: 'FACTS_NOT_OBSERVED', owner: 'role:administrator' }), CLOSED_MANUAL);
  });

  describe('of a subject whose data was erased since', () => {
    const erased = () => {
      const asking = agreed();
      const run = start().given(...withoutKey(plainPayload({ refund_id: 're_1' }), asking.records()));
      return { run, request: requestIn(asking.outgoing()) };
    };
    const forPerson = fact('StepEscalated', { reason: 'PAYLOADS_ERASED', owner: 'role:administrator' });

    it('are no fact that changed, and nothing is called: the step is a person’s, who learns why', () => {
      const { run, request } = erased();
      run.when(saw(request, { status: 'paid_out' }), AT + 300).then(fact('FactsObserved'), forPerson, CLOSED_MANUAL);
      expect(run.outgoing()).toEqual([]);
    });

    it('are said to be that where nobody could look', () => {
      const { run } = erased();
      run.when(run.timer('step', STEP), AT + 200 + LEASE + CALL_TIMEOUT + MARGIN).then(forPerson, CLOSED_MANUAL);
    });
  });

  it('are not taken from an answer under another lease, nor twice, nor from a copy that came too late', () => {
    const run = agreed();
    const request = requestIn(run.outgoing());
    run
      .when(answered(request, 'verified', [resource(PENDING)], { lease_id: 'forged' }), AT + 300)
      .then(fact('ReportRefused', { code: 'LEASE_UNKNOWN' }));
    run.when(answered(request, 'refused_late', []), AT + 300).then(fact('ReportRefused', { code: 'REFUSED_LATE' }));
    run.when(saw(request, PENDING), AT + 300).then(fact('FactsObserved'), leg());
    run.when(saw(request, PENDING), AT + 310).then(fact('ReportRefused', { code: 'LEASE_UNKNOWN' }));
  });

  it('are not looked at again for what may have been called: a copy that came too late says nothing of another (crash)', () => {
    const run = agreed();
    run.when(saw(requestIn(run.outgoing()), PENDING), AT + 300).then(fact('FactsObserved'), leg());
    const request = requestIn(run.outgoing());
    run
      .when(answered(request, 'refused_late', []), request.not_after + 1)
      .then(fact('ReportRefused', { code: 'REFUSED_LATE' }));
    run.whenDue(request.not_after + CALL_TIMEOUT + MARGIN);
    expect(run.recorded()[0]).toMatchObject({ type: 'LegSettled', body: { members: [{ reason: 'NO_ANSWER' }] } });
    run.whenDue(Number(doc(run)['deadline_at']));
    expect(requestIn(run.outgoing())).toMatchObject({ kind: 'compensate', attempt: 2, reconcile_first: true });
  });

  describe('an assumption that is said to hold again', () => {
    it('voids what was agreed to because it did not, and is named', () => {
      const run = shown(PENDING, { recovery_approval_mode: 'dual_control' });
      run.when(approval({ digest: doc(run)['action_digest'] as Buffer }), AT + 200).then(fact('StepApproved'));
      const [given] = doc(run)['approvals'] as readonly { readonly approval_id: string }[];
      run
        .when(reaffirmed(), AT + 300)
        .then(fact('FactChanged', { changed: ['order/4711#not_shipped'], voided: [given?.approval_id] }));
      expect(doc(run)).toMatchObject({
        phase: 'awaiting_approval',
        approvals: [],
        reaffirmed: { source: 'warehouse' },
      });
      run.when(reaffirmed(), AT + 310).thenNothing();
    });

    it('stops a step that was about to go', () => {
      const run = agreed();
      const request = requestIn(run.outgoing());
      run.when(reaffirmed(), AT + 250).then(fact('FactChanged'));
      run.when(saw(request, PENDING), AT + 300).then(fact('ReportRefused', { code: 'LEASE_UNKNOWN' }));
      expect(run.outgoing()).toEqual([]);
    });

    it('is noted for what was sent, and changes nothing where nobody had to agree', () => {
      const run = agreed();
      run
        .when(saw(requestIn(run.outgoing()), PENDING), AT + 300)
        .when(reaffirmed(), AT + 310)
        .then(fact('FactChanged', { attempt: 1, voided: [], action_digest: null }));
      expect(doc(run)).toMatchObject({ phase: 'dispatched', reaffirmed: { source: 'warehouse' } });
      asked({ impact: 'write', recovery_approval_mode: 'auto' })
        .when(reaffirmed(), AT + 310)
        .thenNothing();
    });

    it('is told to whom the step was given, and stays theirs', () => {
      const run = start()
        .when(markedInput({ terms: terms(), ref: ref({ reversal_expires_at: AT }) }), AT)
        .then(planned(), fact('StepEscalated'), CLOSED_MANUAL);
      run.when(reaffirmed(), AT + 300).then(fact('FactChanged', { voided: [], owner: 'role:administrator' }));
      expect(doc(run)).toMatchObject({ phase: 'manual', reason: 'REVERSAL_EXPIRED' });
    });

    it('makes it another action for whoever agrees later, also while a person has it', () => {
      const run = start()
        .when(markedInput({ terms: terms(), ref: ref({ reversal_expires_at: AT }) }), AT)
        .then(planned(), fact('StepEscalated'), CLOSED_MANUAL);
      const was = doc(run)['action_digest'];
      expect(was).toBeInstanceOf(Buffer);
      run.when(reaffirmed(), AT + 300);
      expect(doc(run)['action_digest']).toEqual(run.records().at(-1)?.body['action_digest']);
      expect(doc(run)['action_digest']).not.toEqual(was);
    });
  });
});
