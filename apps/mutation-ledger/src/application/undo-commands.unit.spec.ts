// Somebody asks for a run, or some of its effects, to be undone (B3): the ledger names them, and the report tells what became of each (B20).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { fact, harness, logged, wire, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { MARK_WITHIN_MS } from '../domain/rollback/rollback.decider.js';
import type { StepDoc } from '../domain/step/step.messages.js';
import { UNDO_IDS_MAX, undoIdOf } from '../domain/undo/undo.decider.js';
import {
  answered,
  approval,
  BALANCE_ZERO,
  core,
  envelope,
  markedInput,
  MUTATION,
  ref,
  RECOVERY,
  requestIn,
  resolution,
  REVIEW,
  RUN,
  STILL_PENDING,
  TENANT,
  terms,
  views,
} from '../recoveries.testing.js';
import { undoReport } from './undo-report.query.js';
import type { UndoDoc } from '../domain/undo/undo.messages.js';

const AT = 10_000;
const UNDO = undoIdOf('cmd-ursula');

function undo(ids: readonly string[] = [], by = 'ursula', roles: readonly string[] = ['requester']) {
  return wire(
    'recourse.recovery-commands',
    'UndoRun',
    { envelope: envelope(by, roles), run_id: RUN, mutation_ids: ids, reason: 'not what I meant' },
    { key: RUN },
  );
}
function named(ids: readonly string[], more: Readonly<Record<string, unknown>> = {}) {
  return logged(
    'recourse.mutations',
    'UndoSpread',
    {
      undo_id: UNDO,
      tenant: TENANT,
      run_id: RUN,
      mutation_ids: ids,
      unknown_ids: [],
      asked_ids: [],
      evidence: null,
      below_seq: 0,
      is_last: true,
      ...more,
    },
    7,
    { key: RUN },
  );
}

