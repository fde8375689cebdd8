// Terms: what of a contract a mutation carries along, with the defaults resolved (L2).
import type {
  Brief,
  CompensationTerms,
  ContractTerms,
  HoldTerms,
  LegStep,
  MutationRef,
  ReversalClass,
} from '@recourse/messages';
import { adapterOf, availableFor, hasSideEffects, reversalCapabilityOf } from './class.js';
import type { Contract } from './shape.js';

/** Longest a tool call may take when the contract does not say; milliseconds. */
export const CALL_TIMEOUT_MS = 10_000;
/** Dispatches of a step when the contract does not say: one, and two after an uncertain outcome. */
export const MAX_ATTEMPTS = 3;
/** Pause between two observations of the result when the contract does not say; milliseconds. */
export const VERIFY_DELAY_MS = 500;

/**
 * Says what a mutation under this contract is recovered by.
 *
 * Shape:  `contract` is a registered one: its version is stamped. A contract of a draft without version counts as version 1.
 *         `superseded` says that it did not bind any more when it was named.
 */
export function termsOf(contract: Contract, digest: Buffer, superseded = false): ContractTerms {
  const reversal = reversalCapabilityOf(contract);
  return {
    contract_digest: digest,
    contract_name: contract.name,
    contract_version: contract.version ?? 1,
    adapter: adapterOf(reversal ?? contract.name),
    reversal_capability: reversal,
    recovery_approval_mode: contract.recovery_approval_mode ?? 'human',
    recovery_policy_ref: contract.recovery_policy_ref ?? null,
    impact: contract.impact,
    effect: contract.effect,
    residue: contract.residue ?? null,
    reversal_window_ms: reversal === null ? null : availableFor(contract),
    call_timeout_ms: contract.call_timeout_ms ?? CALL_TIMEOUT_MS,
    key_lifetime_ms: contract.idempotency?.key_lifetime_ms ?? null,
    reconcile_capability: contract.reconcile_capability ?? null,
    stale_capability: contract.stale_check?.observe_capability ?? null,
    stale_condition: contract.stale_check?.condition ?? null,
    verify_capability: contract.verification?.verify_capability ?? null,
    success_condition: contract.verification?.success_condition ?? null,
    verify_max_attempts: contract.verification?.max_attempts ?? 1,
    verify_delay_ms: contract.verification?.delay_ms ?? VERIFY_DELAY_MS,
    max_attempts: contract.max_attempts ?? MAX_ATTEMPTS,
    hold: holdOf(contract),
    window_closed_by: contract.window_closed_by ?? [],
    risk: contract.risk ?? null,
    risk_level: contract.risk_level ?? 'medium',
    stale_compares: contract.stale_check?.compares ?? null,
    stale_volatile: contract.stale_check?.volatile ?? [],
    compensation: compensationOf(contract),
    superseded,
  };
}

function compensationOf({ compensation_mode: said }: Contract): CompensationTerms | null {
  if (said === undefined) return null;
  const { mode, reason, runbook = null, accepted_by = null } = said;
  return { mode, reason, runbook, accepted_by };
}

/** Class of an effect under a contract (null: none): what nobody described is irreversible, and a read leaves nothing. */
export function classUnder(contract: Contract | null): ReversalClass {
  if (contract === null) return 'irreversible';
  return hasSideEffects(contract) ? (contract.reversal_class ?? 'irreversible') : 'reversible';
}

/** True of a read that its contract does not call irreversible: there is nothing to reverse, whatever came of it (A8). */
export function isRead(terms: ContractTerms | null, { reversal_class }: Pick<MutationRef, 'reversal_class'>): boolean {
  return terms?.impact === 'read' && terms.reversal_capability === null && reversal_class !== 'irreversible';
}

function holdOf({
  commit_hold_ms: holdMs = 0,
  cancel_capability,
  precondition,
  techniques,
}: Contract): HoldTerms | null {
  if (holdMs === 0) return null;
  return {
    hold_ms: holdMs,
    cancel_capability: cancel_capability ?? null,
    precondition_capability: precondition?.observe_capability ?? null,
    precondition_condition: precondition?.condition ?? null,
    is_reservation: techniques?.reservation === true,
  };
}

/** What a worker is told of how long a call may take, how its staleness is seen and how its result is proved. */
export function checksOf({
  call_timeout_ms,
  key_lifetime_ms,
  reconcile_capability,
  stale_capability,
  stale_condition,
  stale_compares,
  verify_capability,
  success_condition,
  verify_max_attempts,
  verify_delay_ms,
}: ContractTerms): Pick<LegStep, keyof ContractTerms & keyof LegStep> {
  return {
    call_timeout_ms,
    key_lifetime_ms,
    reconcile_capability,
    stale_capability,
    stale_condition,
    stale_compares,
    verify_capability,
    success_condition,
    verify_max_attempts,
    verify_delay_ms,
  };
}

// What whoever decides about an effect is told beside its facts (C8, C55).

/** Ways in which no tool undoes an effect: then a person needs to know how. */
const BY_HAND: readonly string[] = ['manual_runbook', 'not_supported'];

/** The part of the terms that a brief is made of. */
export type BriefTerms = Pick<ContractTerms, 'compensation' | 'impact'>;

/** The brief of an effect; `terms` are null without a contract. */
export function briefOf(objective: string | null, terms: BriefTerms | null): Brief {
  const compensation = terms?.compensation ?? null;
  const isByHand =
    terms === null || (terms.impact !== 'read' && BY_HAND.includes(compensation?.mode ?? 'not_supported'));
  const isBlank = isUnsaid(objective);
  const lacksRunbook = isByHand && (compensation?.runbook ?? null) === null;
  return {
    objective: isBlank ? null : objective,
    compensation,
    missing: [...(isBlank ? ['objective'] : []), ...(lacksRunbook ? ['runbook'] : [])],
  };
}

/** Did nobody say what the run is for? */
export function isUnsaid(objective: string | null): boolean {
  return (objective ?? '').trim() === '';
}
