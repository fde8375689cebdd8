import { describe, expect, it } from '@jest/globals';
import { fact, harness, logged, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import fc from 'fast-check';
import {
  answered,
  approval,
  BALANCE_ZERO,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  core,
  denial,
  digest,
  markedInput,
  MUTATION,
  recordedAgain,
  ref,
  requestIn,
  REVIEW,
  ROLLBACK,
  RUN,
  STEP,
  STILL_PENDING,
  TENANT,
  terms,
  views,
  WINDOW_END,
  leg,
  settled,
  planned,
  SHOWN,
  LOOKED_AGAIN,
  SEEN,
  looked,
} from '../recoveries.testing.js';

const MARKED_AT = 10_000;
const LEARNT_AT = 20_000;
const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto' });
const UNCERTAIN = {
  execution_state: 'uncertain',
  recoverability: 'pending_commit',
  ref: ref({ reversal_expires_at: null, external_transaction_ref: null }),
} as const;
const FAILED = { execution_state: 'failed', recoverability: 'planned' } as const;

const stepOf = (run: CoreHarness) => run.rows('step')[0]?.doc;
const recoveryOf = (run: CoreHarness) => run.rows('recovery')[0]?.doc;

describe.each(WAYS)('a rolled-back commit whose execution turns out later, $way', ({ isRebuilt }) => {
  const opened = (more: Parameters<typeof markedInput>[0] = UNCERTAIN): CoreHarness =>
    harness(core(), { isRebuilt, views: views() }).when(markedInput(more), MARKED_AT);

  it('waits as long as nobody knows whether it happened', () => {
    const run = opened().then(planned({ decision: 'reconcile_first', reason: 'FORWARD_UNCERTAIN' }));
    expect(stepOf(run)).toMatchObject({ phase: 'held', due_at: MARKED_AT + REVIEW });
  });

  it('is undone at once when it did and its contract lets it', () => {
    const run = opened()
      .when(recordedAgain({ terms: AUTO }), LEARNT_AT)
      .then(
        fact('MutationAdvanced', {
          step_id: STEP,
          rollback_id: ROLLBACK,
          tenant: TENANT,
          run_id: RUN,
          mutation_id: MUTATION,
          execution_state: 'succeeded',
          recoverability: 'reversal_available',
          decision: 'compensate_now',
          reason: 'POLICY_AUTO',
          ref: ref(),
          reverses_record_hash: recordedAgain({ terms: AUTO }).hash,
        }),
        leg({ attempt: 1 }),
      );
    run
      .when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), LEARNT_AT + 100)
      .then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
  });

  it('is put before people when it did and they have to agree, with what is known now', () => {
    const run = opened()
      .when(recordedAgain(), LEARNT_AT)
      .then(
        fact('MutationAdvanced', {
          decision: 'request_approval',
          reason: 'HIGH_IMPACT',
          required_approvals: 1,
          action_digest: digest(),
          owner: 'role:approver',
        }),
        SHOWN,
      );
    expect(stepOf(run)).toMatchObject({
      phase: 'awaiting_approval',
      deadline_at: LEARNT_AT + REVIEW,
      ref: { reversal_expires_at: WINDOW_END },
    });
    run.when(approval(), LEARNT_AT + 1).then(fact('StepApproved'), LOOKED_AGAIN);
    looked(run, LEARNT_AT + 2).then(SEEN, leg());
  });

  it('needs nothing when it did not, and closes its recovery', () => {
    const run = opened()
      .when(recordedAgain(FAILED), LEARNT_AT)
      .then(fact('MutationAdvanced', { decision: 'retry_forward', reason: 'NOTHING_TO_UNDO' }), CLOSED_COMPENSATED);
    expect(stepOf(run)).toMatchObject({ phase: 'not_needed', due_at: null, deadline_at: null });
  });

  it('goes to a person at once when it did and its window is over', () => {
    const run = opened()
      .when(recordedAgain({ terms: AUTO, recoverability: 'reversal_expired' }), LEARNT_AT)
      .then(
        fact('MutationAdvanced', { decision: 'manual_review', reason: 'REVERSAL_EXPIRED' }),
        fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }),
        CLOSED_MANUAL,
      );
    expect(stepOf(run)).toMatchObject({ phase: 'manual', reason: 'REVERSAL_EXPIRED' });
  });

  it('opens its recovery again when a call that had failed took effect after all', () => {
    const run = opened(FAILED);
    expect(recoveryOf(run)).toMatchObject({ phase: 'closed', outcome: 'compensated' });
    run
      .when(recordedAgain({ terms: AUTO }), LEARNT_AT)
      .then(fact('MutationAdvanced', { decision: 'compensate_now' }), leg());
    expect(recoveryOf(run)).toMatchObject({ phase: 'open', outcome: null });
    expect(stepOf(run)).toMatchObject({ phase: 'dispatched' });
  });

  it('waits again when a call that had failed became uncertain', () => {
    const run = opened(FAILED)
      .when(recordedAgain(UNCERTAIN), LEARNT_AT)
      .then(fact('MutationAdvanced', { reason: 'FORWARD_UNCERTAIN' }));
    expect(stepOf(run)).toMatchObject({ phase: 'held', due_at: LEARNT_AT + REVIEW });
    expect(recoveryOf(run)).toMatchObject({ phase: 'open' });
  });

  it('goes to a person when it was let go in spite of its cancel', () => {
    opened({ ...FAILED, recoverability: 'cancelled' })
      .when(recordedAgain({ recoverability: 'manual_resolution_required', reason: 'EXECUTED_AFTER_CANCEL' }), LEARNT_AT)
      .then(
        fact('MutationAdvanced', { reason: 'EXECUTED_AFTER_CANCEL' }),
        fact('StepEscalated', { reason: 'EXECUTED_AFTER_CANCEL' }),
        CLOSED_MANUAL,
      );
  });

  it('stays with the person who has it, who sees what is known now', () => {
    const run = opened()
      .whenDue(MARKED_AT + REVIEW)
      .then(fact('StepEscalated', { reason: 'FORWARD_UNRESOLVED' }), CLOSED_MANUAL);
    const { owner, deadline_at } = stepOf(run) ?? {};
    run
      .when(recordedAgain({ terms: AUTO }), MARKED_AT + REVIEW + 1)
      .then(fact('MutationAdvanced', { execution_state: 'succeeded' }));
    expect(run.outgoing()).toEqual([]);
    expect(stepOf(run)).toMatchObject({
      phase: 'manual',
      reason: 'FORWARD_UNRESOLVED',
      owner,
      deadline_at,
      ref: { external_transaction_ref: 're_1' },
    });
    expect(recoveryOf(run)).toMatchObject({ phase: 'closed', outcome: 'manual' });
  });

  it('changes nothing for a step that is beyond it, nor for a commit that was never marked', () => {
    opened({ terms: AUTO })
      .when(recordedAgain({ terms: AUTO }), LEARNT_AT)
      .thenNothing();
    opened({})
      .when(denial(), LEARNT_AT)
      .when(recordedAgain(), LEARNT_AT + 1)
      .thenNothing();
    opened()
      .when(recordedAgain({ rollback_id: null }), LEARNT_AT)
      .thenNothing();
    opened()
      .when(recordedAgain({ tenant: 'other' }), LEARNT_AT)
      .thenNothing();
    harness(core(), { isRebuilt, views: views() }).when(recordedAgain(), LEARNT_AT).thenNothing();
  });
});

