// A step: one compensation inside a recovery, its phases, its row and the records that move it.
import type {
  DependentNoted,
  DependentSettled,
  ContractTerms,
  Evidence,
  Execution,
  FactChanged,
  FactsAsked,
  FactsObserved,
  FactsPurpose,
  GlassBroken,
  HaltsReviewed,
  IncidentClosed,
  IncidentOpened,
  LegDispatched,
  LookAnswered,
  LookDispatched,
  LookPurpose,
  MutationAdvanced,
  MutationRef,
  Observation,
  OutcomeKind,
  RecoveryCall,
  RecoveryClosed,
  ReportRefused,
  RollbackEscalated,
  RollbackOpened,
  StepApproved,
  Resolution,
  Severity,
  StepBound,
  StepDecided,
  StepDecision,
  StepDenied,
  StepEscalated,
  StepHalted,
  StepOutcome,
  StepOutcomeRecorded,
  StepReopened,
  StepResolved,
  StepUncertain,
  StepVerdict,
  StepWaits,
  BreakerClosed,
  BreakerOpened,
  HeldReviewed,
  OutOfBandReviewed,
  OutOfBandVerdict,
  Pace,
  RollbackMarked,
  RollbackOutOfBand,
  SourceJudged,
  StormCounted,
  TaskClosed,
  TaskKind,
  TasksOpened,
  TriggerHeld,
  TriggerRedundant,
  TriggerRejected,
  UndoEscalated,
  UndoListed,
  UndoOpened,
} from '@recourse/messages';
import type { RollbackPhase } from '../rollback/rollback.transitions.js';
import type { UndoPhase } from '../undo/undo.transitions.js';

export const STEP_PHASES = [
  'held',
  'awaiting_approval',
  'approved',
  'waiting',
  'halted',
  'observing',
  'dispatched',
  'uncertain',
  'retrying',
  'looking',
  'compensated',
  'not_needed',
  'manual',
  'denied',
  'resolved',
] as const;
export type StepPhase = (typeof STEP_PHASES)[number];

/** What can happen to a step once it is decided; several come from one record type, told apart by its fields. */
export const STEP_EVENTS = [
  'ApprovalAdded',
  'ApprovalCompleted',
  'Denied',
  'Waited',
  'Halted',
  'Dispatched',
  'Compensated',
  'Unsettled',
  'Uncertain',
  'Escalated',
  'BoundForPeople',
  'BoundToGo',
  'AdvancedToWait',
  'AdvancedForPeople',
  'AdvancedToGo',
  'AdvancedToNothing',
  'AdvancedWithPerson',
  'Resolved',
  'ReopenedForPeople',
  'ReopenedToGo',
  'LookSent',
  'LookEnded',
  'GlassBroken',
  'FactsAsked',
  'FactsSeen',
  'FactChanged',
  'FactNoted',
] as const;
export type StepEvent = (typeof STEP_EVENTS)[number];

export const ESCALATION_REASONS = [
  'REVERSAL_EXPIRED',
  'KEY_LIFETIME_OVER',
  'APPROVAL_TIMEOUT',
  'FORWARD_UNRESOLVED',
  'VERIFICATION_FAILED',
  'RESOURCE_CHANGED',
  'COMPENSATION_FAILED',
  'OUTCOME_UNKNOWN',
  'POLICY_CHANGED',
  'COMMIT_NOT_MARKED',
  'HALTED_TOO_LONG',
  'STEP_RESULT_MISSING',
  'BLOCKED_BY_STEP',
  'UNDO_NOT_LISTED',
  'ABANDONED',
  'TRIGGER_HELD',
  'RATE_LIMITED',
  'FACTS_NOT_OBSERVED',
  'BOUND_NOT_REVIEWED',
] as const;
export type EscalationReason = (typeof ESCALATION_REASONS)[number];

