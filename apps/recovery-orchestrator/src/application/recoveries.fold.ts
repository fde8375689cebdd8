// Folds accepted records of recourse.recoveries into rows. Reads the record and rows that earlier records made, nothing else (L2).
import type { AcceptedRecord, Change, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import { recordIn } from '@recourse/messages';
import { isForwardRecord } from '../domain/forward/forward.messages.js';
import type { ForwardRecord } from '../domain/forward/forward.messages.js';
import { callByType, RECOVERIES_LOG } from '../domain/record.messages.js';
import type { Body, RecordType } from '../domain/record.messages.js';
import { isStepRecord, stepAfter } from '../domain/step/step-row.transitions.js';
import type { StepRecord, StepRecordType } from '../domain/step/step-row.transitions.js';
import type { StepDoc } from '../domain/step/step.messages.js';
import { isAtRest } from '../domain/step/step.transitions.js';
import { BREAKER_FOLD, evolvePaces } from './dispatch-rows.js';
import { evolveForward } from './forward.part.js';
import { PEOPLE_FOLD } from './people.rows.js';
import { HALTED, haltRow, put, readHalts, readRow, rowOf } from './recoveries.kinds.js';
import type { Fold } from './recoveries.kinds.js';

/** Changes of state an accepted record makes. */
export function foldRecovery(state: StateView, accepted: AcceptedRecord): readonly Change[] {
  const told = recordIn(RECOVERIES_LOG, accepted);
  if (isStepRecord(told)) return foldStep(state, accepted, told);
  if (isForwardRecord(told)) return evolveForward(state, told, accepted.decidedAt);
  return callByType(FOLD, told, state, accepted);
}

/** Records of the loop and recorded no-ops change no row. */
const unchanged = (): readonly Change[] => [];

/** Everything but steps and forward approvals. */
const FOLD: Fold<Exclude<RecordType, StepRecordType | ForwardRecord['type']>> = {
  ...BREAKER_FOLD,
  ...PEOPLE_FOLD,
  RecoveryClosed: closeRecovery,
  HaltsReviewed: (_body, state, { decidedAt }) => readHalts(state).map((halt) => put(haltRow(halt, decidedAt))),
  ReportRefused: unchanged,
  Progress: unchanged,
  RecordParked: unchanged,
  ParkedResolved: unchanged,
  CommandAnswered: unchanged,
  ObligationResent: unchanged,
  CutAccepted: unchanged,
};

function foldStep(state: StateView, accepted: AcceptedRecord, told: StepRecord): readonly Change[] {
  const { run_id: runId, step_id: stepId } = told.body;
  const before = readRow(state, 'step', runId, stepId);
  const { seq, hash: record_hash, prevHash: prev_record_hash, decidedAt } = accepted;
  const step: StepDoc = {
    ...stepAfter(before, told, decidedAt),
    decision_record: { seq, record_hash, prev_record_hash },
  };
  const left: readonly Change[] =
    before?.phase === 'halted' && step.phase !== 'halted'
      ? [{ op: 'delete', address: { kind: 'halt', group: HALTED, key: stepId } }]
      : [];
  return [put(rowOf('step', step, step.due_at)), ...besides(state, told, step, decidedAt), ...left];
}

/** Other rows a step record changes. */
function besides(state: StateView, told: StepRecord, step: StepDoc, at: number): readonly Change[] {
  switch (told.type) {
    case 'StepDecided':
    case 'StepReopened':
    case 'LookDispatched':
      return [reopen(state, told.body, step, at)];
    case 'MutationAdvanced':
      return isAtRest(step.phase) ? [] : [reopen(state, told.body, step, at)];
    case 'StepApproved':
    case 'GlassBroken':
      return [putApproval(told.body, at)];
    case 'LegDispatched':
      return [...useApprovals(state, told.body, step, at), ...evolvePaces(state, step.tenant, step.paced, at)];
    case 'StepWaits':
      return evolvePaces(state, step.tenant, step.paced, at);
    case 'StepHalted':
      return [putHalt(told.body, at)];
    default:
      return [];
  }
}

function putHalt({ step_id, tenant, run_id, agent_id, capability, detail }: Body<'StepHalted'>, at: number): Change {
  return put(haltRow({ step_id, tenant, run_id, agent_id, capability, detail, halted_at: at }, null));
}

/** Every record that opens a recovery, or opens it again, says who has it until when. */
function reopen(
  state: StateView,
  { owner, deadline_at }: Pick<Body<'StepDecided'>, 'owner' | 'deadline_at'>,
  { recovery_id, tenant, run_id }: StepDoc,
  at: number,
): Change {
  const openedAt = readRow(state, 'recovery', run_id, recovery_id)?.opened_at ?? at;
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
      updated_at: at,
    }),
  );
}

function closeRecovery(
  { run_id: runId, recovery_id: recoveryId, outcome }: Body<'RecoveryClosed'>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const standing = readRow(state, 'recovery', runId, recoveryId);
  if (standing === undefined) throw new InvariantViolation('recovery-unknown', recoveryId);
  return [put(rowOf('recovery', { ...standing, phase: 'closed', outcome, deadline_at: null, updated_at: decidedAt }))];
}

function putApproval(
  { approval_id, tenant, run_id, step_id, action_digest, by, reason, command_id }: Body<'StepApproved' | 'GlassBroken'>,
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
function useApprovals(
  state: StateView,
  { leg_id: legId }: Body<'LegDispatched'>,
  step: StepDoc,
  at: number,
): readonly Change[] {
  return [...step.approvals, ...step.glass]
    .flatMap(({ approval_id }) => readRow(state, 'approval', step.run_id, approval_id) ?? [])
    .filter(({ used_by }) => used_by === null)
    .map((approval) => put(rowOf('approval', { ...approval, used_by: legId, updated_at: at })));
}