describe('any news of the ledger', () => {
  const states = fc.constantFrom(
    UNCERTAIN,
    FAILED,
    { ...FAILED, recoverability: 'cancelled' } as const,
    { terms: AUTO },
    {},
    { recoverability: 'manual_resolution_required' } as const,
    { recoverability: 'reversal_expired' } as const,
  );

  it('leave an owner, a deadline and a timer on what is open, and come to rest (P12)', () => {
    fc.assert(
      fc.property(fc.array(states, { minLength: 1, maxLength: 6 }), fc.boolean(), (news, isRebuilt) => {
        const [first, ...later] = news;
        const run = harness(core(), { isRebuilt, views: views() }).when(markedInput(first ?? {}), MARKED_AT);
        later.forEach((more, index) => {
          run.when(recordedAgain(more), LEARNT_AT + index);
        });
        const step = stepOf(run);
        const isOpen = ['held', 'awaiting_approval', 'approved', 'dispatched'].includes(String(step?.['phase']));
        expect(recoveryOf(run)?.['phase']).toBe(isOpen ? 'open' : 'closed');
        expect(run.rows('step')[0]?.dueAt === null).toBe(!isOpen);
        for (let at = 1_000_000; at <= 20_000_000; at += 500_000) run.whenDue(at);
        expect(recoveryOf(run)).toMatchObject({ phase: 'closed' });
      }),
      { numRuns: 150 },
    );
  });
});

