// Opens the step of a commit the ledger marked: binds the call, decides by the table, and goes on at once where nobody must be asked.
import { createHash } from 'node:crypto';
import { recoveryIdOf } from '@recourse/messages';
import { canonicalJson, deriveId, personBehind } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Contract } from '@recourse/contract';
import type { ContractTerms, Fallen, MutationRef, Planned, RecoveryCall, ReversalCall } from '@recourse/messages';
import {
  callsMs,
  decideRecovery,
  dispatchableUntil,
  handleOf,
  impactOf,
  requiredApprovals,
  reversalToken,
  riskOf,
  windowOf,
} from '../decision/recovery.decisions.js';
import { handleInForce, inForce, refInForce } from '../decision/in-force.decisions.js';
import type { Binding } from '../decision/in-force.decisions.js';
import type { DecisionReason, Handle, RecoveryDecision } from '../decision/recovery.decisions.js';
import { OWNER_OF_APPROVALS, OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { bindFromSteps } from './binding.decisions.js';
import type { StepDoc } from './step.messages.js';
import type { Body } from '../record.messages.js';

/** A mark as far as recovery goes: who was admitted how is the ledger's. */
export type Marked = Omit<Fallen, 'admission'> & {
  /** When its trigger was admitted, epoch milliseconds. */
  readonly triggered_at: number;
};

/** Ids follow from their cause (L1). */
export function stepIdOf(rollbackId: string, mutationId: string): string {
  return deriveId('step', rollbackId, mutationId);
}

/** What binding a step may look at beside what is marked. */
export interface Around {
  /** The contract the mutation executed under; null when nobody knows it. */
  readonly contract: Contract | null;
  /** Steps of the run. */
  readonly steps: readonly StepDoc[];
}

/** Decides what is done about a marked commit: as its plan holds it. */
export function openStep(marked: Marked, now: number, policy: RecoveryPolicy, around: Around): Planned {
  const { ref, handle, missing } = handled(marked, around);
  const recoverability = marked.reason === AFTER_CANCEL ? 'cancelled' : marked.recoverability;
  const decided = decideOn({ ...marked, ref, recoverability }, handle, now, policy);
  const lacking = missing ?? lackingFor(handle, marked.reason);
  return { ...opened({ ...marked, ref }, decided.chosen, now, policy), ...decided.bound, lacking };
}

/** Decides again about a commit the ledger has learnt more of since it was marked: the body of `MutationAdvanced`. */
export function advanceStep(
  marked: Marked,
  now: number,
  policy: RecoveryPolicy,
  around: Around,
): Body<'MutationAdvanced'> {
  const { evidence: _told, triggered_at: _since, wait: _order, ...decided } = openStep(marked, now, policy, around);
  return { ...decided, recoverability: marked.recoverability };
}

/** What plans and `StepBound` say of a call. */
interface DecidedCall {
  readonly chosen: RecoveryDecision;
  readonly bound: Pick<
    Planned,
    'call' | 'action_digest' | 'required_approvals' | 'in_force' | 'answerable_to' | 'outcome_kind'
  >;
}

/** What the table and the call are made of. */
export type Undecided = Pick<
  Marked,
  | 'tenant'
  | 'run_id'
  | 'mutation_id'
  | 'execution'
  | 'execution_state'
  | 'recoverability'
  | 'terms'
  | 'ref'
  | 'evidence'
>;

/** Decides by the table, and makes the call where there can be one. */
export function decideOn(marked: Undecided, handle: Handle, now: number, policy: RecoveryPolicy): DecidedCall {
  const { ref, terms, execution } = marked;
  const binding = terms === null ? null : inForce(marked, terms, policy);
  const { mode, impact, risk, policies, told } = governed(binding, policy);
  const { agent_id: agent, initiator } = execution;
  const answerableTo = personBehind({ initiator, acting: [agent] }) ?? policy.ownerOf(marked.tenant, agent);
  const required = requiredApprovals(mode, impact, answerableTo, risk);
  const window = windowOf(binding?.ref ?? ref, terms, now, policy.marginMs);
  const chosen = decideRecovery({
    execution: marked.execution_state,
    recoverability: marked.recoverability,
    window,
    handle: handleInForce(handle, binding),
    mode,
    impact,
    risk,
    policies,
    approval: 'none',
  });
  const call = terms === null || handle !== 'bound' ? null : callOf(marked, terms, required);
  const digest = call === null || terms === null ? null : actionDigest({ tenant: marked.tenant, call, terms, ref });
  const isRefused =
    chosen.decision === 'manual_review' &&
    reversalToken({ window, handle, recoverability: marked.recoverability }) === 'refused';
  return {
    chosen,
    bound: {
      call,
      action_digest: digest,
      required_approvals: required,
      in_force: told,
      answerable_to: answerableTo,
      outcome_kind: isRefused ? 'reversal_refused' : null,
    },
  };
}

/** What binds, as the table asks for it; people where no contract does. */
function governed(binding: Binding | null, { riskLimit }: RecoveryPolicy) {
  const terms = binding?.terms ?? null;
  const mode = terms?.recovery_approval_mode ?? 'human';
  return {
    mode,
    impact: impactOf(terms),
    risk: riskOf(terms, riskLimit),
    policies: binding?.policies ?? 'decided',
    told: binding?.told ?? null,
  } as const;
}

/** A handle, and what it still takes from other steps. */
interface Handled {
  readonly ref: MutationRef;
  readonly handle: Handle;
  readonly missing?: readonly string[];
}

/** What the ledger says of an effect whose handle somebody else named first. */
export const HANDLE_CLAIMED = 'HANDLE_CLAIMED' satisfies DecisionReason;
/** Of one that named its handle after it fell: until the ledger knows whose it is, nothing is called by it. */
export const HANDLE_ASKED = 'HANDLE_ASKED' satisfies DecisionReason;

/** Of one that took hold in spite of its cancel. */
const AFTER_CANCEL = 'EXECUTED_AFTER_CANCEL' satisfies DecisionReason;

/** The handle, with arguments from earlier compensations where the contract takes some from there. */
function handled(marked: Marked, { contract, steps }: Around): Handled {
  const { ref, terms } = marked;
  if (marked.reason === HANDLE_CLAIMED) return { ref, handle: 'claimed' };
  if (marked.reason === HANDLE_ASKED) return { ref, handle: 'asked' };
  const handle = handleOf(terms, ref);
  if (handle !== 'incomplete') return { ref, handle };
  // What does not fit already does not fit better with what others give.
  if (marked.reason?.startsWith('REVERSAL_ARGS_UNFIT:') === true) return { ref, handle };
  const binding = bindFromSteps(marked, contract, steps);
  switch (binding.kind) {
    case 'bound':
      return { ref: binding.ref, handle: handleOf(terms, binding.ref) };
    case 'pending':
      return { ref, handle: 'step_pending', missing: binding.missing };
    case 'missing':
      return { ref, handle: 'step_missing', missing: binding.missing };
    case 'incomplete':
      return { ref, handle };
  }
}

const PLACES_OF_REASON: Readonly<Record<string, readonly string[]>> = {
  HANDLE_MISSING: ['external_transaction_ref'],
  PRIOR_VALUE_MISSING: ['prior_value'],
  WINDOW_MISSING: ['reversal_window_ms'],
};

/** Reasons that name the places themselves. */
const WITH_PLACES: readonly string[] = ['REVERSAL_ARGS_INCOMPLETE', 'REVERSAL_ARGS_UNFIT'];

/** Names what nobody captured, as the ledger found it when it bound the effect (C30): never guessed, and looked up nowhere else. */
function lackingFor(handle: Handle, reason: string | null): readonly string[] {
  if (handle === 'uncontracted') return ['contract_digest'];
  if (handle === 'unverifiable') return ['verification'];
  const [code = '', places] = reason?.split(':') ?? [];
  return WITH_PLACES.includes(code) && places !== undefined ? places.split(',') : (PLACES_OF_REASON[code] ?? []);
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
 * Source: P4; docs/design/recovery.md.
 */
export function actionDigest(action: Action): Buffer {
  const { call, terms, ref } = action;
  const { args, then, ...named } = call;
  const covered = {
    tenant: action.tenant,
    call: { ...named, args_sha256: args.sha256.toString('hex'), then: then.map(furtherCovered) },
    contract_digest: terms.contract_digest.toString('hex'),
    expected: { capability: terms.stale_capability, condition: terms.stale_condition },
    subject_ref: ref.subject_ref,
    external_transaction_ref: ref.external_transaction_ref,
  };
  return createHash('sha256').update(canonicalJson(covered)).digest();
}

/** Every further call is agreed to with the first: what it calls, with what, and what proves it. */
function furtherCovered({ args, taken, ...named }: ReversalCall): Json {
  return { ...named, args_sha256: args.sha256.toString('hex'), taken: taken.map((one) => ({ ...one })) };
}

type OpenedBody = Omit<
  Planned,
  'call' | 'action_digest' | 'required_approvals' | 'in_force' | 'answerable_to' | 'outcome_kind' | 'lacking'
>;

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
    execution_state: marked.execution_state,
    terms: marked.terms,
    ref: marked.ref,
    evidence: marked.evidence,
    triggered_at: marked.triggered_at,
    reverses_record_hash: marked.recorded_hash,
    executed_seq: marked.recorded_seq,
    found_out: marked.found_out,
    owner: isForPeople ? OWNER_OF_APPROVALS : OWNER_OF_MANUAL,
    deadline_at: deadlineOf(marked, chosen, now, policy),
    wait: null,
  };
}

/** A question to people ends with their patience or with the last instant a dispatch could begin. */
export function deadlineOf(
  marked: Pick<Marked, 'tenant' | 'ref' | 'terms'>,
  chosen: RecoveryDecision,
  now: number,
  policy: RecoveryPolicy,
): number {
  const patience = now + policy.reviewDeadlineMs;
  const { terms } = marked;
  const ref = refInForce(marked, policy);
  if (chosen.decision === 'manual_review' || ref.reversal_expires_at === null || terms === null) return patience;
  return Math.max(
    now,
    Math.min(patience, dispatchableUntil(ref.reversal_expires_at, callsMs(ref, terms), policy.marginMs)),
  );
}

function callOf(marked: Undecided, terms: ContractTerms, required: number): RecoveryCall | null {
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
    // Of this effect alone: producers may use one key in many runs.
    idempotency_key: `rev_${ref.mutation_id}`,
    reverses_mutation_ref: ref.mutation_id,
    then: ref.reversal_then,
  };
}
