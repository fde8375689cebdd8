// A step: one compensation inside a recovery, its phases, its row and the records that move it.
import type {
  ContractTerms,
  Evidence,
  Execution,
  ExecutionState,
  FoundOut,
  FactsPurpose,
  InForce,
  LookDispatched,
  LookPurpose,
  MutationRef,
  Observation,
  OutcomeKind,
  Pace,
  RecoveryCall,
  Resolution,
  StepDecision,
  StepResolved,
} from '@recourse/messages';
import type { LastOutcome } from './last-outcome.messages.js';
import type { ActedLeg, HeardAnswer, LegDoc } from './leg.messages.js';

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
  'NotBegun',
  'Uncertain',
  'Escalated',
  'BoundForPeople',
  'BoundToGo',
  'BoundWithPerson',
  'AdvancedToWait',
  'AdvancedForPeople',
  'AdvancedToGo',
  'AdvancedToNothing',
  'AdvancedWithPerson',
  'WindowEnded',
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
  'HANDLE_ASKED',
  'VERIFICATION_FAILED',
  'RESOURCE_CHANGED',
  'COMPENSATION_FAILED',
  'OUTCOME_UNKNOWN',
  'POLICY_CHANGED',
  'RECOVERY_POLICY_UNDECIDED',
  'HALTED_TOO_LONG',
  'STEP_RESULT_MISSING',
  'BLOCKED_BY_STEP',
  'ABANDONED',
  'RATE_LIMITED',
  'FACTS_NOT_OBSERVED',
  'PAYLOADS_ERASED',
] as const;
export type EscalationReason = (typeof ESCALATION_REASONS)[number];

export type GivenApproval = {
  readonly approval_id: string;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
};

/** A look that is under way: who wants it, why, and under which lease; it is judged by what the step was when it was asked. */
export type LookDoc = Pick<LookDispatched, 'call' | 'terms' | 'ref'> & {
  readonly leg_id: string;
  readonly adapter: string;
  readonly purpose: LookPurpose;
  readonly lease_id: string;
  readonly not_after: number;
  readonly answer_by: number;
  readonly evidence: LookDispatched['evidence'];
  readonly by: string;
  readonly reason: string;
  readonly command_id: string;
  /** Key whose word does not count: it acted, or looked first; null where any worker of the adapter answers. */
  readonly not_by: string | null;
  /** What an observer is to confirm; absent where a person has a worker look. */
  readonly acted?: ActedLeg;
  /** From 2, where an observer that was silent is asked anew; absent in the first round. */
  readonly round?: number;
};

/** A look at the facts that people rely on, under way. */
export type FactsAsk = {
  readonly leg_id: string;
  readonly adapter: string;
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
export type DecisionRecord = {
  readonly seq: number;
  readonly record_hash: Buffer;
  readonly prev_record_hash: Buffer;
  /** Place of the step among the members of the record; null where the record is about it alone. */
  readonly member: number | null;
};

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
  /** What bound it when it was decided last; null without a contract. */
  readonly in_force: InForce | null;
  readonly answerable_to: string | null;
  readonly approvals: readonly GivenApproval[];
  /** Who broke the glass for it, and until when that holds. */
  readonly glass: readonly (GivenApproval & { readonly until: number })[];
  /** Until when it is agreed to by breaking the glass; null while it is not. */
  readonly glass_until: number | null;
  /** Last attempt dispatched; 0 before the first. */
  readonly attempt: number;
  /** Attempts made before a person had it tried again; later ones count from zero. */
  readonly attempts_before: number;
  /** Calls of its reversal that were seen to have been made: no attempt makes them again. */
  readonly calls_done: number;
  /** Null while nobody looks. */
  readonly look: LookDoc | null;
  /** What it would have been decided for, by what was told of it last while somebody looked; absent where nothing was, and once it is given to a person anew. */
  readonly told_meanwhile?: string;
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
  /** Attempt that was out when they said so; absent where none was, and once people are asked again. */
  readonly reaffirmed_in?: number;
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
  /** What the tool answered an attempt before the last outcome; absent where that holds the answer, or none was heard. */
  readonly executed?: HeardAnswer;
  readonly denied_by: string | null;
  /** Why and when; absent where nobody did, and where that was before it was kept. */
  readonly denied_for?: { readonly reason: string; readonly at: number };
  /** How a person closed it by hand; null while nobody did. */
  readonly resolved: ResolvedByPerson | null;
  readonly action_digest: Buffer | null;
  readonly call: RecoveryCall | null;
  readonly execution: Execution;
  /** What is known of the forward action: nothing is undone that may never have happened. */
  readonly execution_state: ExecutionState;
  /** How it was found out how that ended; null where its producer told. */
  readonly found_out: FoundOut | null;
  /** What the compensation needs and nobody captured, by name. */
  readonly lacking: readonly string[];
  readonly terms: ContractTerms | null;
  readonly ref: MutationRef;
  readonly evidence: Evidence;
  readonly reverses_record_hash: Buffer;
  /** Null only while nothing about the step is on record. */
  readonly decision_record: DecisionRecord | null;
  /** When its trigger was admitted, epoch milliseconds. */
  readonly triggered_at: number;
  /** Since when people are asked to agree to it as it is now; null while they never were. */
  readonly asked_at: number | null;
  /** It was given to a person, or a person said no: whatever ended it later, somebody had a hand in it. */
  readonly was_given: boolean;
  readonly decided_at: number;
  readonly updated_at: number;
};

/** A halted step, where a change of the switches finds it. */
export type HaltDoc = Pick<StepDoc, 'step_id' | 'tenant' | 'run_id'> & {
  readonly agent_id: string;
  readonly capability: string;
  readonly detail: string; // which switch stops what
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

/** Identity fields every record about a step carries. */
type Identity = Pick<StepDoc, 'step_id' | 'recovery_id' | 'tenant' | 'run_id' | 'mutation_id'>;

export function identityOf({ step_id, recovery_id, tenant, run_id, mutation_id }: StepDoc): Identity {
  return { step_id, recovery_id, tenant, run_id, mutation_id };
}

/** Steps with one put in the place of its older self. */
export function replaced(steps: readonly StepDoc[], step: StepDoc): readonly StepDoc[] {
  return steps.some((one) => one.step_id === step.step_id)
    ? steps.map((one) => (one.step_id === step.step_id ? step : one))
    : [...steps, step];
}