describe.each(WAYS)('an undo of a run, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const doc = (run: CoreHarness): UndoDoc => run.rows('undo')[0]?.doc as unknown as UndoDoc; // rows of this kind are undos
  const steps = (run: CoreHarness): readonly StepDoc[] => run.rows('step').map((row) => row.doc as unknown as StepDoc); // as above
  const report = (run: CoreHarness) => undoReport(doc(run), steps(run));

  it('is opened with who asked and why, an owner and a deadline', () => {
    const run = start()
      .when(undo(), AT)
      .then(
        fact('UndoOpened', {
          undo_id: UNDO,
          recovery_id: RECOVERY,
          mutation_ids: [],
          owner: 'service:mutation-ledger',
          deadline_at: AT + MARK_WITHIN_MS,
          evidence: { kind: 'human', source: 'ursula', statement: plainPayload({ reason: 'not what I meant' }) },
        }),
      );
    run.thenAnswer({ status: 'accepted', httpStatus: 201, body: { undo_id: UNDO, run_id: RUN } });
    expect(report(run)).toMatchObject({ outcome: 'still_open', items: [] });
  });

  it('learns its effects in parts, in their order', () => {
    const run = start()
      .when(undo(), AT)
      .when(named(['mut_3', 'mut_2'], { is_last: false }), AT + 1)
      .then(fact('UndoListed', { mutation_ids: ['mut_3', 'mut_2'], is_last: false }));
    run
      .when(named([MUTATION], { unknown_ids: ['mut_x'] }), AT + 2)
      .then(fact('UndoListed', { mutation_ids: [MUTATION], unknown_ids: ['mut_x'], is_last: true }));
    expect(doc(run)).toMatchObject({ phase: 'listed', mutation_ids: ['mut_3', 'mut_2', MUTATION], deadline_at: null });
    run.when(named(['mut_9']), AT + 3).thenNothing();
  });

  it('goes to a person when the ledger does not name its effects in time, and takes the list still', () => {
    const run = start()
      .when(undo(), AT)
      .whenDue(AT + MARK_WITHIN_MS)
      .then(
        fact('UndoEscalated', {
          reason: 'UNDO_NOT_LISTED',
          owner: 'role:administrator',
          deadline_at: AT + MARK_WITHIN_MS + REVIEW,
        }),
      );
    run.when(named([MUTATION]), AT + MARK_WITHIN_MS + 1).then(fact('UndoListed'));
    expect(doc(run)).toMatchObject({ phase: 'listed' });
  });

  it('of another tenant or unknown is not listed', () => {
    start()
      .when(undo(), AT)
      .when(named([MUTATION], { tenant: 'evil' }), AT + 1)
      .thenNothing()
      .when(named([MUTATION], { undo_id: 'undo_other' }), AT + 2)
      .thenNothing();
  });

  it('needs a role, and a list that can be overseen', () => {
    start()
      .when(undo([], 'mallory', ['viewer']), AT)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    start()
      .when(undo(Array.from({ length: UNDO_IDS_MAX + 1 }, (_, index) => `mut_${index}`)), AT)
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
    const listed = (...ids: readonly string[]): CoreHarness =>
      start()
        .when(undo(), AT)
        .when(named(ids), AT + 1);

    it('undone only when every effect was seen to be, with what stays different', () => {
      const run = listed(MUTATION)
        .when(markedInput(), AT + 2)
        .when(approval(), AT + 3);
      expect(report(run)).toMatchObject({ outcome: 'still_open', items: [{ outcome: 'still_open' }] });
      run.when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), AT + 4);
      expect(report(run)).toMatchObject({
        outcome: 'undone',
        counts: { undone_with_residue: 1 },
        items: [
          {
            mutation_id: MUTATION,
            outcome: 'undone_with_residue',
            residue: 'two lines on the statement',
            reason: null,
          },
        ],
      });
    });

    it('clean where the action was reversible and nothing stays', () => {
      const run = listed(MUTATION).when(
        markedInput({
          terms: terms({ residue: null, impact: 'write', recovery_approval_mode: 'auto' }),
          ref: ref({ reversal_class: 'reversible' }),
        }),
        AT + 2,
      );
      run.when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), AT + 3);
      expect(report(run)).toMatchObject({ outcome: 'undone', items: [{ outcome: 'undone_clean', residue: null }] });
    });

    it('clean where nothing had happened', () => {
      expect(
        report(listed(MUTATION).when(markedInput({ execution_state: 'failed', recoverability: 'planned' }), AT + 2)),
      ).toMatchObject({ outcome: 'undone', items: [{ outcome: 'undone_clean', reason: 'NOTHING_TO_UNDO' }] });
    });

    it('partly undone or not undone, with the reason, where a person has something', () => {
      const run = listed(MUTATION, 'mut_0').when(markedInput({ ref: ref({ reversal_class: 'irreversible' }) }), AT + 2);
      expect(report(run)).toMatchObject({
        outcome: 'still_open',
        items: [
          { outcome: 'not_undone', reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION', owner: 'role:administrator' },
          { mutation_id: 'mut_0', outcome: 'still_open', reason: 'NOT_MARKED_YET' },
        ],
      });
      const other = listed(MUTATION).when(markedInput({ ref: ref({ reversal_class: 'irreversible' }) }), AT + 2);
      expect(report(other)).toMatchObject({ outcome: 'not_undone' });
    });

    it('not undone where a person closed it by hand and nobody observed it', () => {
      const run = listed(MUTATION)
        .when(markedInput(), AT + 2)
        .whenDue(AT + 2 + REVIEW)
        .when(resolution('repaired'), AT + 3 + REVIEW);
      expect(report(run)).toMatchObject({
        outcome: 'not_undone',
        items: [{ outcome: 'not_undone', reason: 'RESOLVED:repaired' }],
      });
    });

    it('still open where nobody knows whether it happened', () => {
      const run = listed(MUTATION).when(
        markedInput({ execution_state: 'uncertain', recoverability: 'pending_commit' }),
        AT + 2,
      );
      run.whenDue(AT + 2 + REVIEW).whenDue(AT + 2 + 2 * REVIEW);
      expect(report(run)).toMatchObject({
        outcome: 'still_open',
        items: [{ outcome: 'still_open', reason: 'FORWARD_UNRESOLVED' }],
      });
    });

    it('partly undone where one effect is and another is not', () => {
      const run = listed(MUTATION, 'mut_2')
        .when(markedInput(), AT + 2)
        .when(approval(), AT + 3);
      run.when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), AT + 4);
      run.when(
        markedInput({
          mutation_id: 'mut_2',
          rollback_id: 'rb_2',
          ref: ref({ mutation_id: 'mut_2', reversal_class: 'irreversible' }),
        }),
        AT + 5,
      );
      expect(report(run)).toMatchObject({
        outcome: 'partly_undone',
        counts: { undone_with_residue: 1, not_undone: 1, still_open: 0 },
      });
    });

    it('not undone of what the run does not have', () => {
      expect(
        report(
          start()
            .when(undo(), AT)
            .when(named([], { unknown_ids: ['mut_x'] }), AT + 1),
        ),
      ).toMatchObject({
        outcome: 'not_undone',
        items: [{ mutation_id: 'mut_x', outcome: 'not_undone', reason: 'MUTATION_UNKNOWN' }],
      });
    });
  });
});
