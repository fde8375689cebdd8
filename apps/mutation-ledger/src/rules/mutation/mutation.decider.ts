// What the ledger records about one mutation: intents, executions, rollback marks and the way of its recovery.
//
// Invariants
//   M1. (run, effect key) is one mutation; a second report with other content changes it only where the execution table says so.
//   M2. A commit is rolled back once.
//   M3. Who said that it acts, or that it acted, says how that ended: what another agent says of its effect is a conflict on record.
//   M4. An execution whose end is not known has a deadline, after which a person is asked (P12).
import { hasSideEffects } from '@recourse/contract';
import { MARGIN_MS } from '@recourse/kernel';
import type {
  DueConsumer,
  ExecutionState,
  JudgedRef,
  MutationRef,
  ToolExecuted,
  ToolPlanned,
  Fallen,
} from '@recourse/messages';
import { contentHash } from '../identity.js';
import { OWNER_OF_CLOSING } from '../owners.js';
import { askPerson, askWorker, canReconcile } from './asking.decider.js';
import type { AskPolicy } from './asking.decider.js';
import { acceptExecution, acceptIntent, UNKNOWN_BEFORE } from './binding.decider.js';
import type { Acceptance, Telling } from './binding.decider.js';
import type { NamedContract } from './bound.decisions.js';
import { EXECUTION_AFTER } from './mutation.transitions.js';
import { reviewBy } from './settling.decider.js';
import type { Mutation, RecordedMutation } from './mutation.messages.js';
import type { Admitted } from '../rollback/rollback.messages.js';
import type { MutationRecord } from '../record.messages.js';

/** How long the ledger waits for others, and how it asks workers. */
export interface LedgerPolicy extends AskPolicy {
  /** From an intent or an uncertain outcome until a person is asked, milliseconds. */
  readonly concludeWithinMs: number;
  /** People are warned so long before a window closes, or when a tenth of it is left if that is less; milliseconds. */
  readonly warnLeadMs: number;
}

/** A quarter of an hour is longer than tools take; what takes a person may take a day. Without a key no worker is asked. */
export const LEDGER_POLICY: LedgerPolicy = {
  concludeWithinMs: 900_000,
  reviewDeadlineMs: 86_400_000,
  warnLeadMs: 3_600_000,
  leaseKey: null,
  leaseMs: 30_000,
  marginMs: MARGIN_MS,
  askAttemptsMax: 5,
  backoff: { baseMs: 1_000, maxMs: 60_000 },
  earliest: (at) => at,
};

/** Nobody can act on a warning that comes less than a minute before the end; milliseconds. */
const WARN_LEAD_MIN_MS = 60_000;
/** Part of a window that is left when people are warned at the latest. */
const WARN_FRACTION = 10;

/** Records an execution with its reversal bound. Errors: PayloadUnreadable. */
export function recordExecution(
  id: string,
  telling: Telling,
  named: NamedContract | null,
  judged: readonly JudgedRef[],
  mutation: Mutation | undefined,
  now: number,
  policy: LedgerPolicy,
): Extract<MutationRecord, { type: 'MutationRecorded' }> {
  const { event, found_out } = telling;
  const accepted = acceptExecution(id, telling, named, mutation ?? UNKNOWN_BEFORE, {
    now,
    trueNow: policy.earliest(now) ?? now,
  });
  const before = mutation?.execution_state ?? 'planned';
  const executionState = EXECUTION_AFTER[before][event.outcome] ?? before;
  const rollbackId = mutation?.rollback_id ?? null;
  const { ref, recoverability } = accepted;
  const isEscalated = accepted.reason?.startsWith('ESCALATED:') === true;
  return {
    type: 'MutationRecorded',
    body: {
      mutation_id: id,
      ...accepted,
      execution_state: executionState,
      rollback_id: rollbackId,
      judged,
      event_id: event.event_id,
      content_sha256: contentHash('ToolExecuted', event),
      ...(isEscalated
        ? { conclude_by: null, reconcile_at: null }
        : concluding(executionState, accepted, mutation, { now, policy })),
      warn_at: recoverability === 'reversal_available' ? warnAt(ref, policy) : null,
      review_by: rollbackId === null || isEscalated ? reviewBy(recoverability, isEscalated, now, policy) : null,
      found_out,
      signing_key: null,
      handle_ref: null,
    },
  };
}

