// Opens the step of a commit the ledger marked: binds the call, decides by the table, and goes on at once where nobody must be asked.
import { createHash } from 'node:crypto';
import { canonicalJson, deriveId } from '@recourse/kernel';
import type { CommitRolledBack, ContractTerms, MutationRef, RecoveryCall } from '@recourse/messages';
import { decideRecovery, handleOf, impactOf, requiredApprovals } from '../decision/recovery.decisions.js';
import type { RecoveryDecision } from '../decision/recovery.decisions.js';
import { dispatchableUntil, windowOf } from '../lease/lease.decisions.js';
import { OWNER_OF_APPROVALS, OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import type { FactBodies } from './step.messages.js';

export type Marked = Omit<CommitRolledBack, 'seq' | 'prev_hash' | 'decided_at'>;

/** Ids follow from their cause (L1). */
export function recoveryIdOf(tenant: string, runId: string): string { return deriveId('rec', tenant, runId); }
export function stepIdOf(rollbackId: string, mutationId: string): string { return deriveId('step', rollbackId, mutationId); }

/** Decides what is done about a marked commit: the body of `StepDecided`. */
export function openStep(marked: Marked, now: number, policy: RecoveryPolicy): FactBodies['StepDecided'] {
  const { ref, terms, execution } = marked;
  const mode = terms?.recovery_approval_mode ?? 'human';
  const impact = impactOf(terms);
  const answerableTo = execution.initiator ?? policy.ownerOf(marked.tenant, execution.agent_id);
  const required = requiredApprovals(mode, impact, answerableTo);
  const handle = handleOf(terms, ref);
  const window = windowOf(ref, terms, now, policy.marginMs);
  const chosen = decideRecovery({ execution: marked.execution_state, recoverability: marked.recoverability, window, handle, mode, impact, approval: 'none' });
  const call = terms === null || handle !== 'bound' ? null : callOf(marked, terms, required);
  return {
    ...opened(marked, chosen, now, policy),
    call,
    action_digest: call === null || terms === null ? null : actionDigest({ tenant: marked.tenant, call, terms, ref }),
    required_approvals: required,
    answerable_to: answerableTo,
  };
}

/** What an approval covers (P4); any change of one of these voids it. */
export interface Action {
  readonly tenant: string;
  readonly call: RecoveryCall;
  readonly terms: ContractTerms;
  readonly ref: MutationRef;
}

/**
 * SHA-256 over the canonical JSON of tenant, call, contract, expected version and subject.
 *
 * Shape:  arguments enter by their hash, so the digest can be shown where they may not.
 * Source: P4; DESIGN 6.3.
 */
export function actionDigest(action: Action): Buffer {
  const { call, terms, ref } = action;
  const { args, ...named } = call;
  const covered = {
    tenant: action.tenant,
    call: { ...named, args_sha256: args.sha256.toString('hex') },
    contract_digest: terms.contract_digest.toString('hex'),
    expected: { capability: terms.stale_capability, condition: terms.stale_condition },
    subject_ref: ref.subject_ref,
    external_transaction_ref: ref.external_transaction_ref,
  };
  return createHash('sha256').update(canonicalJson(covered)).digest();
}

type OpenedBody = Omit<FactBodies['StepDecided'], 'call' | 'action_digest' | 'required_approvals' | 'answerable_to'>;

function opened(marked: Marked, chosen: RecoveryDecision, now: number, policy: RecoveryPolicy): OpenedBody {
  const isForPeople = chosen.decision === 'request_approval';
  return {
    step_id: stepIdOf(marked.rollback_id, marked.mutation_id),
    recovery_id: recoveryIdOf(marked.tenant, marked.run_id),
    rollback_id: marked.rollback_id,
    tenant: marked.tenant,
    run_id: marked.run_id,
    mutation_id: marked.mutation_id,
    decision: chosen.decision,
    reason: chosen.reason,
    execution: marked.execution,
    terms: marked.terms,
    ref: marked.ref,
    evidence: marked.evidence,
    reverses_record_hash: marked.recorded_hash,
    owner: isForPeople ? OWNER_OF_APPROVALS : OWNER_OF_MANUAL,
    deadline_at: deadlineOf(marked, chosen, now, policy),
  };
}

/** A question to people ends with their patience or with the last instant a dispatch could begin. */
function deadlineOf(marked: Marked, chosen: RecoveryDecision, now: number, policy: RecoveryPolicy): number {
  const patience = now + policy.reviewDeadlineMs;
  const { ref, terms } = marked;
  if (chosen.decision === 'manual_review' || ref.reversal_expires_at === null || terms === null) return patience;
  return Math.max(now, Math.min(patience, dispatchableUntil(ref.reversal_expires_at, terms.call_timeout_ms, policy.marginMs)));
}

function callOf(marked: Marked, terms: ContractTerms, required: number): RecoveryCall | null {
  const { ref } = marked;
  if (ref.reversal_capability === null || ref.reversal_args === null) return null;
  return {
    call_id: `rev_${ref.mutation_id}`,
    run_id: marked.run_id,
    adapter_id: terms.adapter,
    capability: ref.reversal_capability,
    args: ref.reversal_args,
    approval_mode: required === 0 ? 'network' : 'delegated',
    policy_ref: terms.recovery_policy_ref,
    idempotency_key: `rev_${ref.idempotency_key}`,
    reverses_mutation_ref: ref.mutation_id,
  };
}
