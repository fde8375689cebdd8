// The decision table: what is done about a mutation that should not stand (C31 to C41). Pure, total, drawn as data.
//
// Invariants
//   D1. Rows are read from the top; the first that matches decides. The last row matches everything.
//   D2. No row compensates without a bound handle inside its window (D29); manual is where doubt ends.
//   D3. Impact is a floor: a grave one needs a person whatever mode the contract declares (C35).
import { callsBehind, isGrave, isRead } from '@recourse/contract';
import type { Lease } from '@recourse/kernel';
import { grantLease } from '@recourse/kernel';
import type {
  ContractTerms,
  ExecutionState,
  MutationRef,
  RecoverabilityState,
  RecoveryApprovalMode,
  StepDecision,
} from '@recourse/messages';

export const WINDOWS = ['open', 'closed', 'none'] as const;
type Window = (typeof WINDOWS)[number];

export const HANDLES = [
  'bound',
  'uncontracted',
  'superseded',
  'read_only',
  'irreversible',
  'no_reversal',
  'incomplete',
  'step_pending',
  'step_missing',
  'unverifiable',
  'claimed',
  'asked',
] as const;
export type Handle = (typeof HANDLES)[number];

export const IMPACTS = ['ordinary', 'grave'] as const;
type Impact = (typeof IMPACTS)[number];

export const RISKS = ['within', 'above'] as const;
type Risk = (typeof RISKS)[number];

/** What the recovery policies say of it: `undecided` where one is not registered, or one of its rules cannot be judged. */
export const POLICIES = ['decided', 'undecided'] as const;
export type Policies = (typeof POLICIES)[number];

export const APPROVALS = ['none', 'partial', 'sufficient'] as const;
type ApprovalState = (typeof APPROVALS)[number];

/** Everything the table looks at. */
export interface RecoveryFacts {
  readonly execution: ExecutionState;
  readonly recoverability: RecoverabilityState;
  readonly window: Window;
  readonly handle: Handle;
  readonly mode: RecoveryApprovalMode;
  readonly impact: Impact;
  /** What the contract says an unnecessary compensation does, against what the operator lets go by itself (C37). */
  readonly risk: Risk;
  readonly policies: Policies;
  readonly approval: ApprovalState;
}

export const DECISION_REASONS = [
  'NOTHING_TO_UNDO',
  'ALREADY_UNDONE',
  'EXECUTED_AFTER_CANCEL',
  'FORWARD_NOT_STARTED',
  'FORWARD_IN_FLIGHT',
  'FORWARD_UNCERTAIN',
  'UNCONTRACTED',
  'CONTRACT_SUPERSEDED',
  'TOOL_HAS_NO_AUTOMATIC_COMPENSATION',
  'MISSING_COMPENSATION_IMPLEMENTATION',
  'HANDLE_INCOMPLETE',
  'STEP_RESULT_PENDING',
  'STEP_RESULT_MISSING',
  'VERIFICATION_MISSING',
  'HANDLE_CLAIMED',
  'HANDLE_ASKED',
  'REVERSAL_EXPIRED',
  'REVERSAL_WINDOW_MISSING',
  'UNSUPPORTED_RECOVERY_STATE',
  'RECOVERY_POLICY_UNDECIDED',
  'RISK_ABOVE_LIMIT',
  'APPROVED',
  'POLICY_AUTO',
  'HIGH_IMPACT',
  'COMPENSATION_REQUIRES_HUMAN_APPROVAL',
] as const;
export type DecisionReason = (typeof DECISION_REASONS)[number];

export interface RecoveryDecision {
  readonly decision: StepDecision;
  readonly reason: DecisionReason;
}

/** One row: every named column must hold one of the listed values. */
export interface DecisionRow {
  readonly when: { readonly [Column in keyof RecoveryFacts]?: readonly RecoveryFacts[Column][] };
  readonly then: RecoveryDecision;
}