/** Why a worker's report changes nothing. */
export const REPORT_REFUSALS = [
  'KEY_MISMATCH',
  'LEASE_UNKNOWN',
  'ATTEMPT_STALE',
  'ALREADY_ANSWERED',
  'REFUSED_LATE',
] as const;
export type ReportRefusal = (typeof REPORT_REFUSALS)[number];

/** A dispatch that was made. */
export type LegDoc = {
  readonly leg_id: string;
  readonly attempt: number;
  readonly lease_id: string;
  readonly not_after: number;
  readonly answer_by: number;
  /** What its worker reported; null while no answer was taken. */
  readonly answered: StepOutcome | null;
};

export type GivenApproval = {
  readonly approval_id: string;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
};

/** What the last answered or silent attempt showed: the reconciliation result of the review item (C59). */
export type LastOutcome = {
  readonly attempt: number;
  /** Null when nobody answered. */
  readonly reported: StepOutcome | null;
  readonly outcome: StepVerdict;
  readonly reason: string;
  readonly observations: readonly Observation[];
  readonly at: number;
};

/** A look that is under way: who wants it, why, and under which lease. */
export type LookDoc = {
  readonly leg_id: string;
  readonly purpose: LookPurpose;
  readonly lease_id: string;
  readonly not_after: number;
  readonly answer_by: number;
  readonly evidence: LookDispatched['evidence'];
  readonly by: string;
  readonly reason: string;
  readonly command_id: string;
};

/** A look at the facts that people rely on, under way. */
export type FactsAsk = {
  readonly leg_id: string;
  readonly purpose: FactsPurpose;
  readonly round: number;
  readonly lease_id: string;
  readonly not_after: number;
  readonly answer_by: number;
};

/** What a person said who closed the item. */
export type ResolvedByPerson = {
  readonly resolution: Resolution;
  readonly by: string;
  readonly reason: string;
  readonly evidence: StepResolved['evidence'];
  readonly verified: boolean;
  readonly at: number;
};

/** The record of the log that decided last about a step: its hash, and that of the record before it in the chain (A69). */
export type DecisionRecord = { readonly seq: number; readonly record_hash: Buffer; readonly prev_record_hash: Buffer };

/** The row of a step: review item and state of its machine in one. */
export type StepDoc = {
  readonly step_id: string;
  readonly recovery_id: string;
  readonly rollback_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly phase: StepPhase;
  readonly decision: StepDecision;
  /** Code of the decision, later of what ended it. */
  readonly reason: string;
  readonly owner: string;
  readonly deadline_at: number | null;
  /** When its timer goes off; null at rest. */
  readonly due_at: number | null;
  readonly required_approvals: number;
  readonly answerable_to: string | null;
  readonly approvals: readonly GivenApproval[];
  /** Who broke the glass for it, and until when that holds. */
  readonly glass: readonly (GivenApproval & { readonly until: number })[];
  /** Until when it is agreed to by breaking the glass; null while it is not. */
  readonly glass_until: number | null;
  /** Last attempt dispatched; 0 before the first. */
  readonly attempt: number;
  /** Attempts made before a person had it tried again; those after count anew. */
  readonly attempts_before: number;
  /** Null while nobody looks. */
  readonly look: LookDoc | null;
  /** Last look at the facts that was asked for; null while none was, or once it was answered. */
  readonly facts_ask: FactsAsk | null;
  /** Looks at the facts asked for so far: no two have one id. */
  readonly facts_asked: number;
  /** The resource as whoever decides about the step saw it; null while nobody looked. */
  readonly facts: Observation | null;
  /** The resource as it was seen before it changed. */
  readonly facts_before: Observation | null;
  /** The resource as it was seen before a dispatch, while that is decided about. */
  readonly last_seen: Observation | null;
  /** Facts that changed since somebody agreed, by name. */
  readonly changed: readonly string[];
  /** Who says that the assumption holds again; null while nobody does. */
  readonly reaffirmed: Evidence | null;
  readonly first_dispatched_at: number | null;
  readonly legs: readonly LegDoc[];
  /** Steps it waits for, or went without. */
  readonly outstanding: readonly string[];
  /** Places it took last in the schedules of rate limits. */
  readonly paced: readonly Pace[];
  /** When its place comes; null while it has none, and once it was used. */
  readonly go_at: number | null;
  /** Place of its execution in the ledger's log: later ones are undone first. */
  readonly executed_seq: number;
  /** What became of it so far, in the closed words of outcomes. */
  readonly outcome_kind: OutcomeKind | null;
  readonly last: LastOutcome | null;
  readonly denied_by: string | null;
  /** How a person closed it by hand; null while nobody did. */
  readonly resolved: ResolvedByPerson | null;
  readonly action_digest: Buffer | null;
  readonly call: RecoveryCall | null;
  readonly execution: Execution;
  readonly terms: ContractTerms | null;
  readonly ref: MutationRef;
  readonly evidence: Evidence;
  readonly reverses_record_hash: Buffer;
  /** Null only while nothing about the step is on record. */
  readonly decision_record: DecisionRecord | null;
  /** When its trigger was admitted; null only while nothing about the step is on record. */
  readonly triggered_at: number | null;
  readonly decided_at: number;
  readonly updated_at: number;
};

