// Folds accepted records of recourse.recoveries into rows. Reads the record and rows that earlier records made, nothing else (L2).
import { InvariantViolation } from '@recourse/kernel';
import type { AcceptedRecord, Change, StateView } from '@recourse/event-log';
import { dependentKey } from '../domain/lineage/dependents.decisions.js';
import { rollbackKey } from '../domain/rollback/rollback.decider.js';
import { rollbackPhaseAfter } from '../domain/rollback/rollback.transitions.js';
import { bodyOf, isStepRecord, stepAfter } from '../domain/step/step-row.transitions.js';
import { isAtRest } from '../domain/step/step.transitions.js';
import type { StepRecordType } from '../domain/step/step-row.transitions.js';
import type { FactBodies, RollbackDoc, StepDoc, UndoDoc } from '../domain/step/step.messages.js';
import { undoPhaseAfter } from '../domain/undo/undo.transitions.js';
import { evolveAdmission, evolvePaces } from './admission.part.js';
import { evolveBound } from './bound.part.js';
import { evolveForward } from './forward.part.js';
import { HALTED, haltRow, put, readHalts, readRow, rollbackPut, rowOf } from './recoveries.kinds.js';

/** Changes of state an accepted record makes. Records of the loop and recorded no-ops make none. */
export function foldRecovery(state: StateView, record: AcceptedRecord): readonly Change[] {
  const forward = evolveForward(state, record);
  if (forward !== null) return forward;
  const admission = evolveAdmission(state, record);
  if (admission !== null) return admission;
  const bound = evolveBound(state, record);
  if (bound !== null) return bound;
  if (record.type === 'RollbackEscalated') return [rollbackPut(rollbackEscalated(state, record))];
  const more = EVOLVE_MORE[record.type];
  if (more !== undefined) return more(state, record);
  if (record.type === 'RecoveryClosed') return [put(rowOf('recovery', closedBy(state, record)))];
  if (record.type === 'HaltsReviewed') return readHalts(state).map((halt) => put(haltRow(halt, record.decidedAt)));
  return isStepRecord(record.type) ? foldStep(state, record, record.type) : [];
}

