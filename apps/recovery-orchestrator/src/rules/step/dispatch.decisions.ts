// Sends a step to a worker, or to a person when that can no longer be done in time.
//
// Invariants
//   S1. Policy is decided anew at every dispatch: window, mode, impact and approvals (C45, P3, P6).
//   S3. What was erased is called by nobody: its step is a person's before it joins a leg, which would reach no worker with it.
//   S2. Every attempt carries the same call and key (C49); attempts after the first reconcile before they act (L11).
import type { Lease } from '@recourse/kernel';
import { checksOf } from '@recourse/contract';
import { backoffMs, deriveId, grantLease, leaseIdOf } from '@recourse/kernel';
import type { ContractTerms, Execution, LegMember, LegStep, MutationRef, Pace, RecoveryCall } from '@recourse/messages';
import {
  approvalState,
  callsMs,
  decideRecovery,
  handleOf,
  impactOf,
  requiredApprovals,
  reversalToken,
  riskOf,
  windowOf,
} from '../decision/recovery.decisions.js';
import type { RecoveryFacts } from '../decision/recovery.decisions.js';
import { handleInForce, inForce, isRiskier } from '../decision/in-force.decisions.js';
import type { Binding } from '../decision/in-force.decisions.js';
import { OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { isCallErased } from './facts.decisions.js';
import { agreeing } from './glass.decisions.js';
import { identityOf } from './step.messages.js';
import type { EscalationReason, StepDoc } from './step.messages.js';
import { ESCALATION_OF_VERDICT } from './step.transitions.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';

/** An attempt that may be made. */
export interface Attempt {
  readonly kind: 'attempt';
  readonly attempt: number;
  readonly call: RecoveryCall;
  readonly terms: ContractTerms;
  readonly lease: Extract<Lease, { kind: 'granted' }>;
  readonly firstAt: number;
}

/** What the next attempt would be, and whether there is one. */
export type NextAttempt = Attempt | { readonly kind: 'person'; readonly reason: EscalationReason };

/** A step that may go to a worker now. */
export interface Ready {
  readonly step: StepDoc;
  readonly next: Attempt;
  /** Those that should have ended before it, and are gone without. */
  readonly outstanding: readonly string[];
  readonly paced: readonly Pace[];
}

/** Gives a step to a person. */
export function escalated(step: StepDoc, reason: string, now: number, policy: RecoveryPolicy): RecoveryRecord {
  return record('StepEscalated', {
    ...identityOf(step),
    reason,
    owner: OWNER_OF_MANUAL,
    deadline_at: now + policy.reviewDeadlineMs,
    outcome_kind: 'escalated',
  });
}

/** The facts of now: what the effect was bound to, and whatever was tightened since. */
function factsOf(step: StepDoc, binding: Binding, now: number, policy: RecoveryPolicy): RecoveryFacts {
  const { terms, ref, policies } = binding;
  return {
    execution: step.execution_state,
    recoverability: 'reversal_available',
    window: windowOf(ref, terms, now, policy.marginMs),
    handle: handleInForce(handleOf(step.terms, step.ref), binding),
    mode: terms.recovery_approval_mode,
    impact: impactOf(terms),
    risk: riskOf(terms, policy.riskLimit),
    policies,
    approval: approvalState(agreeing(step, now), step.required_approvals),
  };
}

/** When a step whose attempt did not settle goes on. A copy that may still act is waited for; milliseconds. */
export function retryAt(step: StepDoc, now: number, policy: RecoveryPolicy, isCopyFeared: boolean): number {
  const backedOff = now + backoffMs(Math.max(step.attempt, 1), policy.backoff);
  return isCopyFeared ? Math.max(backedOff, step.legs.at(-1)?.answer_by ?? backedOff) : backedOff;
}

/** Attempts are used up. */
export function isExhausted(step: StepDoc): boolean {
  return step.attempt - step.attempts_before >= (step.terms?.max_attempts ?? 0);
}

/** Why a person is asked after the last attempt. */
export function reasonAfterLast(step: StepDoc): EscalationReason {
  const last = step.last;
  if (last === null) return 'OUTCOME_UNKNOWN';
  if (last.reported === 'verified' || last.reported === 'unverified') return 'VERIFICATION_FAILED';
  return ESCALATION_OF_VERDICT[last.outcome] ?? 'OUTCOME_UNKNOWN';
}

/** Contract or policies ask for more people by now than have agreed, or people agreed to less than it risks by now. */
function isTightened(step: StepDoc, binding: Binding, now: number, policy: RecoveryPolicy): boolean {
  const { terms } = binding;
  const risk = riskOf(terms, policy.riskLimit);
  const required = requiredApprovals(terms.recovery_approval_mode, impactOf(terms), step.answerable_to, risk);
  return required > agreeing(step, now) || (risk === 'above' && isRiskier(binding, step.in_force));
}

/** A tool recognises a repeated call, or said of the last one that it had no effect: under its claim nobody else called (L11). */
export function mayRepeat({ last }: StepDoc, { key_lifetime_ms }: ContractTerms): boolean {
  return key_lifetime_ms !== null || (last?.reported === 'failed' && last.outcome === 'failed');
}

/** Why the policy and the facts of now give it to a person; null where they let it go. */
function refusedBy(step: StepDoc, binding: Binding, now: number, policy: RecoveryPolicy): EscalationReason | null {
  const facts = factsOf(step, binding, now, policy);
  const { decision, reason } = decideRecovery(facts);
  if (reason === 'RECOVERY_POLICY_UNDECIDED') return reason;
  if (isTightened(step, binding, now, policy)) return 'POLICY_CHANGED';
  if (decision === 'compensate_now' && reversalToken(facts) === 'valid') return null;
  return reason === 'REVERSAL_EXPIRED' ? reason : 'POLICY_CHANGED';
}

/** What it depends on, beside the contract, how long a key is known. */
type KeyKnownBy = Pick<RecoveryPolicy, 'marginMs' | 'earliest'>;

/**
 * From when on the provider knows the key of a step, at the earliest.
 *
 * Shape:  what went out while the time of the log lay ahead is known for less long than its own time says; where nobody can say for
 *         how long, no more. Nothing is known of a first attempt, which repeats nothing.
 */
function keyKnownFrom({ first_dispatched_at: firstAt }: StepDoc, now: number, { earliest }: KeyKnownBy): number {
  return firstAt === null ? now : (earliest(firstAt) ?? -Infinity);
}

/** Why there is no further attempt, whatever policy and facts say; null where there may be one. */
function spentBy(step: StepDoc, terms: ContractTerms): EscalationReason | null {
  if (step.attempt > step.attempts_before && isExhausted(step)) return reasonAfterLast(step);
  if (isCallErased(step)) return reasonOfErased(step);
  return step.attempt > 0 && !mayRepeat(step, terms) ? 'KEY_LIFETIME_OVER' : null;
}

/** What would be called was erased: the last attempt may have taken effect all the same, unless it is known to have had none. */
function reasonOfErased(step: StepDoc): EscalationReason {
  const hadNone = step.last === null || (step.last.reported === 'failed' && step.last.outcome === 'failed');
  return hadNone ? 'PAYLOADS_ERASED' : reasonAfterLast(step);
}

/** The lease of the next attempt, within the window of the reversal and the life of its key. */
function leaseOf(
  step: StepDoc,
  { terms, windowEndsAt }: { readonly terms: ContractTerms; readonly windowEndsAt: number },
  now: number,
  policy: KeyKnownBy & Pick<RecoveryPolicy, 'leaseMs'>,
): Lease {
  const bounds = {
    windowEndsAt,
    firstDispatchedAt: keyKnownFrom(step, now, policy),
    keyLifetimeMs: terms.key_lifetime_ms,
    callTimeoutMs: callsMs(step.ref, terms),
    now,
  };
  return grantLease(bounds, policy);
}

/** Whether the tool would recognise a call that is repeated now, for however short a time. */
export function isKeyKnown(step: StepDoc, terms: ContractTerms, now: number, policy: KeyKnownBy): boolean {
  const lease = leaseOf(step, { terms, windowEndsAt: Number.MAX_SAFE_INTEGER }, now, { ...policy, leaseMs: 0 });
  return lease.kind === 'granted' || lease.reason !== 'KEY_LIFETIME_OVER';
}

/** The next attempt of a step, by policy and facts of now (S1). */
export function nextAttempt(step: StepDoc, now: number, policy: RecoveryPolicy): NextAttempt {
  const { call, terms } = step;
  const binding = terms === null ? null : inForce(step, terms, policy);
  const windowEndsAt = binding?.ref.reversal_expires_at ?? null;
  if (call === null || terms === null || binding === null || windowEndsAt === null)
    return { kind: 'person', reason: 'POLICY_CHANGED' };
  const attempt = step.attempt + 1;
  const reason = spentBy(step, terms) ?? refusedBy(step, binding, now, policy);
  if (reason !== null) return { kind: 'person', reason };
  const firstAt = step.first_dispatched_at ?? now;
  const lease = leaseOf(step, { terms, windowEndsAt }, now, policy);
  return lease.kind === 'granted'
    ? { kind: 'attempt', attempt, call, terms, lease, firstAt }
    : { kind: 'person', reason: lease.reason };
}

/** Sends steps to a worker as one leg, in their order; the first of them tells attempt, adapter and lease. */
export function dispatched(leg: readonly [Ready, ...Ready[]], policy: RecoveryPolicy): RecoveryRecord {
  const [{ step, next }] = leg;
  const { attempt, call } = next;
  const legId = deriveId('leg', step.step_id, attempt);
  const { notAfter } = next.lease;
  const { recovery_id, tenant, run_id } = step;
  return record('LegDispatched', {
    recovery_id,
    tenant,
    run_id,
    leg_id: legId,
    adapter: call.adapter_id,
    attempt,
    lease_id: leaseIdOf(policy.leaseKey, legId, attempt, notAfter),
    not_after: notAfter,
    answer_by: Math.max(...leg.map((one) => notAfter + one.next.lease.answerBy - one.next.lease.notAfter)),
    // Without a key there is a later attempt only after one that had no effect; its worker looks all the same, and may then act.
    reconcile_first: attempt > 1 && next.terms.key_lifetime_ms !== null,
    members: leg.map(memberOf),
  });
}

function memberOf({ step, next, outstanding, paced }: Ready): LegMember {
  return {
    mutation_id: step.mutation_id,
    approval_id: (step.glass_until === null ? step.approvals : step.glass).at(-1)?.approval_id ?? null,
    first_dispatched_at: next.firstAt,
    outstanding,
    paced,
    step: askOf({ ...step, call: next.call, terms: next.terms }),
  };
}

/** What a worker is told of a step. */
export function askOf({
  step_id,
  call,
  terms,
  ref,
  execution = null,
  calls_done = 0,
}: {
  readonly step_id: string;
  readonly call: RecoveryCall;
  readonly terms: ContractTerms;
  readonly ref: MutationRef;
  readonly execution?: Execution | null;
  readonly calls_done?: number;
}): LegStep {
  return {
    step_id,
    call,
    agent_id: execution?.agent_id ?? null,
    subject_ref: ref.subject_ref,
    external_transaction_ref: ref.external_transaction_ref,
    ...checksOf(terms),
    calls_done,
  };
}