describe.each(WAYS)('an effect that names its handle after it fell, $way', ({ isRebuilt }) => {
  const REF = 'handle/1';
  const held = (more: Parameters<typeof markedInput>[0] = UNCERTAIN): CoreHarness =>
    harness(core(), { isRebuilt, views: views() })
      .when(markedInput(more), MARKED_AT)
      .when(recordedAgain({ terms: AUTO, ...{ handle_ref: REF } }), LEARNT_AT);
  const judged = (is_owner: boolean) =>
    logged(
      'recourse.mutations',
      'HandleJudged',
      { mutation_id: MUTATION, tenant: TENANT, run_id: RUN, ref: REF, is_owner, position: 1, review_by: null },
      4,
      { key: RUN },
    );
  const ASKED = fact('MutationAdvanced', { decision: 'reconcile_first', reason: 'HANDLE_ASKED', call: null });

  it.each([
    ['of which nobody knew whether it took hold', UNCERTAIN],
    ['that had failed', FAILED],
  ])('calls nothing while it is asked whose that is, of one %s', (_what, more) => {
    const run = held(more).then(ASKED);
    expect(run.outgoing()).toEqual([]);
    expect(stepOf(run)).toMatchObject({ phase: 'held', reason: 'HANDLE_ASKED', call: null });
  });

  it('is undone once the handle is its own', () => {
    const run = held().when(judged(true), LEARNT_AT + 1);
    run.then(fact('MutationAdvanced', { decision: 'compensate_now', reason: 'POLICY_AUTO' }), leg({ attempt: 1 }));
    expect(requestIn(run.outgoing()).steps[0]?.call.args).toBeDefined();
  });

  it('is a person’s for good where somebody else named it first, and nothing is called', () => {
    const run = held().when(judged(false), LEARNT_AT + 1);
    run.then(
      fact('MutationAdvanced', { decision: 'manual_review', reason: 'HANDLE_CLAIMED', call: null }),
      fact('StepEscalated', { reason: 'HANDLE_CLAIMED' }),
      CLOSED_MANUAL,
    );
    expect(run.outgoing()).toEqual([]);
  });

  it('is a person’s where no answer comes, and is tried by nobody before there is one', () => {
    const deadline = Number(stepOf(held())?.['due_at']);
    const run = held().whenDue(deadline);
    run.then(fact('StepEscalated', { reason: 'HANDLE_ASKED' }), CLOSED_MANUAL);
    expect(stepOf(run)).toMatchObject({ phase: 'manual', call: null });
    const late = run.when(judged(true), deadline + 1).then(fact('MutationAdvanced', { reason: 'POLICY_AUTO' }));
    expect(stepOf(late)).toMatchObject({ phase: 'manual', call: { capability: 'payments.cancel_refund' } });
    const foreign = held()
      .whenDue(deadline)
      .when(judged(false), deadline + 1);
    expect(stepOf(foreign)).toMatchObject({ phase: 'manual', call: null });
  });

  it('may be tried again by the person who had it before it named a handle that is its own', () => {
    const opened = harness(core(), { isRebuilt, views: views() }).when(markedInput(UNCERTAIN), MARKED_AT);
    const deadline = Number(stepOf(opened)?.['due_at']);
    const run = opened.whenDue(deadline);
    expect(stepOf(run)).toMatchObject({ phase: 'manual', reason: 'FORWARD_UNRESOLVED' });
    run.when(recordedAgain({ terms: AUTO, ...{ handle_ref: REF } }), deadline + 1);
    expect(stepOf(run)).toMatchObject({ phase: 'manual', call: null });
    run.when(judged(true), deadline + 2).then(fact('MutationAdvanced', { reason: 'POLICY_AUTO' }));
    expect(stepOf(run)).toMatchObject({ phase: 'manual', call: { capability: 'payments.cancel_refund' } });
  });

  it('hears nothing of the answer where it did not wait for one', () => {
    harness(core(), { isRebuilt, views: views() })
      .when(markedInput({ terms: AUTO }), MARKED_AT)
      .when(judged(false), LEARNT_AT)
      .then();
  });
});
