// Somebody asks for a run, or some of its effects, to be undone (B3): its effects are named, and the report tells what became of each (B20).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { fact, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { UNDO_IDS_MAX, undoIdOf } from '../rules/undo/undo.decider.js';
import type { UndoDoc } from '../rules/undo/undo.messages.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import {
  command,
  DISPATCHED,
  envelope,
  escalated,
  executed,
  fromRecoveries,
  ledger,
  MUTATION,
  NOW,
  outcome,
  refund,
  resolvedBy,
  ROLLBACK,
  RUN,
  TENANT,
  fell,
} from './ledger.testing.js';
import { mutationIdOf } from './executions.js';
import { undoReport } from '../reads/undo-report.query.js';

const AT = NOW + 10;
const UNDO = undoIdOf('cmd-ursula');

function undo(ids: readonly string[] = [], by = 'ursula', roles: readonly string[] = ['requester'], tenant = TENANT) {
  return command('UndoRun', envelope(by, roles, { tenant }), {
    run_id: RUN,
    mutation_ids: ids,
    reason: 'not what I meant',
  });
}

describe.each(WAYS)('an undo of a run, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => ledger({ isRebuilt }).run;
  const ran = (more: Parameters<typeof refund>[0] = {}): CoreHarness => start().when(executed(refund(more)), NOW);
  const doc = (run: CoreHarness): UndoDoc => run.rows('undo')[0]?.doc as unknown as UndoDoc; // rows of this kind are undos
  const mutations = (run: CoreHarness): readonly Mutation[] => run.rows('mutation').map((row) => row.doc as Mutation); // as above
  const report = (run: CoreHarness) => undoReport(doc(run), mutations(run));

  it('is no person’s word where a program asks for it, and says so', () => {
    const kindOf = (by: string, roles: readonly string[]) => doc(ran().when(undo([], by, roles), AT)).evidence.kind;
    expect([kindOf('ursula', ['requester']), kindOf('agent-9', ['agent', 'requester'])]).toEqual(['human', 'critic']);
    expect(kindOf('svc:nightly', ['requester'])).toBe('critic');
  });

  it('names its effects with who asked and why, and answers who follows it', () => {
    const run = ran()
      .when(undo(), AT)
      .then(
        fact('UndoListed', {
          undo_id: UNDO,
          command_id: 'cmd-ursula',
          asked_ids: [],
          mutation_ids: [MUTATION],
          evidence: { kind: 'human', source: 'ursula', statement: plainPayload({ reason: 'not what I meant' }) },
          is_last: true,
        }),
        fell({ mutation_id: MUTATION, admission: { triggered_at: AT } }),
      );
    run.thenAnswer({
      status: 'accepted',
      httpStatus: 201,
      body: { undo_id: UNDO, recovery_id: deriveId('rec', TENANT, RUN), run_id: RUN },
    });
    expect(doc(run)).toMatchObject({ phase: 'listed', recovery_id: deriveId('rec', TENANT, RUN), deadline_at: null });
  });

  it('is open, with owner and deadline, until its last part is named', () => {
    const { run } = ledger({ isRebuilt, effectsMax: 1 });
    run.when(executed(refund()), NOW).when(executed(refund({ effect_key: 'two', event_id: 'ev-2' })), NOW);
    run.when(undo(), AT).then(fact('UndoListed', { is_last: false }), fell({}));
    expect(doc(run)).toMatchObject({ phase: 'opened', owner: 'service:mutation-ledger', deadline_at: AT + 60_000 });
    expect(report(run)).toMatchObject({ outcome: 'still_open' });
    run.whenDue(AT).then(fact('UndoListed', { is_last: true }), fell({}));
    expect(doc(run)).toMatchObject({ phase: 'listed', mutation_ids: [expect.anything(), MUTATION], deadline_at: null });
  });

  it.each(['a\nb', '\u001b[2J', 'x'.repeat(512)])('reaches a run whatever its agent calls it: %j', (run_id) => {
    const { run } = ledger({ isRebuilt });
    run.when(executed(refund({ run_id })), NOW);
    const asked = { run_id, mutation_ids: [], reason: 'not what I meant' };
    run
      .when(command('UndoRun', envelope('ursula', ['requester'], { tenant: TENANT }), asked), AT)
      .then(fact('UndoListed', { run_id, is_last: true }), fell({ admission: { triggered_at: AT } }));
  });

  it('of another tenant names nothing of this one', () => {
    ran()
      .when(undo([], 'eve', ['requester'], 'evil'), AT)
      .then(fact('UndoListed', { mutation_ids: [], tenant: 'evil' }));
  });

  it('needs a role, and a list that can be overseen', () => {
    start()
      .when(undo([], 'mallory', ['viewer']), AT)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    start()
      .when(undo(Array.from({ length: UNDO_IDS_MAX + 1 }, (_, index) => `mut_${String(index)}`)), AT)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
    start()
      .when(undo(['mut_1', 'mut_1']), AT)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
    start()
      .when(undo(['a\0b']), AT)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
  });

  describe('is told as', () => {
    const listed = (more: Parameters<typeof refund>[0] = {}): CoreHarness => ran(more).when(undo(), AT);
    const undone = (run: CoreHarness) =>
      run.when(DISPATCHED, AT + 1).when(outcome('compensated', 'SUCCESS_CONDITION_HELD'), AT + 2);

    it('undone only when every effect was seen to be, with what stays different', () => {
      const run = listed().when(DISPATCHED, AT + 1);
      expect(report(run)).toMatchObject({ outcome: 'still_open', items: [{ outcome: 'still_open' }] });
      run.when(outcome('compensated', 'SUCCESS_CONDITION_HELD'), AT + 2);
      expect(report(run)).toMatchObject({
        outcome: 'undone',
        counts: { undone_with_residue: 1 },
        items: [
          {
            mutation_id: MUTATION,
            outcome: 'undone_with_residue',
            residue: expect.any(String),
            reason: null,
            step_id: deriveId('step', ROLLBACK, MUTATION),
          },
        ],
      });
    });

    it('open with what it waits for, and who has it where the ledger knows', () => {
      const run = listed();
      const asked = doc(run);
      expect(undoReport({ ...asked, deadline_at: AT + 60_000 }, []).items).toMatchObject([
        { reason: 'NOT_MARKED_YET', waits_for: 'mark', owner: 'service:mutation-ledger', deadline_at: AT + 60_000 },
      ]);
      expect(report(run).items).toMatchObject([{ waits_for: 'recovery', step_id: expect.any(String) }]);
      const awaited = { owner: 'agent-7', deadline_at: AT + 9, is_overdue: false };
      expect(
        undoReport(
          asked,
          mutations(run).map((one) => ({ ...one, awaited })),
        ).items,
      ).toMatchObject([{ waits_for: 'outcome', owner: 'agent-7', deadline_at: AT + 9 }]);
      run.when(DISPATCHED, AT + 1);
      expect(report(run).items).toMatchObject([{ waits_for: 'worker' }]);
      run.when(outcome('compensated', 'SUCCESS_CONDITION_HELD'), AT + 2);
      expect(report(run).items).toMatchObject([{ waits_for: null, owner: null, deadline_at: null }]);
    });

    it('clean where the action was reversible and nothing stays', () => {
      const run = undone(listed());
      const reversible = mutations(run).map(({ ref, terms, ...rest }) => ({
        ...rest,
        ref: ref === null ? null : { ...ref, reversal_class: 'reversible' as const },
        terms: terms === null ? null : { ...terms, residue: null },
      }));
      expect(undoReport(doc(run), reversible)).toMatchObject({
        outcome: 'undone',
        items: [{ outcome: 'undone_clean', residue: null }],
      });
    });

    it('clean where nothing had happened', () => {
      expect(report(listed({ outcome: 'failed', result: null, external_transaction_ref: null }))).toMatchObject({
        outcome: 'undone',
        items: [{ outcome: 'undone_clean' }],
      });
    });

    it('clean where a person had it, and it turned out never to have happened', () => {
      const none = { result: null, external_transaction_ref: null };
      const run = listed({ outcome: 'uncertain', ...none })
        .when(escalated('FORWARD_UNRESOLVED'), AT + 1)
        .when(executed(refund({ event_id: 'ev-2', outcome: 'failed', ...none })), AT + 2);
      expect(report(run)).toMatchObject({
        outcome: 'undone',
        items: [{ outcome: 'undone_clean', reason: 'EXECUTION_FAILED', waits_for: null }],
      });
      run.when(resolvedBy('accepted'), AT + 3);
      expect(report(run)).toMatchObject({ outcome: 'undone', items: [{ outcome: 'undone_clean' }] });
    });

    it('not undone, with the reason, where a person has it, and waits for them until they say how it ended', () => {
      const run = listed().when(escalated('TOOL_HAS_NO_AUTOMATIC_COMPENSATION'), AT + 1);
      expect(report(run)).toMatchObject({
        outcome: 'not_undone',
        items: [{ outcome: 'not_undone', reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION', waits_for: 'person' }],
      });
      run.when(resolvedBy('accepted'), AT + 2);
      expect(report(run)).toMatchObject({
        outcome: 'not_undone',
        items: [{ outcome: 'not_undone', reason: 'RESOLVED:accepted', waits_for: null }],
      });
    });

    it.each(['KEY_LIFETIME_OVER', 'VERIFICATION_FAILED'])(
      'still open where it may have been undone, and a person finds out: %s',
      (reason) => {
        const run = listed().when(escalated(reason), AT + 1);
        expect(report(run)).toMatchObject({
          outcome: 'still_open',
          items: [{ outcome: 'still_open', reason, waits_for: 'person' }],
        });
      },
    );

    it('not undone where a person closed it by hand and nobody observed it', () => {
      const run = listed()
        .when(escalated('VERIFICATION_FAILED'), AT + 1)
        .when(resolvedBy('repaired'), AT + 2);
      expect(report(run)).toMatchObject({
        outcome: 'not_undone',
        items: [{ outcome: 'not_undone', reason: 'RESOLVED:repaired' }],
      });
    });

    it('undone where a person repaired it by hand and it was seen to be (V1)', () => {
      const seen = resolvedBy('repaired');
      const run = listed()
        .when(escalated('VERIFICATION_FAILED'), AT + 1)
        .when(fromRecoveries('StepResolved', { ...seen.body, verified: true }), AT + 2);
      expect(report(run)).toMatchObject({
        outcome: 'undone',
        items: [{ outcome: 'undone_with_residue', reason: 'RESOLVED:repaired' }],
      });
    });

    it('still open where nobody knows whether it happened', () => {
      const run = listed({ outcome: 'uncertain', result: null, external_transaction_ref: null });
      expect(report(run)).toMatchObject({ outcome: 'still_open' });
      run.when(escalated('FORWARD_UNRESOLVED'), AT + 1);
      expect(report(run)).toMatchObject({
        outcome: 'still_open',
        items: [{ outcome: 'still_open', reason: 'FORWARD_UNRESOLVED' }],
      });
    });

    it('partly undone where one effect is and another is not', () => {
      const other = refund({ effect_key: 'two', event_id: 'ev-2', contract_digest: null });
      const run = ran().when(executed(other), NOW).when(undo(), AT);
      expect(report(undone(run))).toMatchObject({
        outcome: 'partly_undone',
        counts: { undone_with_residue: 1, not_undone: 1, still_open: 0 },
        items: [{ mutation_id: mutationIdOf(other), reason: 'UNCONTRACTED' }, { mutation_id: MUTATION }],
      });
    });

    it('nothing to undo where the run has no effects, as a mistyped one has not', () => {
      expect(report(start().when(undo(), AT))).toMatchObject({ outcome: 'nothing_to_undo', items: [] });
    });

    it('not undone of what the run does not have', () => {
      expect(report(start().when(undo(['mut_x']), AT))).toMatchObject({
        outcome: 'not_undone',
        items: [{ mutation_id: 'mut_x', outcome: 'not_undone', reason: 'MUTATION_UNKNOWN' }],
      });
    });
  });
});