/** A halted step, where a change of the switches finds it. */
export type HaltDoc = {
  readonly step_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly capability: string;
  /** Which switch stops what. */
  readonly detail: string;
  readonly halted_at: number;
};

export type RecoveryDoc = {
  readonly recovery_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: 'open' | 'closed';
  readonly outcome: 'compensated' | 'manual' | null;
  readonly owner: string;
  readonly deadline_at: number | null;
  readonly opened_at: number;
  readonly updated_at: number;
};

export type RollbackDoc = {
  readonly rollback_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  /** held: waits for a person; rejected: a person said it was wrong; opened: asked of the ledger; escalated: not marked in time, a person was asked; beyond: a fall reaches it beyond its bound, a person looks at it; reviewed: they have; marked: the commit is marked and its step, where it has one, was decided. */
  readonly phase: RollbackPhase;
  readonly evidence: Evidence;
  readonly command_id: string | null;
  /** What holds it; null while nothing does. */
  readonly held: { readonly reason: string; readonly detail: string; readonly cause: string } | null;
  /** Person who let it through; null when nobody had to. */
  readonly confirmed_by: string | null;
  /** What a person said of it; null while nobody did. */
  readonly judged: {
    readonly verdict: 'confirmed' | 'rejected';
    readonly by: string;
    readonly reason: string;
    readonly at: number;
  } | null;
  /** Descendants recorded before this are not rolled back with it, but reviewed; null without a bound, and while it is not admitted. */
  readonly bound_at: number | null;
  /** The fall that reaches the commit beyond its bound, and when the commit was recorded; null while none does. */
  readonly beyond: { readonly evidence: Evidence; readonly committed_at: number } | null;
  /** What a person made of that; null while nobody looked. */
  readonly reviewed: {
    readonly verdict: OutOfBandVerdict;
    readonly by: string;
    readonly reason: string;
    readonly at: number;
  } | null;
  readonly owner: string;
  readonly deadline_at: number | null;
  /** When it was admitted; of a held one, when it was held. */
  readonly opened_at: number;
  readonly updated_at: number;
};

/** What people are asked to do about an effect nothing will undo. */
export type TaskDoc = {
  readonly task_id: string;
  readonly task_kind: TaskKind;
  readonly step_id: string;
  readonly recovery_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly capability: string;
  readonly effect: string;
  readonly phase: 'open' | 'done' | 'dropped';
  readonly owner: string;
  readonly deadline_at: number | null;
  /** Null while it is open. */
  readonly closed: {
    readonly by: string;
    readonly reason: string;
    readonly content: TaskClosed['content'];
    readonly correction_ref: string | null;
    readonly at: number;
  } | null;
  readonly opened_at: number;
  readonly updated_at: number;
};