/** The table of docs/design/recovery.md. */
export const DECISION_TABLE = [
  { when: { handle: ['read_only'] }, then: { decision: 'retry_forward', reason: 'NOTHING_TO_UNDO' } },
  { when: { execution: ['failed'] }, then: { decision: 'retry_forward', reason: 'NOTHING_TO_UNDO' } },
  {
    when: { execution: ['succeeded'], recoverability: ['cancelled'] },
    then: { decision: 'manual_review', reason: 'EXECUTED_AFTER_CANCEL' },
  },
  { when: { recoverability: ['compensated'] }, then: { decision: 'retry_forward', reason: 'ALREADY_UNDONE' } },
  { when: { execution: ['planned'] }, then: { decision: 'retry_forward', reason: 'FORWARD_NOT_STARTED' } },
  { when: { execution: ['executing'] }, then: { decision: 'reconcile_first', reason: 'FORWARD_IN_FLIGHT' } },
  { when: { execution: ['uncertain'] }, then: { decision: 'reconcile_first', reason: 'FORWARD_UNCERTAIN' } },
  { when: { handle: ['uncontracted'] }, then: { decision: 'manual_review', reason: 'UNCONTRACTED' } },
  {
    when: { handle: ['irreversible'] },
    then: { decision: 'manual_review', reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION' },
  },
  {
    when: { handle: ['no_reversal'] },
    then: { decision: 'manual_review', reason: 'MISSING_COMPENSATION_IMPLEMENTATION' },
  },
  { when: { handle: ['superseded'] }, then: { decision: 'manual_review', reason: 'CONTRACT_SUPERSEDED' } },
  { when: { handle: ['incomplete'] }, then: { decision: 'manual_review', reason: 'HANDLE_INCOMPLETE' } },
  { when: { handle: ['step_missing'] }, then: { decision: 'manual_review', reason: 'STEP_RESULT_MISSING' } },
  { when: { handle: ['unverifiable'] }, then: { decision: 'manual_review', reason: 'VERIFICATION_MISSING' } },
  { when: { handle: ['claimed'] }, then: { decision: 'manual_review', reason: 'HANDLE_CLAIMED' } },
  { when: { recoverability: ['reversal_expired'] }, then: { decision: 'manual_review', reason: 'REVERSAL_EXPIRED' } },
  { when: { window: ['closed'] }, then: { decision: 'manual_review', reason: 'REVERSAL_EXPIRED' } },
  { when: { window: ['none'] }, then: { decision: 'manual_review', reason: 'REVERSAL_WINDOW_MISSING' } },
  {
    when: {
      recoverability: [
        'planned',
        'pending_commit',
        'committed',
        'compensating',
        'compensation_failed',
        'manual_resolution_required',
      ],
    },
    then: { decision: 'manual_review', reason: 'UNSUPPORTED_RECOVERY_STATE' },
  },
  { when: { handle: ['asked'] }, then: { decision: 'reconcile_first', reason: 'HANDLE_ASKED' } },
  { when: { handle: ['step_pending'] }, then: { decision: 'reconcile_first', reason: 'STEP_RESULT_PENDING' } },
  {
    when: { policies: ['undecided'] },
    then: { decision: 'manual_review', reason: 'RECOVERY_POLICY_UNDECIDED' },
  },
  {
    when: { risk: ['above'], approval: ['none', 'partial'] },
    then: { decision: 'manual_review', reason: 'RISK_ABOVE_LIMIT' },
  },
  { when: { approval: ['sufficient'] }, then: { decision: 'compensate_now', reason: 'APPROVED' } },
  { when: { impact: ['grave'] }, then: { decision: 'request_approval', reason: 'HIGH_IMPACT' } },
  {
    when: { mode: ['human', 'dual_control'] },
    then: { decision: 'request_approval', reason: 'COMPENSATION_REQUIRES_HUMAN_APPROVAL' },
  },
  { when: { mode: ['auto'], approval: ['none'] }, then: { decision: 'compensate_now', reason: 'POLICY_AUTO' } },
  { when: {}, then: { decision: 'manual_review', reason: 'UNSUPPORTED_RECOVERY_STATE' } },
] as const satisfies readonly DecisionRow[];

/**
 * Decides by the first row that matches.
 *
 * Errors: none; the last row matches everything.
 * Source: docs/design/recovery.md; C31 to C41.
 */
export function decideRecovery(facts: RecoveryFacts): RecoveryDecision {
  return (ROWS.find((row) => matches(row, facts)) ?? DECISION_TABLE[DECISION_TABLE.length - 1] ?? DECISION_TABLE[0])
    .then;
}

/** Reads the impact a contract declares; an unknown word counts as grave (P14). */
export function impactOf(terms: ContractTerms | null): Impact {
  return terms !== null && !isGrave(terms.impact) ? 'ordinary' : 'grave';
}

/** From the least; a word this version does not know counts as the most (P14). */
export const risksByHarm: readonly string[] = ['low', 'medium', 'high'];

/** Compares the risk a contract declares with the most that may run without a person. */
export function riskOf(terms: ContractTerms | null, limit: string): Risk {
  const level = risksByHarm.indexOf(terms?.risk_level ?? 'medium');
  return level >= 0 && level <= risksByHarm.indexOf(limit) ? 'within' : 'above';
}

/** Says whether a recovery pointer can be executed at all, leaving time aside. */
export function handleOf(terms: ContractTerms | null, ref: MutationRef): Handle {
  if (terms === null) return 'uncontracted';
  if (isRead(terms, ref)) return 'read_only';
  if (ref.reversal_class === 'irreversible') return 'irreversible';
  if (ref.reversal_capability === null || terms.reversal_capability === null) return 'no_reversal';
  if (terms.superseded) return 'superseded';
  if (ref.reversal_args === null) return 'incomplete';
  const isVerified =
    terms.verify_capability !== null &&
    terms.success_condition !== null &&
    terms.verify_capability !== terms.reversal_capability;
  return isVerified ? 'bound' : 'unverifiable';
}

/**
 * The one guard of both paths: of a step that failed while its run went on, and of one that turned out wrong later.
 *
 * Shape:  without a bound pointer inside its window a call is not reversed, whoever asks (D29).
 * Source: requirements D20, D29.
 */
export function reversalToken({
  window,
  handle,
  recoverability,
}: Pick<RecoveryFacts, 'window' | 'handle' | 'recoverability'>): 'valid' | 'refused' {
  const isBound = handle === 'bound' || handle === 'step_pending' || handle === 'asked';
  return isBound && window === 'open' && recoverability !== 'reversal_expired' ? 'valid' : 'refused';
}

/**
 * Counts the distinct people who must approve.
 *
 * Shape:  0 only for an automatic mode of ordinary impact and risk; two when nobody answers for the action (docs/design/edge.md).
 * Source: P5; docs/design/edge.md.
 */
export function requiredApprovals(
  mode: RecoveryApprovalMode,
  impact: Impact,
  answerableTo: string | null,
  risk: Risk = 'within',
): number {
  if (mode === 'auto' && impact === 'ordinary' && risk === 'within') return 0;
  return mode === 'dual_control' || answerableTo === null ? 2 : 1;
}

/** Compares approvals given with approvals needed. */
export function approvalState(given: number, required: number): ApprovalState {
  if (given === 0) return 'none';
  return required > 0 && given >= required ? 'sufficient' : 'partial';
}

/** The table with the columns of each row listed once: it is asked at every dispatch. */
const ROWS = DECISION_TABLE.map(({ when, then }: DecisionRow) => ({
  conditions: Object.entries(when) as readonly Condition[],
  then,
})); // keys of a literal typed by RecoveryFacts

type Condition = readonly [column: keyof RecoveryFacts, listed: readonly string[]];

function matches({ conditions }: (typeof ROWS)[number], facts: RecoveryFacts): boolean {
  for (const [column, listed] of conditions) if (!listed.includes(facts[column])) return false;
  return true;
}

// Until when a step can be dispatched, judged by database time (P6). The lease itself is the kernel's: the ledger grants leases too.

/** How long the calls that undo a mutation may take, one after the other; milliseconds. */
export function callsMs(ref: MutationRef, { call_timeout_ms: callMs }: Pick<ContractTerms, 'call_timeout_ms'>): number {
  return callsBehind(ref) * callMs;
}

/** Last instant at which a dispatch can still begin; epoch milliseconds. */
export function dispatchableUntil(windowEndsAt: number, callsTakeMs: number, marginMs: number): number {
  return windowEndsAt - marginMs - callsTakeMs;
}

/** Judges a reversal window by database time, with room for its calls (P6). */
export function windowOf(ref: MutationRef, terms: ContractTerms | null, now: number, marginMs: number): Window {
  if (ref.reversal_expires_at === null || terms === null) return 'none';
  return now < dispatchableUntil(ref.reversal_expires_at, callsMs(ref, terms), marginMs) ? 'open' : 'closed';
}

/** Leases a look, which changes nothing and so is bound by its own lease alone. */
export function grantLookLease(callTimeoutMs: number, now: number, policy: Parameters<typeof grantLease>[1]): Lease {
  const bounds = { windowEndsAt: Number.MAX_SAFE_INTEGER, firstDispatchedAt: now, keyLifetimeMs: null };
  return grantLease({ ...bounds, callTimeoutMs, now }, policy);
}
