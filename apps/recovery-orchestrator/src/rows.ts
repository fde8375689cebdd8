// Folds accepted records of recourse.recoveries into rows. Reads the record and rows that earlier records made, nothing else (L2).
import { unchanged } from '@recourse/event-log';
import type { AcceptedRecord, Change, Folds, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import { recordIn } from '@recourse/messages';
import type { Pace } from '@recourse/messages';
import { FORWARD_RECORDS } from './rules/forward/forward.messages.js';
import type { ForwardRecord } from './rules/forward/forward.messages.js';
import { RECOVERIES_LOG } from './rules/record.messages.js';
import type { Body, ByType, RecordType, RecoveryRecord } from './rules/record.messages.js';
import { MEMBER_RECORDS, stepsTold } from './rules/step/leg.messages.js';
import type { MemberRecord, MemberRecordType, StepDispatched } from './rules/step/leg.messages.js';
import { STEP_RECORDS, stepAfter, stepAfterMember } from './rules/step/step-row.transitions.js';
import type { StepRecord, StepRecordType } from './rules/step/step-row.transitions.js';
import type { StepDoc } from './rules/step/step.messages.js';
import { isAtRest, isUnderWay } from './rules/step/step.transitions.js';
import { evolveForward } from './rows/forward.rows.js';
import { evolveRoutine } from './rows/routine.rows.js';
import { PEOPLE_FOLD } from './rows/people.rows.js';
import { BREAKER_FOLD, HALTED, evolvePaces, haltRow, put, readHalts, readRow, rowOf } from './rows/kinds.js';

/** What each record of the log makes of rows. */
export const EVOLVE: Folds<typeof RECOVERIES_LOG> = {
  ...BREAKER_FOLD,
  ...PEOPLE_FOLD,
  ...eachOf<StepRecordType>(STEP_RECORDS, foldStep),
  ...eachOf<MemberRecordType>(MEMBER_RECORDS, foldMembers),
  ...eachOf<ForwardRecord['type']>(FORWARD_RECORDS, (state, told, { decidedAt }) => [
    ...evolveForward(state, told, decidedAt),
    ...evolveRoutine(state, told, decidedAt),
  ]),
  RecoveryClosed: closeRecovery,
  HaltsReviewed: (_body, state, { decidedAt }) => readHalts(state).map((halt) => put(haltRow(halt, decidedAt))),
  ReportRefused: unchanged,
};

/** One fold for records of several types, which it tells apart itself. */
function eachOf<Type extends RecordType>(
  types: readonly Type[],
  fold: (state: StateView, told: RecoveryRecord<Type>, record: AcceptedRecord) => readonly Change[],
): ByType<Type, [state: StateView, record: AcceptedRecord], readonly Change[]> {
  const line = (_body: unknown, state: StateView, accepted: AcceptedRecord): readonly Change[] =>
    fold(state, recordIn(RECOVERIES_LOG, accepted) as RecoveryRecord<Type>, accepted); // only lines of these types call it
  return Object.fromEntries(types.map((type) => [type, line])) as ByType<
    Type,
    [state: StateView, record: AcceptedRecord],
    readonly Change[]
  >; // a line for each of the types
}

function foldStep(state: StateView, told: StepRecord, accepted: AcceptedRecord): readonly Change[] {
  const { run_id: runId, step_id: stepId } = told.body;
  const before = readRow(state, 'step', runId, stepId);
  const { decidedAt } = accepted;
  const after = stepAfter(before, told, decidedAt);
  // A look for those who decide decides nothing itself.
  const step =
    told.type === 'FactsAsked' || told.type === 'FactsObserved' ? after : stepOnRecord(accepted, after, null);
  return [put(rowOf('step', step, step.due_at)), ...besides(state, told, step, decidedAt), ...haltLeft(before, step)];
}

/** Rows of several steps; what is common to them, the recovery and the places in the schedules, is kept once. */
function foldMembers(state: StateView, told: MemberRecord, accepted: AcceptedRecord): readonly Change[] {
  const { decidedAt: at } = accepted;
  const places = new Map<string, Pace>();
  const opens: Change[] = [];
  const rows = stepsTold(told).flatMap((own) => {
    const before = readRow(state, 'step', told.body.run_id, own.stepId);
    const step = stepOnRecord(accepted, stepAfterMember(before, own, at), own.index);
    if (own.type === 'RecoveryPlanned') opens.splice(0, 1, reopen(state, own.body, step, at));
    if (own.type !== 'LegSettled') for (const one of step.paced) places.set(`${one.scope}/${one.name}`, one);
    const used = own.type === 'LegDispatched' ? useApprovals(state, own.body, step, at) : [];
    return [put(rowOf('step', step, step.due_at)), ...used, ...haltLeft(before, step)];
  });
  return [...rows, ...opens, ...evolvePaces(state, told.body.tenant, [...places.values()], at)];
}

/** The step with the record that decided last about it. */
function stepOnRecord(
  { seq, hash: record_hash, prevHash: prev_record_hash }: AcceptedRecord,
  after: StepDoc,
  member: number | null,
): StepDoc {
  return {
    ...after,
    decision_record: { seq, record_hash, prev_record_hash, member },
  };
}

function haltLeft(before: StepDoc | undefined, { phase, step_id }: StepDoc): readonly Change[] {
  return before?.phase === 'halted' && phase !== 'halted'
    ? [{ op: 'delete', address: { kind: 'halt', group: HALTED, key: step_id } }]
    : [];
}

/** Other rows a step record changes. */
function besides(state: StateView, told: StepRecord, step: StepDoc, at: number): readonly Change[] {
  switch (told.type) {
    case 'StepReopened':
    case 'LookDispatched':
      return [reopen(state, told.body, step, at)];
    case 'MutationAdvanced':
      return isAtRest(step.phase) || isUnderWay(step.phase) ? [] : [reopen(state, told.body, step, at)];
    case 'StepApproved':
    case 'GlassBroken':
      return [putApproval(told.body, at)];
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
  { owner, deadline_at }: Pick<StepDoc, 'owner'> & { readonly deadline_at: number },
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
  { leg_id: legId }: StepDispatched,
  step: StepDoc,
  at: number,
): readonly Change[] {
  return [...step.approvals, ...step.glass]
    .flatMap(({ approval_id }) => readRow(state, 'approval', step.run_id, approval_id) ?? [])
    .filter(({ used_by }) => used_by === null)
    .map((approval) => put(rowOf('approval', { ...approval, used_by: legId, updated_at: at })));
}
