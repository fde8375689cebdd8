// How a mutation's recoverability moves: as its recovery goes, and as its window closes. Pure.
//
// Invariant
//   M3. Recoverability moves only as RECOVERABILITY_AFTER says.
import { assertNever } from '@recourse/kernel';
import type { Money, MovedMutation, RecoverabilityEvent, StepVerdict } from '@recourse/messages';
import type { MutationRecord } from '../record.messages.js';
import { record } from '../record.messages.js';
import { parentsElsewhere } from './lineage.decider.js';
import type { ReasonCode, RecordedMutation, RecoveryEvent } from './mutation.messages.js';
import { RECOVERABILITY_AFTER } from './mutation.transitions.js';

/** Moves a mutation as its recovery goes; null when that changes nothing. */
export function decideRecovery(event: RecoveryEvent, mutation: RecordedMutation): MoveRecord | null {
  const stepId = event.body.step_id;
  switch (event.type) {
    case 'Dispatched':
      return isAttemptKnown(mutation, event.body.attempt) ? null : move(mutation, 'compensation_started', { stepId });
    case 'StepEscalated':
      return move(mutation, 'manual_required', { stepId, reason: whyOf(event.body.reason, mutation) });
    case 'StepDenied':
      return move(mutation, 'manual_required', { stepId, reason: 'DENIED' satisfies ReasonCode });
    case 'StepResolved':
      return move(mutation, 'resolved', {
        stepId,
        reason: `RESOLVED:${event.body.resolution}` satisfies ReasonCode,
        isVerified: event.body.verified,
      });
    case 'Settled':
      return moveByOutcome(mutation, event.body.outcome, event.body.reason, stepId);
    default:
      return assertNever(event);
  }
}

/** Why a person has it: where an event closed the window, the event, and not only that it is closed (B5). */
function whyOf(reason: string, { reason: standing }: RecordedMutation): string {
  return reason === 'REVERSAL_EXPIRED' && standing?.startsWith('CLOSED_BY:') === true ? standing : reason;
}

/** Each attempt is recorded once; after a failure the first one counts as new. */
function isAttemptKnown({ recoverability, compensation_attempts }: RecordedMutation, attempt: number): boolean {
  return recoverability === 'compensating' && attempt <= compensation_attempts;
}

/** The clock closes a window; null where no reversal was available. */
export function closeWindow(mutation: RecordedMutation): MoveRecord | null {
  const reason = 'WINDOW_CLOSED' satisfies ReasonCode;
  return mutation.recoverability === 'reversal_available' ? move(mutation, 'window_closed', { reason }) : null;
}

/** A person has it, before any recovery; null where there is nothing more to decide. */
export function moveToPerson(mutation: RecordedMutation, reason: ReasonCode): MoveRecord | null {
  return move(mutation, 'manual_required', { reason });
}

/** A stale resource was not touched, an uncertain step goes on and one that was not begun waits: none of these moves the mutation by itself. */
function moveByOutcome(
  mutation: RecordedMutation,
  outcome: StepVerdict,
  reason: string,
  stepId: string,
): MoveRecord | null {
  switch (outcome) {
    case 'compensated':
      return move(mutation, 'compensation_verified', { stepId, refund: mutation.execution.value, isVerified: true });
    case 'failed':
    case 'unverified':
      return move(mutation, 'compensation_failed', { stepId, reason });
    case 'stale':
    case 'uncertain':
    case 'not_begun':
      return null;
    default:
      return assertNever(outcome);
  }
}

interface MoveDetails {
  readonly stepId?: string;
  readonly reason?: string;
  readonly refund?: Money | null;
  readonly isVerified?: boolean;
}

/** What a move says of a mutation. */
type Moving = Pick<
  RecordedMutation,
  'mutation_id' | 'tenant' | 'run_id' | 'rollback_id' | 'ref' | 'recoverability' | 'execution' | 'terms'
>;

export function move(
  mutation: Moving,
  event: RecoverabilityEvent,
  { stepId, reason, refund, isVerified }: MoveDetails,
): MoveRecord | null {
  const to = RECOVERABILITY_AFTER[mutation.recoverability][event];
  if (to === null) return null;
  const { mutation_id, tenant, run_id, rollback_id, ref, recoverability, execution, terms } = mutation;
  const moved: MovedMutation = {
    mutation_id,
    from_state: recoverability,
    to_state: to,
    reason: reason ?? null,
    verified: isVerified ?? false,
    rollback_id,
    step_id: stepId ?? null,
    subject_ref: ref.subject_ref,
    capability: ref.capability,
    agent_id: execution.agent_id,
    contracted: terms !== null,
    refund: refund ?? null,
    derived_from: parentsElsewhere(execution),
  };
  return record('RecoverabilityChanged', { tenant, run_id, event, members: [moved] });
}

/** Most moves of one record: whoever reads it decides about all of them at once (L4). */
const TOGETHER_MAX = 200;

/** Moves of one run as records: those by one event, next to each other, in one. */
export function together(moves: readonly MoveRecord[]): readonly MoveRecord[] {
  const done: MoveRecord[] = [];
  for (const next of moves) {
    const last = done.at(-1)?.body;
    const isAlike =
      last?.event === next.body.event && last.run_id === next.body.run_id && last.members.length < TOGETHER_MAX;
    if (!isAlike) done.push(next);
    else done[done.length - 1] = { ...next, body: { ...last, members: [...last.members, ...next.body.members] } };
  }
  return done;
}

/** The record of a move. */
export type MoveRecord = MutationRecord<'RecoverabilityChanged'>;
