// What the ledger records about one mutation: intents, executions, rollback marks and the way of its recovery.
//
// Invariants
//   M1. (run, effect key) is one mutation; a second report with other content changes it only where the execution table says so.
//   M2. A commit is rolled back once.
//   M3. Recoverability moves only as RECOVERABILITY_AFTER says.
//   M4. An execution whose end is not known has a deadline, after which a person is asked (P12).
import { assertNever } from '@recourse/kernel';
import type { JudgedRef, Money, RecoverabilityEvent, RollbackOpened, ToolExecuted, ToolPlanned } from '@recourse/messages';
import { contentHash } from '../content.js';
import { acceptExecution, acceptIntent } from './binding.decider.js';
import type { NamedContract } from './binding.decider.js';
import { EXECUTION_AFTER, RECOVERABILITY_AFTER } from './mutation.transitions.js';
import { isRecorded } from './mutation.messages.js';
import type { Body, Mutation, MutationFact, ReasonCode, RecordedMutation, RecoveryEvent, Trigger } from './mutation.messages.js';

/** How long the ledger waits for others. */
export interface LedgerPolicy {
  /** From an intent or an uncertain outcome until a person is asked, milliseconds. */
  readonly concludeWithinMs: number;
  /** How long that person has, milliseconds. */
  readonly reviewDeadlineMs: number;
}

/** A quarter of an hour is longer than tools take; what takes a person may take a day. */
export const LEDGER_POLICY: LedgerPolicy = { concludeWithinMs: 900_000, reviewDeadlineMs: 86_400_000 };

/** Who looks into executions nobody told the end of. */
const OWNER_OF_OVERDUE = 'role:administrator';

/** How a report relates to what is recorded. */
export type Standing = 'new' | 'known' | 'conflict';

/** Says whether an execution is new, was recorded already, or contradicts what was. */
export function standingOfExecution(event: ToolExecuted, mutation: Mutation | undefined): Standing {
  if (mutation === undefined) return 'new';
  if (mutation.executed_sha256?.equals(contentHash('ToolExecuted', event)) === true) return 'known';
  return EXECUTION_AFTER[mutation.execution_state][event.outcome] === null ? 'conflict' : 'new';
}

/** Says the same of an intent; one that comes after its execution tells nothing new. */
export function standingOfIntent(event: ToolPlanned, mutation: Mutation | undefined): Standing {
  if (mutation === undefined) return 'new';
  if (mutation.planned_sha256 === null) return 'known';
  return mutation.planned_sha256.equals(contentHash('ToolPlanned', event)) ? 'known' : 'conflict';
}

/** Records an execution with its reversal bound. Errors: PayloadUnreadable. */
export function recordExecution(id: string, event: ToolExecuted, named: NamedContract | null, judged: readonly JudgedRef[], mutation: Mutation | undefined, now: number, policy: LedgerPolicy): MutationFact {
  const accepted = acceptExecution(id, event, named, mutation?.recoverability ?? 'planned', now);
  const before = mutation?.execution_state ?? 'planned';
  const executionState = EXECUTION_AFTER[before][event.outcome] ?? before;
  return {
    type: 'MutationRecorded',
    body: {
      mutation_id: id,
      ...accepted,
      execution_state: executionState,
      judged,
      event_id: event.event_id,
      content_sha256: contentHash('ToolExecuted', event),
      conclude_by: executionState === 'uncertain' ? now + policy.concludeWithinMs : null,
    },
  };
}

/** Records an intent. Errors: PayloadUnreadable. */
export function recordIntent(id: string, event: ToolPlanned, named: NamedContract | null, now: number, policy: LedgerPolicy): MutationFact {
  const { event_id, assumption_refs, planned_at } = event;
  const accepted = acceptIntent(event, named);
  return {
    type: 'MutationPlanned',
    body: { mutation_id: id, ...accepted, assumption_refs, planned_at, event_id, content_sha256: contentHash('ToolPlanned', event), conclude_by: now + policy.concludeWithinMs },
  };
}

/** Records that a second report says something else; null when that very conflict is on record. */
export function recordConflict(event: { readonly type: 'ToolPlanned' | 'ToolExecuted'; readonly body: ToolPlanned | ToolExecuted }, mutation: Mutation): MutationFact | null {
  const conflicting = contentHash(event.type, event.body);
  if (mutation.conflict_sha256?.equals(conflicting) === true) return null;
  const recorded = (event.type === 'ToolPlanned' ? mutation.planned_sha256 : mutation.executed_sha256) ?? conflicting;
  const { mutation_id, run_id, tenant } = mutation;
  return { type: 'ExecutionConflicted', body: { mutation_id, run_id, tenant, event_id: event.body.event_id, recorded_sha256: recorded, conflicting_sha256: conflicting } };
}