/** Records of undos and of the work of people. */
const EVOLVE_MORE: Readonly<Record<string, (state: StateView, record: AcceptedRecord) => readonly Change[]>> = {
  TasksOpened: (_state, { body, decidedAt: at }) => {
    const { tasks, ...about } = bodyOf('TasksOpened', body);
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
  TaskClosed: (state, { body, decidedAt: at }) => {
    const { run_id, task_id, outcome, by, reason, content, correction_ref } = bodyOf('TaskClosed', body);
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
  IncidentOpened: (_state, { body, decidedAt: at }) => {
    const { by, reason, command_id: _command, ...about } = bodyOf('IncidentOpened', body);
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
  IncidentClosed: (state, { body, decidedAt: at }) => {
    const { run_id, incident_id, by, reason, summary } = bodyOf('IncidentClosed', body);
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
  DependentNoted: (_state, { body, decidedAt: at }) => {
    const noted = bodyOf('DependentNoted', body);
    return [put(rowOf('dependent', { ...noted, settled_as: null, noted_at: at, updated_at: at }))];
  },
  DependentSettled: (state, { body, decidedAt: at }) => {
    const { recoverability, ...about } = bodyOf('DependentSettled', body);
    const standing = readRow(state, 'dependent', about.run_id, dependentKey(about));
    if (standing === undefined) throw new InvariantViolation('dependent-unknown', about.child_mutation_id);
    return [put(rowOf('dependent', { ...standing, settled_as: recoverability, updated_at: at }))];
  },
  UndoOpened: (_state, { body, decidedAt: at }) => {
    const { mutation_ids: asked_ids, ...about } = bodyOf('UndoOpened', body);
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
  UndoListed: (state, record) => {
    const { mutation_ids, unknown_ids, is_last } = bodyOf('UndoListed', record.body);
    const standing = standingUndo(state, record);
    const phase = undoPhaseAfter(standing.phase, is_last ? 'Listed' : 'PartListed');
    return [
      undoPut({
        ...standing,
        phase,
        mutation_ids: [...standing.mutation_ids, ...mutation_ids],
        unknown_ids,
        deadline_at: is_last ? null : standing.deadline_at,
        updated_at: record.decidedAt,
      }),
    ];
  },
  UndoEscalated: (state, record) => {
    const { owner, deadline_at } = bodyOf('UndoEscalated', record.body);
    const standing = standingUndo(state, record);
    return [
      undoPut({
        ...standing,
        phase: undoPhaseAfter(standing.phase, 'Escalated'),
        owner,
        deadline_at,
        updated_at: record.decidedAt,
      }),
    ];
  },
};

function standingUndo(state: StateView, { body }: AcceptedRecord): UndoDoc {
  const standing = readRow(state, 'undo', String(body['run_id']), String(body['undo_id']));
  if (standing === undefined) throw new InvariantViolation('undo-unknown', String(body['undo_id']));
  return standing;
}

/** Its timer goes off when the ledger has not named the effects. */
function undoPut(undo: UndoDoc): Change {
  return put(rowOf('undo', undo, undo.phase === 'opened' ? undo.deadline_at : null));
}

function foldStep(state: StateView, record: AcceptedRecord, type: StepRecordType): readonly Change[] {
  // Every step record names its run and its step.
  const { run_id: runId, step_id: stepId } = record.body as { readonly run_id: string; readonly step_id: string };
  const before = readRow(state, 'step', runId, stepId);
  const { seq, hash: record_hash, prevHash: prev_record_hash } = record;
  const after = stepAfter(before, type, record.body, record.decidedAt);
  const step: StepDoc = {
    ...after,
    decision_record: { seq, record_hash, prev_record_hash },
    triggered_at: after.triggered_at ?? triggeredAt(state, after, record.decidedAt),
  };
  const left: readonly Change[] =
    before?.phase === 'halted' && step.phase !== 'halted'
      ? [{ op: 'delete', address: { kind: 'halt', group: HALTED, key: stepId } }]
      : [];
  return [put(rowOf('step', step, step.due_at)), ...besides(state, record, type, step), ...left];
}

/** When the rollback was admitted, as the row of it says; of a mark without one the decision's own time. */
function triggeredAt(
  state: StateView,
  { run_id: runId, tenant, mutation_id: mutationId }: StepDoc,
  decidedAt: number,
): number {
  return readRow(state, 'rollback', runId, rollbackKey(tenant, mutationId))?.opened_at ?? decidedAt;
}

/** Other rows a step record changes. */
function besides(state: StateView, record: AcceptedRecord, type: StepRecordType, step: StepDoc): readonly Change[] {
  switch (type) {
    case 'StepDecided':
      return [...marked(state, record, step), reopened(state, record, step)];
    case 'StepReopened':
    case 'LookDispatched':
      return [reopened(state, record, step)];
    case 'MutationAdvanced':
      return isAtRest(step.phase) ? [] : [reopened(state, record, step)];
    case 'StepApproved':
      return [approved(bodyOf('StepApproved', record.body), record.decidedAt)];
    case 'GlassBroken':
      return [approved(bodyOf('GlassBroken', record.body), record.decidedAt)];
    case 'LegDispatched':
      return [...usedBy(state, record, step), ...evolvePaces(state, step.tenant, step.paced, record.decidedAt)];
    case 'StepWaits':
      return evolvePaces(state, step.tenant, step.paced, record.decidedAt);
    case 'StepHalted':
      return [halted(record)];
    default:
      return [];
  }
}

function halted(record: AcceptedRecord): Change {
  const { step_id, tenant, run_id, agent_id, capability, detail } = bodyOf('StepHalted', record.body);
  return put(haltRow({ step_id, tenant, run_id, agent_id, capability, detail, halted_at: record.decidedAt }, null));
}

function marked(state: StateView, record: AcceptedRecord, step: StepDoc): readonly Change[] {
  const standing = readRow(state, 'rollback', step.run_id, rollbackKey(step.tenant, step.mutation_id));
  return standing === undefined
    ? []
    : [
        rollbackPut({
          ...standing,
          phase: rollbackPhaseAfter(standing.phase, 'Marked'),
          deadline_at: null,
          updated_at: record.decidedAt,
        }),
      ];
}

function rollbackEscalated(state: StateView, record: AcceptedRecord): RollbackDoc {
  const {
    run_id: runId,
    tenant,
    mutation_id: mutationId,
    owner,
    deadline_at,
  } = bodyOf('RollbackEscalated', record.body);
  const standing = readRow(state, 'rollback', runId, rollbackKey(tenant, mutationId));
  if (standing === undefined) throw new InvariantViolation('rollback-unknown', mutationId);
  return {
    ...standing,
    phase: rollbackPhaseAfter(standing.phase, 'Escalated'),
    owner,
    deadline_at,
    updated_at: record.decidedAt,
  };
}

function reopened(state: StateView, record: AcceptedRecord, step: StepDoc): Change {
  const { recovery_id, tenant, run_id } = step;
  const openedAt = readRow(state, 'recovery', run_id, recovery_id)?.opened_at ?? record.decidedAt;
  const { owner, deadline_at } = bodyOf('StepDecided', record.body); // every record that opens a recovery, or opens it again, says so
  return put(
    rowOf('recovery', {
      recovery_id,
      tenant,
      run_id,
      phase: 'open',
      outcome: null,
      owner,
      deadline_at,
      opened_at: openedAt,
      updated_at: record.decidedAt,
    }),
  );
}

function closedBy(state: StateView, record: AcceptedRecord): Parameters<typeof rowOf<'recovery'>>[1] {
  const { run_id: runId, recovery_id: recoveryId, outcome } = bodyOf('RecoveryClosed', record.body);
  const standing = readRow(state, 'recovery', runId, recoveryId);
  if (standing === undefined) throw new InvariantViolation('recovery-unknown', recoveryId);
  return { ...standing, phase: 'closed', outcome, deadline_at: null, updated_at: record.decidedAt };
}

function approved(
  {
    approval_id,
    tenant,
    run_id,
    step_id,
    action_digest,
    by,
    reason,
    command_id,
  }: FactBodies['StepApproved'] | FactBodies['GlassBroken'],
  at: number,
): Change {
  return put(
    rowOf('approval', {
      approval_id,
      tenant,
      run_id,
      step_id,
      action_digest,
      by,
      reason,
      command_id,
      used_by: null,
      approved_at: at,
      updated_at: at,
    }),
  );
}

/** A dispatch uses the approvals of its step; later attempts are the same action under the same key. */
function usedBy(state: StateView, record: AcceptedRecord, step: StepDoc): readonly Change[] {
  const { leg_id: legId } = bodyOf('LegDispatched', record.body);
  return [...step.approvals, ...step.glass]
    .map(({ approval_id }) => readRow(state, 'approval', step.run_id, approval_id))
    .filter((approval) => approval !== undefined && approval.used_by === null)
    .map((approval) =>
      put(
        rowOf('approval', {
          ...(approval as NonNullable<typeof approval>),
          used_by: legId,
          updated_at: record.decidedAt,
        }),
      ),
    );
}
