// Rows of the work of people: tasks, incidents, undos, and what other runs derived from a run's effects.
import type { Change, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import { dependentKey } from '../domain/lineage/dependents.decisions.js';
import type { UndoDoc } from '../domain/undo/undo.messages.js';
import { undoPhaseAfter } from '../domain/undo/undo.transitions.js';
import { put, readRow, rowOf } from './recoveries.kinds.js';
import type { Fold } from './recoveries.kinds.js';

/** Records of undos, of the work of people, and of what other runs derived. */
export const PEOPLE_FOLD = {
  TasksOpened: ({ tasks, ...about }, _state, { decidedAt: at }) => {
    return tasks.map(({ task_id, kind, owner, deadline_at }) =>
      put(
        rowOf('task', {
          ...about,
          task_id,
          task_kind: kind,
          phase: 'open',
          owner,
          deadline_at,
          closed: null,
          opened_at: at,
          updated_at: at,
        }),
      ),
    );
  },
  TaskClosed: ({ run_id, task_id, outcome, by, reason, content, correction_ref }, state, { decidedAt: at }) => {
    const standing = readRow(state, 'task', run_id, task_id);
    if (standing === undefined) throw new InvariantViolation('task-unknown', task_id);
    return [
      put(
        rowOf('task', {
          ...standing,
          phase: outcome,
          deadline_at: null,
          closed: { by, reason, content, correction_ref, at },
          updated_at: at,
        }),
      ),
    ];
  },
  IncidentOpened: ({ by, reason, command_id: _command, ...about }, _state, { decidedAt: at }) => {
    return [
      put(
        rowOf('incident', {
          ...about,
          phase: 'open',
          opened: { by, reason, at },
          closed: null,
          opened_at: at,
          updated_at: at,
        }),
      ),
    ];
  },
  IncidentClosed: ({ run_id, incident_id, by, reason, summary }, state, { decidedAt: at }) => {
    const standing = readRow(state, 'incident', run_id, incident_id);
    if (standing === undefined) throw new InvariantViolation('incident-unknown', incident_id);
    return [
      put(
        rowOf('incident', {
          ...standing,
          phase: 'closed',
          deadline_at: null,
          closed: { by, reason, summary, at },
          updated_at: at,
        }),
      ),
    ];
  },
  DependentNoted: (noted, _state, { decidedAt: at }) => {
    return [put(rowOf('dependent', { ...noted, settled_as: null, noted_at: at, updated_at: at }))];
  },
  DependentSettled: ({ recoverability, ...about }, state, { decidedAt: at }) => {
    const standing = readRow(state, 'dependent', about.run_id, dependentKey(about));
    if (standing === undefined) throw new InvariantViolation('dependent-unknown', about.child_mutation_id);
    return [put(rowOf('dependent', { ...standing, settled_as: recoverability, updated_at: at }))];
  },
  UndoOpened: ({ mutation_ids: asked_ids, ...about }, _state, { decidedAt: at }) => {
    return [
      undoPut({
        ...about,
        asked_ids,
        phase: 'opened',
        mutation_ids: [],
        unknown_ids: [],
        opened_at: at,
        updated_at: at,
      }),
    ];
  },
  UndoListed: ({ run_id, undo_id, mutation_ids, unknown_ids, is_last }, state, { decidedAt: at }) => {
    const standing = standingUndo(state, run_id, undo_id);
    const phase = undoPhaseAfter(standing.phase, is_last ? 'Listed' : 'PartListed');
    return [
      undoPut({
        ...standing,
        phase,
        mutation_ids: [...standing.mutation_ids, ...mutation_ids],
        unknown_ids,
        deadline_at: is_last ? null : standing.deadline_at,
        updated_at: at,
      }),
    ];
  },
  UndoEscalated: ({ run_id, undo_id, owner, deadline_at }, state, { decidedAt: at }) => {
    const standing = standingUndo(state, run_id, undo_id);
    return [
      undoPut({
        ...standing,
        phase: undoPhaseAfter(standing.phase, 'Escalated'),
        owner,
        deadline_at,
        updated_at: at,
      }),
    ];
  },
} satisfies Partial<Fold>;

function standingUndo(state: StateView, runId: string, undoId: string): UndoDoc {
  const standing = readRow(state, 'undo', runId, undoId);
  if (standing === undefined) throw new InvariantViolation('undo-unknown', undoId);
  return standing;
}

/** Its timer goes off when the ledger has not named the effects. */
function undoPut(undo: UndoDoc): Change {
  return put(rowOf('undo', undo, undo.phase === 'opened' ? undo.deadline_at : null));
}