/** Marks a commit rolled back, or remembers the trigger of one that is not recorded yet; null when either was done before. */
export function decideRollback(event: Body<RollbackOpened>, mutation: Mutation | undefined, waiting: Trigger | undefined): MutationFact | null {
  const { mutation_id, tenant, run_id, rollback_id, evidence } = event;
  if (isRecorded(mutation) && mutation.tenant === tenant) return rollBack(mutation, { mutation_id, tenant, run_id, rollback_id, evidence });
  return waiting === undefined ? { type: 'TriggerUnmatched', body: { mutation_id, tenant, run_id, rollback_id, evidence } } : null;
}

/** Marks a commit rolled back, with all that recovery needs; null when it is marked. */
export function rollBack(mutation: RecordedMutation, trigger: Trigger): MutationFact | null {
  if (mutation.rollback_id !== null) return null;
  const { mutation_id, tenant, run_id, execution, execution_state, recoverability, reason, terms, ref, recorded_hash } = mutation;
  const { rollback_id, evidence } = trigger;
  return { type: 'CommitRolledBack', body: { mutation_id, tenant, run_id, rollback_id, evidence, execution, execution_state, recoverability, reason, terms, ref, recorded_hash } };
}

/** Moves a mutation as its recovery goes; null when that changes nothing. */
export function decideRecovery(event: RecoveryEvent, mutation: RecordedMutation): MutationFact | null {
  const stepId = event.body.step_id;
  switch (event.type) {
    case 'LegDispatched': return isAttemptKnown(mutation, event.body.attempt) ? null : move(mutation, 'compensation_started', { stepId });
    case 'StepEscalated': return move(mutation, 'manual_required', { stepId, reason: event.body.reason });
    case 'StepDenied': return move(mutation, 'manual_required', { stepId, reason: 'DENIED' satisfies ReasonCode });
    case 'StepOutcomeRecorded': return moveByOutcome(mutation, event.body.outcome, event.body.reason, stepId);
    default: return assertNever(event);
  }
}

/** An attempt is on record once; the first one after a failure begins anew. */
function isAttemptKnown({ recoverability, compensation_attempts }: RecordedMutation, attempt: number): boolean {
  return recoverability === 'compensating' && attempt <= compensation_attempts;
}

/** Asks a person how an execution ended that nobody told the end of in time; null while there is time, and once a person was asked. */
export function escalateExecution(mutation: Mutation, now: number, policy: LedgerPolicy): MutationFact | null {
  const { mutation_id, tenant, run_id, execution_state, awaited } = mutation;
  if (awaited === null || awaited.is_overdue || now < awaited.deadline_at) return null;
  return { type: 'ExecutionOverdue', body: { mutation_id, tenant, run_id, execution_state, owner: OWNER_OF_OVERDUE, deadline_at: now + policy.reviewDeadlineMs } };
}

/** The clock closes a window; null where no reversal was available. */
export function closeWindow(mutation: RecordedMutation): MutationFact | null {
  return mutation.recoverability === 'reversal_available' ? move(mutation, 'window_closed', { reason: 'WINDOW_CLOSED' satisfies ReasonCode }) : null;
}

/** A stale resource was not touched and an uncertain step goes on: neither moves the mutation by itself. */
function moveByOutcome(mutation: RecordedMutation, outcome: 'compensated' | 'stale' | 'failed' | 'unverified' | 'uncertain', reason: string, stepId: string): MutationFact | null {
  switch (outcome) {
    case 'compensated': return move(mutation, 'compensation_verified', { stepId, refund: mutation.execution.value });
    case 'failed':
    case 'unverified': return move(mutation, 'compensation_failed', { stepId, reason });
    case 'stale':
    case 'uncertain': return null;
    default: return assertNever(outcome);
  }
}

interface MoveFacts { readonly stepId?: string; readonly reason?: string; readonly refund?: Money | null }

function move(mutation: RecordedMutation, event: RecoverabilityEvent, { stepId, reason, refund }: MoveFacts): MutationFact | null {
  const to = RECOVERABILITY_AFTER[mutation.recoverability][event];
  if (to === null) return null;
  const { mutation_id, tenant, run_id, rollback_id, ref, recoverability } = mutation;
  return {
    type: 'RecoverabilityChanged',
    body: { mutation_id, tenant, run_id, event, from_state: recoverability, to_state: to, reason: reason ?? null, rollback_id, step_id: stepId ?? null, ref, refund: refund ?? null },
  };
}