/** What a person made an incident of. */
export type IncidentDoc = {
  readonly incident_id: string;
  readonly step_id: string;
  readonly recovery_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly severity: Severity;
  readonly runbook: string | null;
  readonly phase: 'open' | 'closed';
  readonly owner: string;
  readonly deadline_at: number | null;
  readonly opened: { readonly by: string; readonly reason: string; readonly at: number };
  /** Null while it is open. */
  readonly closed: {
    readonly by: string;
    readonly reason: string;
    readonly summary: IncidentClosed['summary'];
    readonly at: number;
  } | null;
  readonly opened_at: number;
  readonly updated_at: number;
};

/** A commit of another run that was derived from one of this run. */
export type DependentDoc = {
  readonly tenant: string;
  readonly run_id: string;
  /** What it was derived from. */
  readonly mutation_id: string;
  readonly child_run_id: string;
  readonly child_mutation_id: string;
  /** It was noted when what it was derived from was being undone already. */
  readonly is_late: boolean;
  /** State it came to rest in; null while it has not. */
  readonly settled_as: DependentSettled['recoverability'] | null;
  readonly noted_at: number;
  readonly updated_at: number;
};

export type UndoDoc = {
  readonly undo_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly recovery_id: string;
  /** Mutations asked for; empty for the whole run. */
  readonly asked_ids: readonly string[];
  /** opened: the ledger names the effects; escalated: it did not in time; listed: it has. */
  readonly phase: UndoPhase;
  /** Effects of the undo, last first. */
  readonly mutation_ids: readonly string[];
  readonly unknown_ids: readonly string[];
  readonly evidence: Evidence;
  readonly command_id: string;
  readonly owner: string;
  readonly deadline_at: number | null;
  readonly opened_at: number;
  readonly updated_at: number;
};

export type ApprovalDoc = {
  readonly approval_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly step_id: string;
  readonly action_digest: Buffer;
  readonly by: string;
  readonly reason: string;
  readonly command_id: string;
  /** First leg that was dispatched under it; null while unused. */
  readonly used_by: string | null;
  readonly approved_at: number;
  readonly updated_at: number;
};

/** Fields the log adds to every record. */
type ChainField = 'seq' | 'prev_hash' | 'decided_at';

