// Triggers, the opening of steps, and approvals: who may agree to what.
import { describe, expect, it } from '@jest/globals';
import type { CoreHarness } from '@recourse/testing';
import { fact, harness, WAYS, wire } from '@recourse/testing';
import { plainPayload } from '@recourse/contract';
import {
  approval,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  core,
  denial,
  digest,
  execution,
  LAST_DISPATCH,
  LEASE,
  type marked,
  markedInput,
  ref,
  requestIn,
  REVIEW,
  RUN,
  STEP,
  terms,
  windowClosed,
  WINDOW_END,
  views,
  leg,
  planned,
  SHOWN,
  LOOKED_AGAIN,
  SEEN,
  looked,
  calls,
} from '../recoveries.testing.js';
import type { RecoveriesConfig } from '../core.js';

describe.each(WAYS)('$way', ({ isRebuilt }) => {
  const scenario = (config: Partial<RecoveriesConfig> = {}): CoreHarness =>
    harness(core(config), { isRebuilt, views: views() });
  const asked = (more: Parameters<typeof marked>[0] = {}, config: Partial<RecoveriesConfig> = {}): CoreHarness =>
    scenario(config).when(markedInput(more), 10_000);
  const phase = (run: CoreHarness): unknown => run.rows('step')[0]?.doc['phase'];

  describe('a marked commit', () => {
    it('of high impact waits for a person until its review ends', () => {
      const run = scenario()
        .when(markedInput(), 10_000)
        .then(
          planned({
            step_id: STEP,
            decision: 'request_approval',
            reason: 'HIGH_IMPACT',
            action_digest: digest(),
            required_approvals: 1,
            deadline_at: 10_000 + REVIEW,
          }),
          SHOWN,
        );
      expect(run.rows('step')[0]).toMatchObject({
        doc: {
          phase: 'awaiting_approval',
          owner: 'role:approver',
          answerable_to: 'ines',
          deadline_at: 10_000 + REVIEW,
        },
      });
      expect(run.rows('recovery')[0]?.doc).toMatchObject({ phase: 'open', owner: 'role:approver' });
      expect(calls(run)).toEqual([]);
    });

    it('near the end of its window waits no longer than a dispatch could begin', () => {
      asked({ ref: ref({ reversal_expires_at: 100_000 }) }).then(planned({ deadline_at: 93_000 }), SHOWN);
    });

    it('of ordinary impact and automatic mode is dispatched at once, without a person', () => {
      const run = asked({ terms: terms({ impact: 'write', recovery_approval_mode: 'auto' }) }).then(
        planned({ decision: 'compensate_now', reason: 'POLICY_AUTO' }),
        leg({ attempt: 1, not_after: 10_000 + LEASE, reconcile_first: false, approval_id: null }),
      );
      expect(requestIn(run.outgoing()).steps[0]?.call).toMatchObject({
        approval_mode: 'network',
        call_id: 'rev_mut_1',
        idempotency_key: 'rev_mut_1',
        policy_ref: null,
      });
    });

    it('has a key of its effect alone, whatever key its producer chose', () => {
      const run = asked({
        ref: ref({ idempotency_key: 'the same in every run' }),
        terms: terms({ impact: 'write', recovery_approval_mode: 'auto' }),
      });
      expect(requestIn(run.outgoing()).steps[0]?.call.idempotency_key).toBe('rev_mut_1');
    });

    it('of automatic mode and financial impact still waits for a person (C35)', () => {
      asked({ terms: terms({ recovery_approval_mode: 'auto' }) }).then(
        planned({ decision: 'request_approval', reason: 'HIGH_IMPACT', required_approvals: 1 }),
        SHOWN,
      );
    });

    it('marked again opens nothing', () => {
      asked().when(markedInput(), 11_000).thenNothing();
    });

    it.each([
      ['outside its window', { ref: ref({ reversal_expires_at: 17_000 }) }, 'REVERSAL_EXPIRED'],
      ['expired at the ledger', { recoverability: 'reversal_expired' as const }, 'REVERSAL_EXPIRED'],
      ['without contract', { terms: null }, 'UNCONTRACTED', true],
      [
        'that is irreversible',
        { ref: ref({ reversal_class: 'irreversible' as const }) },
        'TOOL_HAS_NO_AUTOMATIC_COMPENSATION',
        true,
      ],
      ['with incomplete context', { ref: ref({ reversal_args: null }) }, 'HANDLE_INCOMPLETE'],
      [
        'in an unsupported state',
        { recoverability: 'manual_resolution_required' as const },
        'UNSUPPORTED_RECOVERY_STATE',
      ],
    ])('%s goes to a person with its code, an owner and a deadline', (_name, more, reason, opensTasks = false) => {
      const run = asked(more).then(
        planned({ decision: 'manual_review', reason }),
        fact('StepEscalated', { reason, deadline_at: 10_000 + REVIEW }),
        ...(opensTasks ? [fact('TasksOpened')] : []),
        CLOSED_MANUAL,
      );
      expect(run.rows('step')[0]).toMatchObject({
        dueAt: null,
        doc: { phase: 'manual', reason, owner: 'role:administrator', deadline_at: 10_000 + REVIEW },
      });
      expect(calls(run)).toEqual([]);
    });

    it('whose forward action failed needs nothing', () => {
      asked({ execution_state: 'failed', recoverability: 'planned' }).then(
        planned({ decision: 'retry_forward', reason: 'NOTHING_TO_UNDO' }),
        CLOSED_COMPENSATED,
      );
    });

    it('whose forward action is uncertain is held, and goes to a person at the deadline', () => {
      const run = asked({ execution_state: 'uncertain' }).then(
        planned({ decision: 'reconcile_first', reason: 'FORWARD_UNCERTAIN' }),
      );
      expect(phase(run)).toBe('held');
      run.whenDue(10_000 + REVIEW).then(fact('StepEscalated', { reason: 'FORWARD_UNRESOLVED' }), CLOSED_MANUAL);
    });
  });

  describe('an approval', () => {
    it('dispatches once the resource was looked at again, under its own id, and sends one request', () => {
      const run = asked()
        .when(approval(), 20_000)
        .thenAnswer({
          status: 'accepted',
          httpStatus: 200,
          body: { phase: 'observing', approvals: 1, required_approvals: 1 },
        })
        .then(fact('StepApproved', { by: 'olga', action_digest: digest() }), LOOKED_AGAIN);
      looked(run, 20_100).then(SEEN, leg({ attempt: 1, first_dispatched_at: 20_100, not_after: 20_100 + LEASE }));
      expect(requestIn(run.outgoing())).toMatchObject({
        kind: 'compensate',
        reason: 'agent_effect_compensation',
        reconcile_first: false,
        steps: [{ call: { approval_mode: 'delegated' } }],
      });
      expect(run.rows('approval')[0]?.doc).toMatchObject({ by: 'olga', used_by: requestIn(run.outgoing()).leg_id });
    });

    it.each([
      ['its initiator', 'ines'],
      ['its initiator in other letters', 'Ines'],
      ['its agent', 'agent:refund-agent'],
      ['its agent by bare id', 'refund-agent'],
    ])('by %s is refused (P5)', (_name, by) => {
      asked().when(approval({ by }), 20_000).then().thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' });
    });

    it('by another agent is refused', () => {
      asked()
        .when(approval({ by: 'agent:other' }), 20_000)
        .then()
        .thenAnswer({ httpStatus: 403, code: 'APPROVER_NOT_A_PERSON' });
    });

    it('without the role is refused', () => {
      asked()
        .when(approval({ roles: ['reporter', 'administrator'] }), 20_000)
        .then()
        .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    });

    it('of another tenant finds no step', () => {
      asked()
        .when(approval({ tenant: 'evil' }), 20_000)
        .then()
        .thenAnswer({ httpStatus: 404, code: 'STEP_UNKNOWN' });
    });

    it('of an unknown step finds none', () => {
      asked()
        .when(approval({ stepId: 'step_x' }), 20_000)
        .then()
        .thenAnswer({ httpStatus: 404, code: 'STEP_UNKNOWN' });
    });

    it.each([
      ['arguments', digest({ ref: ref({ reversal_args: plainPayload({ refund_id: 're_2' }) }) })],
      ['subject', digest({ ref: ref({ subject_ref: 'order/4712' }) })],
      ['expected version', digest({ terms: terms({ stale_condition: 'true' }) })],
      ['contract', digest({ terms: terms({ contract_digest: Buffer.alloc(32, 2) }) })],
      ['tenant', digest({ tenant: 'evil' })],
      ['target', digest({ ref: ref({ external_transaction_ref: 're_9' }) })],
    ])('of an action with another %s is refused (P4)', (_name, other) => {
      expect(other.equals(digest())).toBe(false);
      asked()
        .when(approval({ digest: other }), 20_000)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'DIGEST_MISMATCH' });
    });

    it('of what was undone by itself is refused for its phase: there was no approval to use', () => {
      const run = asked({ terms: terms({ impact: 'write', recovery_approval_mode: 'auto' }) });
      const proposed = run.rows('step')[0]?.doc['action_digest'] as Buffer; // every step that is dispatched proposes an action
      run
        .when(approval({ digest: proposed }), 20_000)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
    });

    it('given twice is used once', () => {
      asked()
        .when(approval(), 20_000)
        .when(approval({ by: 'otto' }), 21_000)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'APPROVAL_USED' });
    });

    it('after the window closed is refused, before and after the timer ran', () => {
      const run = asked({}, { reviewDeadlineMs: 10_000_000 })
        .when(approval(), LAST_DISPATCH)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
      run.whenDue(LAST_DISPATCH).then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), CLOSED_MANUAL);
      run.when(approval(), WINDOW_END).then().thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
    });

    it('one millisecond before the last instant still dispatches, for that millisecond', () => {
      const run = asked({}, { reviewDeadlineMs: 10_000_000 })
        .when(approval(), LAST_DISPATCH - 1)
        .then(fact('StepApproved'), LOOKED_AGAIN);
      looked(run, LAST_DISPATCH - 1).then(SEEN, leg({ not_after: LAST_DISPATCH }));
    });

    it('whose look ends with the window dispatches nothing', () => {
      const run = asked({}, { reviewDeadlineMs: 10_000_000 }).when(approval(), LAST_DISPATCH - 1);
      looked(run, LAST_DISPATCH).then(SEEN, fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), CLOSED_MANUAL);
    });

    it('of what nobody proposes is refused', () => {
      asked({ terms: null }).when(approval(), 20_000).then().thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
    });

    it('after a denial is refused', () => {
      asked()
        .when(denial(), 20_000)
        .then(fact('StepDenied', { by: 'olga' }), CLOSED_MANUAL)
        .thenAnswer({ httpStatus: 200 })
        .when(approval({ by: 'otto' }), 21_000)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
    });

    it('whose tool forgets its key within a call goes to a person', () => {
      asked({ terms: terms({ key_lifetime_ms: 7_000 }) })
        .when(approval({ digest: digest({ terms: terms({ key_lifetime_ms: 7_000 }) }) }), 20_000)
        .then(fact('StepApproved'), fact('StepEscalated', { reason: 'KEY_LIFETIME_OVER' }), CLOSED_MANUAL);
    });
  });

  describe('an action that needs two people', () => {
    const dual = { terms: terms({ recovery_approval_mode: 'dual_control' }) };

    it('is dispatched by the second of two different ones (P5)', () => {
      const run = asked(dual)
        .when(approval(), 20_000)
        .then(fact('StepApproved', { by: 'olga' }))
        .thenAnswer({ body: { phase: 'awaiting_approval', approvals: 1, required_approvals: 2 } });
      expect(calls(run)).toEqual([]);
      run.when(approval({ by: 'otto' }), 21_000).then(fact('StepApproved', { by: 'otto' }), LOOKED_AGAIN);
      looked(run, 21_100).then(SEEN, leg({ attempt: 1 }));
      expect(run.rows('approval').map((row) => row.doc['used_by'])).not.toContain(null);
    });

    it.each([
      ['the same one', 'olga'],
      ['the same one in capitals', 'OLGA'],
      ['the same one as a user', 'user:olga'],
    ])('does not take %s twice', (_name, by) => {
      asked(dual)
        .when(approval(), 20_000)
        .when(approval({ by }), 21_000)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'SAME_APPROVER' });
    });

    it('is any that nobody answers for', () => {
      const run = asked({ execution: execution({ initiator: null }) }).then(
        planned({ required_approvals: 2, answerable_to: null }),
        SHOWN,
      );
      run.when(approval(), 20_000).then(fact('StepApproved'));
      expect(phase(run)).toBe('awaiting_approval');
    });

    it('is not one whose agent has an owner, who may not approve it', () => {
      const run = asked(
        { execution: execution({ initiator: null }) },
        { ownerOf: (tenant, agent) => (tenant === 'acme' && agent === 'refund-agent' ? 'otto' : null) },
      )
        .then(planned({ required_approvals: 1, answerable_to: 'otto' }), SHOWN)
        .when(approval({ by: 'otto' }), 20_000)
        .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' })
        .when(approval(), 20_000)
        .then(fact('StepApproved'), LOOKED_AGAIN);
      looked(run, 20_100).then(SEEN, leg());
    });
  });

  describe('a step that waits for a person', () => {
    it('is escalated when nobody answers', () => {
      asked()
        .whenDue(10_000 + REVIEW)
        .then(fact('StepEscalated', { reason: 'APPROVAL_TIMEOUT' }), CLOSED_MANUAL);
    });

    it('is escalated when the ledger says that its window closed', () => {
      const run = asked()
        .when(windowClosed(), 50_000)
        .then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), CLOSED_MANUAL);
      expect(run.rows('step')[0]).toMatchObject({ dueAt: null, doc: { phase: 'manual' } });
    });

    it('ignores the window of another mutation, and other events', () => {
      asked()
        .when(windowClosed({ mutation_id: 'mut_2' }), 50_000)
        .thenNothing()
        .when(windowClosed({ event: 'handle_bound' }), 50_000)
        .thenNothing();
    });

    it('is not denied with another digest', () => {
      asked()
        .when(denial({ digest: Buffer.alloc(32) }), 20_000)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'DIGEST_MISMATCH' });
    });

    it('may be denied by its initiator', () => {
      asked()
        .when(denial({ by: 'ines' }), 20_000)
        .then(fact('StepDenied', { by: 'ines' }), CLOSED_MANUAL);
    });
  });

  describe('two steps of one run', () => {
    const second = {
      mutation_id: 'mut_2',
      rollback_id: 'rb_2',
      ref: ref({ mutation_id: 'mut_2' }),
      execution: execution({ effect_key: 'effect-2' }),
    };

    it('close their recovery with the last of them', () => {
      const run = asked()
        .when(markedInput(second), 11_000)
        .then(planned({ mutation_id: 'mut_2' }), SHOWN);
      run.when(denial(), 20_000).then(fact('StepDenied'));
      run
        .whenDue(11_000 + REVIEW)
        .then(
          fact('StepEscalated', { mutation_id: 'mut_2' }),
          fact('RecoveryClosed', { rollback_id: 'rb_2', outcome: 'manual' }),
        );
      expect(run.rows('recovery')).toHaveLength(1);
    });

    it('do not share an approval', () => {
      const run = asked().when(markedInput(second), 11_000);
      const stepId = String(run.rows('step').find((row) => row.doc['mutation_id'] === 'mut_2')?.key);
      run.when(approval({ stepId }), 20_000).then().thenAnswer({ httpStatus: 409, code: 'DIGEST_MISMATCH' });
    });
  });

  it('a record of no interest changes nothing', () => {
    const run = asked()
      .when(wire('recourse.recovery-commands', 'SomethingElse', { run_id: RUN }, { key: RUN }), 20_000)
      .thenNothing();
    expect(run.records().map(({ type }) => type)).toEqual(['RecoveryPlanned', 'FactsAsked']);
  });
});
