// Rows of the work of people: tasks and incidents, and what other runs derived from a run's effects.
import { InvariantViolation } from '@recourse/kernel';
import { dependentKey } from '../rules/lineage/dependents.decisions.js';
import { put, readRow, rowOf } from './kinds.js';
import type { Fold } from './kinds.js';

/** Records of the work of people, and of what other runs derived. */
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
} satisfies Partial<Fold>;