/** Bodies of the records this service decides. */
export interface FactBodies {
  readonly RollbackOpened: Omit<RollbackOpened, ChainField>;
  readonly RollbackEscalated: Omit<RollbackEscalated, ChainField>;
  readonly RollbackMarked: Omit<RollbackMarked, ChainField>;
  readonly RollbackOutOfBand: Omit<RollbackOutOfBand, ChainField>;
  readonly OutOfBandReviewed: Omit<OutOfBandReviewed, ChainField>;
  readonly TriggerRedundant: Omit<TriggerRedundant, ChainField>;
  readonly TriggerHeld: Omit<TriggerHeld, ChainField>;
  readonly TriggerRejected: Omit<TriggerRejected, ChainField>;
  readonly SourceJudged: Omit<SourceJudged, ChainField>;
  readonly StormCounted: Omit<StormCounted, ChainField>;
  readonly BreakerOpened: Omit<BreakerOpened, ChainField>;
  readonly BreakerClosed: Omit<BreakerClosed, ChainField>;
  readonly HeldReviewed: Omit<HeldReviewed, ChainField>;
  readonly StepDecided: Omit<StepDecided, ChainField>;
  readonly StepApproved: Omit<StepApproved, ChainField>;
  readonly StepDenied: Omit<StepDenied, ChainField>;
  readonly StepResolved: Omit<StepResolved, ChainField>;
  readonly LegDispatched: Omit<LegDispatched, ChainField>;
  readonly StepOutcomeRecorded: Omit<StepOutcomeRecorded, ChainField>;
  readonly StepUncertain: Omit<StepUncertain, ChainField>;
  readonly StepEscalated: Omit<StepEscalated, ChainField>;
  readonly StepHalted: Omit<StepHalted, ChainField>;
  readonly HaltsReviewed: Omit<HaltsReviewed, ChainField>;
  readonly GlassBroken: Omit<GlassBroken, ChainField>;
  readonly StepReopened: Omit<StepReopened, ChainField>;
  readonly LookDispatched: Omit<LookDispatched, ChainField>;
  readonly LookAnswered: Omit<LookAnswered, ChainField>;
  readonly FactsAsked: Omit<FactsAsked, ChainField>;
  readonly FactsObserved: Omit<FactsObserved, ChainField>;
  readonly FactChanged: Omit<FactChanged, ChainField>;
  readonly IncidentOpened: Omit<IncidentOpened, ChainField>;
  readonly IncidentClosed: Omit<IncidentClosed, ChainField>;
  readonly StepWaits: Omit<StepWaits, ChainField>;
  readonly UndoOpened: Omit<UndoOpened, ChainField>;
  readonly UndoListed: Omit<UndoListed, ChainField>;
  readonly UndoEscalated: Omit<UndoEscalated, ChainField>;
  readonly TasksOpened: Omit<TasksOpened, ChainField>;
  readonly TaskClosed: Omit<TaskClosed, ChainField>;
  readonly StepBound: Omit<StepBound, ChainField>;
  readonly MutationAdvanced: Omit<MutationAdvanced, ChainField>;
  readonly DependentNoted: Omit<DependentNoted, ChainField>;
  readonly DependentSettled: Omit<DependentSettled, ChainField>;
  readonly ReportRefused: Omit<ReportRefused, ChainField>;
  readonly RecoveryClosed: Omit<RecoveryClosed, ChainField>;
}

export type FactType = keyof FactBodies;

/** A record to be appended. */
export interface Fact {
  readonly type: FactType;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Makes a record of a type with the body that type has. */
export function fact<Type extends FactType>(type: Type, body: FactBodies[Type]): Fact {
  return { type, body: { ...body } };
}

/** A command that is refused: the fact, and the HTTP status it is told with. */
export interface Refusal {
  readonly httpStatus: number;
  readonly code: RefusalCode;
  readonly message: string;
}

export const REFUSAL_CODES = [
  'KEY_MISMATCH',
  'COMMAND_INVALID',
  'ROLE_REQUIRED',
  'STEP_UNKNOWN',
  'SELF_APPROVAL',
  'APPROVER_NOT_A_PERSON',
  'EDITOR_APPROVAL',
  'DIGEST_MISMATCH',
  'APPROVAL_USED',
  'STEP_WRONG_PHASE',
  'WINDOW_CLOSED',
  'SAME_APPROVER',
  'TASK_UNKNOWN',
  'TASK_CLOSED',
  'AUTHOR_NOT_A_PERSON',
  'INCIDENT_UNKNOWN',
  'INCIDENT_CLOSED',
  'ROLLBACK_UNKNOWN',
  'TRIGGER_JUDGED',
  'SELF_JUDGEMENT',
  'JUDGE_NOT_A_PERSON',
  'BREAKER_UNKNOWN',
  'BREAKER_CLOSED',
  'NO_TRIGGER',
  'NOT_BEYOND_BOUND',
  'OUT_OF_BAND_REVIEWED',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** Identity fields every record about a step carries. */
export function identityOf(
  step: StepDoc,
): Pick<StepDoc, 'step_id' | 'recovery_id' | 'tenant' | 'run_id' | 'mutation_id'> {
  return {
    step_id: step.step_id,
    recovery_id: step.recovery_id,
    tenant: step.tenant,
    run_id: step.run_id,
    mutation_id: step.mutation_id,
  };
}