/** By when somebody has to find out how it ended, and when a worker is asked. How a read ended matters to nobody. */
function concluding(
  executionState: ExecutionState,
  { terms, reason }: Pick<Acceptance, 'terms' | 'reason'>,
  mutation: Mutation | undefined,
  { now, policy }: { readonly now: number; readonly policy: LedgerPolicy },
): { readonly conclude_by: number | null; readonly reconcile_at: number | null } {
  if (executionState !== 'uncertain' || reason === 'READ_ONLY') return { conclude_by: null, reconcile_at: null };
  const canAsk = terms !== null && canReconcile({ terms, forward: mutation?.forward ?? null }, policy);
  return {
    conclude_by: now + policy.concludeWithinMs,
    reconcile_at: canAsk ? now + terms.call_timeout_ms + policy.marginMs : null,
  };
}

/** When people are warned of the end of a window; null when it is too short for anybody to act on it. */
function warnAt(
  { committed_at, reversal_expires_at: endsAt }: MutationRef,
  { warnLeadMs }: LedgerPolicy,
): number | null {
  if (endsAt === null) return null;
  const leadMs = Math.min(warnLeadMs, Math.floor((endsAt - committed_at) / WARN_FRACTION));
  return leadMs < WARN_LEAD_MIN_MS ? null : endsAt - leadMs;
}

/** Records an intent; one that is held waits for the end of its hold, every other for its outcome. Errors: PayloadUnreadable. */
export function recordIntent(
  id: string,
  event: ToolPlanned,
  named: NamedContract | null,
  judged: readonly JudgedRef[],
  now: number,
  policy: LedgerPolicy,
): Extract<MutationRecord, { type: 'MutationPlanned' }> {
  const accepted = acceptIntent(event, named);
  const isReading = named !== null && !hasSideEffects(named.contract);
  const hold = event.is_held ? (accepted.terms?.hold ?? null) : null;
  return {
    type: 'MutationPlanned',
    body: {
      mutation_id: id,
      ...accepted,
      assumption_refs: event.assumption_refs,
      planned_at: event.planned_at,
      event_id: event.event_id,
      content_sha256: contentHash('ToolPlanned', event),
      conclude_by: hold === null && !isReading ? now + policy.concludeWithinMs : null,
      hold_until: hold === null ? null : now + hold.hold_ms,
      judged: hold === null ? [] : judged,
      signing_key: null,
      handle_ref: null,
    },
  };
}

/** Records that a second report says something else; null when that very conflict is on record. */
export function recordConflict(
  event: { readonly type: 'ToolPlanned' | 'ToolExecuted'; readonly body: ToolPlanned | ToolExecuted },
  mutation: Mutation,
): MutationRecord | null {
  const conflicting = contentHash(event.type, event.body);
  if (mutation.conflict_sha256?.equals(conflicting) === true) return null;
  const recorded = (event.type === 'ToolPlanned' ? mutation.planned_sha256 : mutation.executed_sha256) ?? conflicting;
  const { mutation_id, run_id, tenant } = mutation;
  return {
    type: 'ExecutionConflicted',
    body: {
      mutation_id,
      run_id,
      tenant,
      event_id: event.body.event_id,
      recorded_sha256: recorded,
      conflicting_sha256: conflicting,
    },
  };
}

/** Marks a commit rolled back, with all that recovery needs. That it is marked once is its rollback's to say (M2). */
export function rollBack(
  mutation: RecordedMutation,
  { rollback_id, evidence, admission }: Admitted,
  consumers: readonly DueConsumer[],
): Fallen {
  const {
    mutation_id,
    tenant,
    run_id,
    execution,
    execution_state,
    recoverability,
    reason,
    terms,
    ref,
    recorded_hash,
    recorded_seq,
    found_out,
  } = mutation;
  return {
    mutation_id,
    tenant,
    run_id,
    rollback_id,
    evidence,
    admission,
    execution,
    execution_state,
    recoverability,
    reason,
    terms,
    ref,
    recorded_hash,
    recorded_seq: recorded_seq ?? 0,
    consumers: [...consumers],
    found_out,
  };
}

/** Asks how an execution ended that nobody told the end of in time: a worker where one can find out, else a person, once. */
export function concludeExecution(mutation: Mutation, now: number, policy: LedgerPolicy): MutationRecord {
  return canReconcile(mutation, policy)
    ? askWorker(mutation, 'reconcile', now, policy)
    : askPerson(mutation, now, policy);
}

/** Warns people that a window closes soon. */
export function warnOfEnd(mutation: Mutation): MutationRecord | null {
  const { mutation_id, tenant, run_id, execution, terms, expires_at } = mutation;
  if (expires_at === null) return null;
  return {
    type: 'WindowClosing',
    body: {
      mutation_id,
      tenant,
      run_id,
      capability: execution.capability,
      runbook: terms?.compensation?.runbook ?? null,
      owner: OWNER_OF_CLOSING,
      closes_at: expires_at,
    },
  };
}
