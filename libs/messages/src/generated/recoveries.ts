// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Brief, CommandEnvelope, ContractTerms, Evidence, Execution, ExecutionState, FoundOut, Hash, LimitScope, LineageRoot, MutationRef, Observation, OutcomeKind, Payload, RecoverabilityState, RecoveryApprovalMode, ReversalCall } from './common.js';
import type { LegStep, StepOutcome } from './tools.js';

/** Give up a compensation that is still automatic or waiting: nothing is called any more. */
export interface AbandonStep {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** Approve exactly one action. */
export interface ApproveStep {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** Digest of the action the person saw. */
  readonly action_digest: Hash;
  /** Why. */
  readonly reason: string;
}

/** Approve in an emergency, without the people the contract asks for: two people, for a short time, on record. */
export interface BreakGlass {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** Exactly the action. */
  readonly action_digest: Hash;
  /** How long it is valid, milliseconds; at most an hour. */
  readonly valid_ms: number;
  /** What makes it an emergency, in the person's words. */
  readonly reason: string;
}

/** The ledger opened or closed a breaker over a capability: while it is open no step that would call it is dispatched. */
export interface BreakerNoted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Breaker. */
  readonly breaker_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run whose trigger opened it; also the record key. */
  readonly run_id: string;
  /** Capability that would be called. */
  readonly capability: string;
  /** True for one that opened. */
  readonly is_open: boolean;
}

/** Have a worker observe whether the success condition holds, because somebody repaired it by hand or an earlier attempt may have taken effect. */
export interface CheckStep {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** Why. */
  readonly purpose: LookPurpose;
  /** What the person has to show; JSON. */
  readonly evidence: Payload;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** End an incident. */
export interface CloseIncident {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Incident. */
  readonly incident_id: string;
  /** What it was, and what was done; JSON. */
  readonly summary: Payload;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** Close a task: what was done, the state it leaves things in, and what those concerned will see. */
export interface CloseTask {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Task. */
  readonly task_id: string;
  /** How it ended. */
  readonly outcome: TaskOutcome;
  /** JSON: `message` and, for a finished correction, `safe_state` and `user_visible_outcome`. */
  readonly content: Payload;
  /** Mutation of the correcting action, made under a contract of its own; null when it was made without one. */
  readonly correction_ref: string | null;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** A piece of work for a person. */
export interface CorrectionTask {
  /** Task. */
  readonly task_id: string;
  /** What is to be done. */
  readonly kind: TaskKind;
  /** Who is to do it. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** Approve or deny exactly one action before its effect. */
export interface DecideForwardApproval {
  /** Who decides. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Question. */
  readonly approval_id: string;
  /** Digest of the action the person saw. */
  readonly action_digest: Hash;
  /** What is decided. */
  readonly verdict: ForwardVerdict;
  /** Why. */
  readonly reason: string;
}

/** Deny an action. */
export interface DenyStep {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** Digest of the action the person saw. */
  readonly action_digest: Hash;
  /** Why. */
  readonly reason: string;
}

/** A commit of another run was derived from one of this run: it is undone first. */
export interface DependentNoted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant of the commit that was derived. */
  readonly tenant: string;
  /** Run of the commit it was derived from; also the record key. */
  readonly run_id: string;
  /** Commit it was derived from. */
  readonly mutation_id: string;
  /** Run of the commit that was derived. */
  readonly child_run_id: string;
  /** Commit that was derived. */
  readonly child_mutation_id: string;
  /** True when the commit it was derived from was already being undone: this one comes after. */
  readonly is_late: boolean;
}

/** The recovery of a derived commit of another run has ended: nobody waits for it any more. */
export interface DependentSettled {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant of the commit that was derived. */
  readonly tenant: string;
  /** Run of the commit it was derived from; also the record key. */
  readonly run_id: string;
  /** Commit it was derived from. */
  readonly mutation_id: string;
  /** Run of the commit that was derived. */
  readonly child_run_id: string;
  /** Commit that was derived. */
  readonly child_mutation_id: string;
  /** State it came to rest in. */
  readonly recoverability: RecoverabilityState;
}

/** Make an incident of a step. */
export interface EscalateStep {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** How bad. */
  readonly severity: Severity;
  /** Where it is written what to do. */
  readonly runbook: string | null;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** A fact that people relied on has changed: their approvals are void, and they are asked again; while an attempt is out, once that turns out to count for none. */
export interface FactChanged {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Facts that changed: JSON pointers into the observation, or the ref of an assumption; at most 20. */
  readonly changed: readonly string[];
  /** Who says that the assumption holds again; null when the resource changed. */
  readonly evidence: Evidence | null;
  /** Approvals that are void. */
  readonly voided: readonly string[];
  /** Digest that an approval must name from now on (the action with its facts); null where nothing is proposed. */
  readonly action_digest: Hash | null;
  /** People who have to agree. */
  readonly required_approvals: number;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Attempt that is out while it is noted: people are asked again only where that counts for none; null where they are asked, or a person has it. */
  readonly attempt: number | null;
}

/** A worker is asked to observe, without changing anything, the facts that people rely on: once for whoever decides about a step, and again before it is dispatched. */
export interface FactsAsked {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Id of the look. */
  readonly leg_id: string;
  /** For the review, or before the dispatch. */
  readonly purpose: FactsPurpose;
  /** How often it was asked for this purpose, from 1. */
  readonly round: number;
  /** Adapter asked. */
  readonly adapter: string;
  /** Signed id of the request. */
  readonly lease_id: string;
  /** Workers refuse it later; epoch milliseconds. */
  readonly not_after: number;
  /** Without an answer by then nothing was seen; epoch milliseconds. */
  readonly answer_by: number;
  /** The compensation it is about; not called. */
  readonly call: RecoveryCall;
  /** What to look at. */
  readonly terms: ContractTerms;
  /** The pointer. */
  readonly ref: MutationRef;
}

/** What the observation of the facts showed. */
export interface FactsObserved {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** The look. */
  readonly leg_id: string;
  /** For the review, or before the dispatch. */
  readonly purpose: FactsPurpose;
  /** What was seen; empty when nothing was. */
  readonly observations: readonly Observation[];
}

/** Why the facts that people rely on are observed. */
export const FACTS_PURPOSE_VALUES = ['review', 'dispatch'] as const;
export type FactsPurpose = (typeof FACTS_PURPOSE_VALUES)[number];

/** A person, or a routine rule of a policy bundle, decided about exactly one action before its effect. */
export interface ForwardApprovalDecided {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Question: derived from tenant, run, effect and action. */
  readonly approval_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** How often the question was opened; count from 1. */
  readonly round: number;
  /** What is decided about. */
  readonly action_digest: Hash;
  /** What was decided. */
  readonly verdict: ForwardVerdict;
  /** Directory subject of the person; policy:bundle@version for a routine rule. */
  readonly by: string;
  /** Reason given. */
  readonly reason: string;
  /** Command that decided. */
  readonly command_id: string;
  /** When an unused approval expires; while more approvals are needed, when the question expires; epoch milliseconds. */
  readonly expires_at: number;
  /** The rule that let it go, and its caps; null where a person decided. */
  readonly routine: RoutineGrant | null;
}

/** A question nobody decided, or an approval nobody used, expired. */
export interface ForwardApprovalExpired {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Question: derived from tenant, run, effect and action. */
  readonly approval_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** How often the question was opened; count from 1. */
  readonly round: number;
  /** Code: NOBODY_DECIDED or NOT_USED. */
  readonly reason: string;
}

/** People are asked before an effect; or a routine rule lets it go, which the record after this one says. */
export interface ForwardApprovalRequested {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Question: derived from tenant, run, effect and action. */
  readonly approval_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** How often the question was opened; count from 1. */
  readonly round: number;
  /** Agent that is about to act. */
  readonly agent_id: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  /** What the run was for and how the effect is compensated, for whoever decides. */
  readonly brief: Brief;
  /** Capability that is about to be called. */
  readonly capability: string;
  /** Contract it is called under. */
  readonly contract_digest: Hash;
  /** Logical identity of the effect within its run. */
  readonly effect_key: string;
  /** The business subject the effect is about. */
  readonly subject_ref: string | null;
  /** How many people the contract asks. */
  readonly mode: RecoveryApprovalMode;
  /** Digest of tenant, run, effect, capability, contract, subject and arguments: what an approval covers. */
  readonly action_digest: Hash;
  /** Arguments of the action. */
  readonly args: Payload;
  /** What a dry run said; null without one. */
  readonly rehearsal: Payload | null;
  /** Who answers for the action beside its agent; null when nobody is known. */
  readonly answerable_to: string | null;
  /** Who else may not approve it: accounts of whoever asked, and who answers for the agent named, for the asker, or for whom it acts; empty where nobody else is known. */
  readonly barred: readonly string[];
  /** Different people who must approve; count from 1. */
  readonly required_approvals: number;
  /** Principal that asked. */
  readonly requested_by: string;
  /** Who is to decide. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** The policy that decides in the same turn, policy:bundle@version; null where people are asked. */
  readonly decided_by: string | null;
  /** Why the routine rules about the capability did not let it go; empty where none is about it, or one did. */
  readonly not_routine: readonly RoutineRefusal[];
  /** Command that asked. */
  readonly command_id: string;
}

/** The approved effect was begun: the approval is used up. */
export interface ForwardApprovalUsed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Question: derived from tenant, run, effect and action. */
  readonly approval_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** How often the question was opened; count from 1. */
  readonly round: number;
  /** Mutation that used it. */
  readonly mutation_id: string;
  /** Attempt of the effect; count from 1. */
  readonly attempt: number;
  /** Principal that is about to act. */
  readonly used_by: string;
  /** Command that used it. */
  readonly command_id: string;
  /** Who agreed: people, or the policy and its rule, policy:bundle@version/rule. */
  readonly agreed_by: readonly string[];
}

/** What a person said of an action before its effect. */
export const FORWARD_VERDICT_VALUES = ['approve', 'deny'] as const;
export type ForwardVerdict = (typeof FORWARD_VERDICT_VALUES)[number];

/** Somebody broke the glass for a step; with the second person it is dispatched. */
export interface GlassBroken {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Approval of its own kind. */
  readonly approval_id: string;
  /** The action. */
  readonly action_digest: Hash;
  /** Directory subject of the person. */
  readonly by: string;
  /** What makes it an emergency. */
  readonly reason: string;
  /** The command. */
  readonly command_id: string;
  /** Later it is no agreement any more; epoch milliseconds. */
  readonly valid_until: number;
  /** Two people have broken it, and both still hold. */
  readonly is_complete: boolean;
}

/** A kill switch was changed or turned off: every halted step of the partition is decided again. */
export interface HaltsReviewed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant of the switch; * for all. */
  readonly tenant: string;
  /** Name of the switch. */
  readonly name: string;
}

/** What bound a recovery when it was decided, beside the contract its effect was executed under: it may only tighten. */
export interface InForce {
  /** Version of the contract that stood; that of the effect where none does any more. */
  readonly contract_version: number;
  /** Strictest of what both versions and the recovery policies ask for. */
  readonly approval_mode: RecoveryApprovalMode;
  /** Higher of what both versions say an unnecessary compensation can do. */
  readonly risk_level: string;
  /** Rules of recovery policies that applied, as `policy@version/rule`; where they could not be judged, what stood in the way. */
  readonly rules: readonly string[];
}

/** A person ended an incident. */
export interface IncidentClosed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Incident. */
  readonly incident_id: string;
  /** What it was, and what was done; JSON. */
  readonly summary: Payload;
  /** Directory subject of the person. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** The command. */
  readonly command_id: string;
}

/** A person made an incident of a step. */
export interface IncidentOpened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** What the run was for and how the effect is compensated, for whoever decides. */
  readonly brief: Brief;
  /** Incident. */
  readonly incident_id: string;
  /** How bad. */
  readonly severity: Severity;
  /** Where it is written what to do. */
  readonly runbook: string | null;
  /** Directory subject of the person. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** The command. */
  readonly command_id: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A leg was decided: the longest ordered stretch of steps that may go, of one adapter. One request leaves because of this record. */
export interface LegDispatched {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Id derived from the first step and the attempt. */
  readonly leg_id: string;
  /** Adapter whose workers are asked. */
  readonly adapter: string;
  /** Attempt of every member, from 1. */
  readonly attempt: number;
  /** HMAC under the orchestrator's key; an answer must carry it. */
  readonly lease_id: string;
  /** Workers refuse the request after this; epoch milliseconds. */
  readonly not_after: number;
  /** Without an answer by then its steps are uncertain: not_after plus the longest call timeout and the margin; epoch milliseconds. */
  readonly answer_by: number;
  /** True when the worker must find out whether an earlier attempt took effect. */
  readonly reconcile_first: boolean;
  /** Steps of the leg, in the order they are carried out; from 1 to 64. */
  readonly members: readonly LegMember[];
}

/** A step of a leg. */
export interface LegMember {
  /** Mutation. */
  readonly mutation_id: string;
  /** Approval used by this dispatch; null for auto. */
  readonly approval_id: string | null;
  /** First dispatch of the step; epoch milliseconds. */
  readonly first_dispatched_at: number;
  /** Steps that should have ended before this one and had not when its time came. */
  readonly outstanding: readonly string[];
  /** Slots it took in the schedules of rate limits; empty where none is set. */
  readonly paced: readonly Pace[];
  /** What its worker is asked. */
  readonly step: LegStep;
}

/** The orchestrator's verdicts on what a worker reported of a leg, or on its silence. */
export interface LegSettled {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Leg it answers. */
  readonly leg_id: string;
  /** Attempt it answers. */
  readonly attempt: number;
  /** Steps that are judged, in the order of the leg; those still out are not named. */
  readonly members: readonly LegVerdict[];
}

export const STEP_VERDICT_VALUES = ['compensated', 'stale', 'failed', 'unverified', 'uncertain', 'not_begun'] as const;
export type StepVerdict = (typeof STEP_VERDICT_VALUES)[number];

/** The orchestrator's verdict on one step of a leg. */
export interface LegVerdict {
  /** Step. */
  readonly step_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** What the worker reported; null where it said nothing of the step. */
  readonly reported: StepOutcome | null;
  /** The recorded verdict; not_begun where the leg ended before the step. */
  readonly outcome: StepVerdict;
  /** Code of the reason. */
  readonly reason: string;
  /** What was observed. */
  readonly observations: readonly Observation[];
  /** Refs the mutation relied on. */
  readonly assumption_refs: readonly string[];
  /** Call that is reversed. */
  readonly reverses_call_id: string;
  /** Mutation that is reversed. */
  readonly reverses_mutation_ref: string;
  /** Hash of the ledger record that bound it. */
  readonly reverses_record_hash: Hash;
  /** When the next attempt is due, or a person is asked; epoch milliseconds; null when settled. */
  readonly retry_at: number | null;
  /** The outcome in the closed vocabulary of outcomes; null while none applies. */
  readonly outcome_kind: OutcomeKind | null;
  /** The call that was made, or may have been; null where nothing was called. */
  readonly call: RecoveryCall | null;
  /** Calls of the reversal seen to have been made so far, those of earlier attempts too; the outcome is about the one after them. */
  readonly calls_done: number;
  /** Key of the worker that reported the step; null where reports are not signed, or nobody reported. */
  readonly acted_by: string | null;
  /** Key of the worker whose observations are believed: that of another worker where one observes for the adapter, else the one that acted. */
  readonly observed_by: string | null;
  /** Closed kind of the error, as the worker says; null where it says none, or the outcome is good. */
  readonly error_kind: string | null;
  /** What the worker, or the tool through it, said of it: a JSON string of at most 1,000 characters; null where it said nothing, or the outcome is good. */
  readonly said: Payload | null;
}

/** What a look showed. */
export interface LookAnswered {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** The look. */
  readonly leg_id: string;
  /** By our own judgement of the observations. */
  readonly verdict: LookVerdict;
  /** Code of the reason. */
  readonly reason: string;
  /** What was seen. */
  readonly observations: readonly Observation[];
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Closed kind of the error, as the worker says; null where it says none, or the outcome is good. */
  readonly error_kind: string | null;
  /** What the worker, or the tool through it, said of it: a JSON string of at most 1,000 characters; null where it said nothing, or the outcome is good. */
  readonly said: Payload | null;
}

/** A worker is asked to look, and to touch nothing. */
export interface LookDispatched {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Id of the look. */
  readonly leg_id: string;
  /** Why. */
  readonly purpose: LookPurpose;
  /** Adapter asked. */
  readonly adapter: string;
  /** Signed id of the request. */
  readonly lease_id: string;
  /** Workers refuse it later; epoch milliseconds. */
  readonly not_after: number;
  /** Without an answer by then nothing was seen; epoch milliseconds. */
  readonly answer_by: number;
  /** The compensation it is about; not called. */
  readonly call: RecoveryCall;
  /** What to look at, and what must hold. */
  readonly terms: ContractTerms;
  /** The pointer. */
  readonly ref: MutationRef;
  /** What the person has to show; JSON. */
  readonly evidence: Payload;
  /** Directory subject of the person. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** The command. */
  readonly command_id: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Key of the worker whose word does not count, since it acted or looked first: an observer is asked. Null where any worker of the adapter is. */
  readonly not_by: string | null;
  /** Leg whose worker says that it undid the step, which the observer is to confirm; null where nobody says so. */
  readonly acted_leg_id: string | null;
  /** What that worker observed; empty where nobody says so. */
  readonly acted: readonly Observation[];
}

/** Why a worker is to look: a person asks, or another worker is to see what the one that acted says it undid. */
export const LOOK_PURPOSE_VALUES = ['repair', 'reconcile', 'observe'] as const;
export type LookPurpose = (typeof LOOK_PURPOSE_VALUES)[number];

/** What a look showed: the success condition holds, does not hold, or could not be observed. */
export const LOOK_VERDICT_VALUES = ['met', 'not_met', 'unknown'] as const;
export type LookVerdict = (typeof LOOK_VERDICT_VALUES)[number];

/** The ledger learned more about a commit after its mark: what to do about it is decided again. */
export interface MutationAdvanced {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from rollback and mutation. */
  readonly step_id: string;
  /** Recovery of the run. */
  readonly recovery_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** State of the forward action. */
  readonly execution_state: ExecutionState;
  /** State of its recoverability. */
  readonly recoverability: RecoverabilityState;
  /** Row of the decision table. */
  readonly decision: StepDecision;
  /** Code of the reason. */
  readonly reason: string;
  /** The compensating call; null when nothing is to be called. */
  readonly call: RecoveryCall | null;
  /** Hash of tenant, call, contract and expected version: what an approval covers. */
  readonly action_digest: Hash | null;
  /** Facts of the execution. */
  readonly execution: Execution;
  /** Contract terms. */
  readonly terms: ContractTerms | null;
  /** Executable recovery pointer. */
  readonly ref: MutationRef;
  /** Hash of the ledger record that bound the mutation. */
  readonly reverses_record_hash: Hash;
  /** Who is to act when a person must. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Distinct people who must approve before a dispatch; 0 for none. */
  readonly required_approvals: number;
  /** What bound it beside the contract of its effect; null without a contract. */
  readonly in_force: InForce | null;
  /** Person on whose behalf the action was done: its initiator, else the registered owner of its agent; null when nobody is known. */
  readonly answerable_to: string | null;
  /** Position of the execution in the mutations log of its partition; later ones are undone first. */
  readonly executed_seq: number;
  /** The outcome in the closed vocabulary of outcomes; null while none applies. */
  readonly outcome_kind: OutcomeKind | null;
  /** How it was found out how the forward action ended; null where its producer told. */
  readonly found_out: FoundOut | null;
  /** What the compensation needs and nobody captured, by name; empty where nothing is missing. */
  readonly lacking: readonly string[];
}

/** A place in the schedule of a rate limit. */
export interface Pace {
  /** What the limit is about. */
  readonly scope: LimitScope;
  /** Name of the capability; the tenant's for a tenant. */
  readonly name: string;
  /** When the schedule is free again after this slot; epoch milliseconds. */
  readonly next_at: number;
}

/** What is to be done about one mutation. */
export interface PlannedStep {
  /** Id derived from rollback and mutation. */
  readonly step_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** From which rollback the fall came, and how far back that one reaches. */
  readonly root: LineageRoot | null;
  /** Mutation. */
  readonly mutation_id: string;
  /** Row of the decision table. */
  readonly decision: StepDecision;
  /** Code of the reason. */
  readonly reason: string;
  /** The compensating call; null when nothing is to be called. */
  readonly call: RecoveryCall | null;
  /** Hash of tenant, call, contract and expected version: what an approval covers. */
  readonly action_digest: Hash | null;
  /** Facts of the execution. */
  readonly execution: Execution;
  /** State of the forward action when it was planned. */
  readonly execution_state: ExecutionState;
  /** Place of its terms in `contracts`, from 0; null without a contract. */
  readonly contract: number | null;
  /** Executable recovery pointer. */
  readonly ref: MutationRef;
  /** When the trigger was admitted, epoch milliseconds. */
  readonly triggered_at: number;
  /** Hash of the ledger record that bound the mutation. */
  readonly reverses_record_hash: Hash;
  /** Who is to act when a person must. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Distinct people who must approve before a dispatch; 0 for none. */
  readonly required_approvals: number;
  /** What bound it beside the contract of its effect; null without a contract. */
  readonly in_force: InForce | null;
  /** Person on whose behalf the action was done: its initiator, else the registered owner of its agent; null when nobody is known. */
  readonly answerable_to: string | null;
  /** Position of the execution in the mutations log of its partition; later ones are undone first. */
  readonly executed_seq: number;
  /** The outcome in the closed vocabulary of outcomes; null while none applies. */
  readonly outcome_kind: OutcomeKind | null;
  /** What it waits for before it goes; null where it waits for nothing. */
  readonly wait: StepWait | null;
  /** How it was found out how the forward action ended; null where its producer told. */
  readonly found_out: FoundOut | null;
  /** What the compensation needs and nobody captured, by name; empty where nothing is missing. */
  readonly lacking: readonly string[];
}

export const CALL_APPROVAL_MODE_VALUES = ['network', 'delegated'] as const;
export type CallApprovalMode = (typeof CALL_APPROVAL_MODE_VALUES)[number];

/** A call that a worker makes on behalf of a mutation; for a compensation it is bound before anybody approves it (A66). */
export interface RecoveryCall {
  /** rev_ and the mutation id. */
  readonly call_id: string;
  /** Run of the mutation. */
  readonly run_id: string;
  /** Adapter that performs it. */
  readonly adapter_id: string;
  /** Reversal capability. */
  readonly capability: string;
  /** Bound arguments; canonical JSON before sealing. */
  readonly args: Payload;
  /** network for auto, else delegated. */
  readonly approval_mode: CallApprovalMode;
  /** Recovery policy. */
  readonly policy_ref: string | null;
  /** rev_ and the original key, unique per tenant and adapter. */
  readonly idempotency_key: string;
  /** Mutation it reverses. */
  readonly reverses_mutation_ref: string;
  /** Calls that follow this one, each once the one before is verified; the key of the second is this key and _2. */
  readonly then: readonly ReversalCall[];
}

export const RECOVERY_OUTCOME_VALUES = ['compensated', 'manual'] as const;
export type RecoveryOutcome = (typeof RECOVERY_OUTCOME_VALUES)[number];

/** Nothing is left to do in a recovery. */
export interface RecoveryClosed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Recovery. */
  readonly recovery_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Outcome of its steps. */
  readonly outcome: RecoveryOutcome;
}

/** What is to be done about mutations of a run that fell. */
export interface RecoveryPlanned {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Recovery of the run. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Evidence: the fact now; the root of each is its own. */
  readonly evidence: Evidence;
  /** Terms of the contracts of its members, each once. */
  readonly contracts: readonly ContractTerms[];
  /** A step for each of them. */
  readonly members: readonly PlannedStep[];
}

/** A worker report that answers no open leg changes nothing. */
export interface ReportRefused {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Leg it names. */
  readonly leg_id: string;
  /** Attempt it names. */
  readonly attempt: number;
  /** Why it was refused. */
  readonly code: string;
}

/** Ask people before an effect. */
export interface RequestForwardApproval {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Agent that is about to act. */
  readonly agent_id: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  /** What the run is to achieve, as its agent states it; without it nobody is asked. */
  readonly objective: string | null;
  /** Capability that is about to be called. */
  readonly capability: string;
  /** Contract it is called under. */
  readonly contract_digest: Hash;
  /** Logical identity of the effect within its run. */
  readonly effect_key: string;
  /** The business subject the effect is about. */
  readonly subject_ref: string | null;
  /** How many people the caller wants asked; the contract may ask for more. */
  readonly mode: RecoveryApprovalMode;
  /** Digest of tenant, run, effect, capability, contract, subject and arguments: what an approval covers. */
  readonly action_digest: Hash;
  /** Arguments of the action. */
  readonly args: Payload;
  /** What a dry run said; null without one. */
  readonly rehearsal: Payload | null;
}

/** How a person closed an item that automation could not. */
export const RESOLUTION_VALUES = ['repaired', 'corrected', 'accepted'] as const;
export type Resolution = (typeof RESOLUTION_VALUES)[number];

/** Close an item that belongs to a person: repaired or corrected by hand, or accepted as it is. */
export interface ResolveStep {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** How it was closed. */
  readonly resolution: Resolution;
  /** Evidence: JSON of the person's choice, such as a ticket, a receipt or the observed state. */
  readonly evidence: Payload;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** Retry a compensation that had gone to a person, with new attempts, and new approvals if its contract asks for them. */
export interface RetryStep {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Step. */
  readonly step_id: string;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** What was counted against one cap of a routine rule. */
export interface RoutineCount {
  /** What the cap is over. */
  readonly scope: RoutineScope;
  /** Which agent or tenant. */
  readonly name: string;
  /** Actions let go on this partition within the window, this one included; count from 1. */
  readonly count: number;
  /** What this partition may let go of the cap. */
  readonly share: number;
  /** What all partitions together may let go. */
  readonly cap: number;
  /** Window of the cap, milliseconds. */
  readonly window_ms: number;
}

/** Which rule of a policy bundle let an action go, and what was counted against its caps. */
export interface RoutineGrant {
  /** Policy bundle. */
  readonly bundle: string;
  /** Version of the bundle; count from 1. */
  readonly version: number;
  /** Routine rule of the bundle. */
  readonly rule: string;
  /** Who registered that version of the bundle. */
  readonly registered_by: string;
  /** One count for each cap and name: the agent that is named, who asks, and the tenant. */
  readonly counted: readonly RoutineCount[];
}

/** Why a routine rule did not let an action go. */
export interface RoutineRefusal {
  /** The rule: bundle@version/rule. */
  readonly rule: string;
  /** Code, such as CAP_REACHED. */
  readonly code: string;
  /** In words. */
  readonly detail: string;
}

/** What a cap of a routine rule is over. */
export const ROUTINE_SCOPE_VALUES = ['agent', 'tenant'] as const;
export type RoutineScope = (typeof ROUTINE_SCOPE_VALUES)[number];

/** How bad an incident is, from the worst. */
export const SEVERITY_VALUES = ['sev1', 'sev2', 'sev3', 'sev4'] as const;
export type Severity = (typeof SEVERITY_VALUES)[number];

/** A person approved exactly one action. */
export interface StepApproved {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Id derived from the command. */
  readonly approval_id: string;
  /** What is approved. */
  readonly action_digest: Hash;
  /** Directory subject of the approver. */
  readonly by: string;
  /** Reason given. */
  readonly reason: string;
  /** Command that approved. */
  readonly command_id: string;
}

/** The last argument of a step was found in the result of an earlier compensation: the step is decided again. */
export interface StepBound {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Code of the decision. */
  readonly reason: string;
  /** The call, with its arguments bound. */
  readonly call: RecoveryCall;
  /** The recovery pointer, with its arguments bound. */
  readonly ref: MutationRef;
  /** What an approval covers. */
  readonly action_digest: Hash;
  /** Different people who must approve; count from 0. */
  readonly required_approvals: number;
  /** What bound it beside the contract of its effect; null without a contract. */
  readonly in_force: InForce | null;
  /** Legs whose verified results gave arguments. */
  readonly bound_from: readonly string[];
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** What the decision table says about a mutation that should not stand. */
export const STEP_DECISION_VALUES = ['retry_forward', 'reconcile_first', 'compensate_now', 'request_approval', 'manual_review'] as const;
export type StepDecision = (typeof STEP_DECISION_VALUES)[number];

/** A person denied the action; the commit stays rolled back, the mutation is manual. */
export interface StepDenied {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** What was denied. */
  readonly action_digest: Hash;
  /** Directory subject. */
  readonly by: string;
  /** Reason given. */
  readonly reason: string;
  /** Command that denied. */
  readonly command_id: string;
}

/** A person must act. */
export interface StepEscalated {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Code of the reason. */
  readonly reason: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** The outcome in the closed vocabulary of outcomes; null while none applies. */
  readonly outcome_kind: OutcomeKind | null;
}

/** A kill switch stops the effect of a step: it waits in a list until the switch is turned off or its deadline passes. */
export interface StepHalted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Code of the reason. */
  readonly reason: string;
  /** Which switch stops what. */
  readonly detail: string;
  /** Agent whose action the step undoes, as switches name it. */
  readonly agent_id: string;
  /** Capability that is not called, as switches name it. */
  readonly capability: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A person has a step tried again. */
export interface StepReopened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Distinct people who must agree anew. */
  readonly required_approvals: number;
  /** What bound it beside the contract of its effect; null without a contract. */
  readonly in_force: InForce | null;
  /** What they agree to. */
  readonly action_digest: Hash;
  /** Directory subject of the person. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** The command. */
  readonly command_id: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A person closed an item by hand, with evidence; nothing became compensated by it. */
export interface StepResolved {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** How it was closed. */
  readonly resolution: Resolution;
  /** What shows it. */
  readonly evidence: Payload;
  /** Who closed it. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** Command that closed it. */
  readonly command_id: string;
  /** A worker observed by another capability that the success condition holds. */
  readonly verified: boolean;
}

/** What a step waits for. */
export interface StepWait {
  /** Code: ORDER while later effects are being undone, BLOCKED_BY_STEP when a person has one that was derived from this effect, RATE_LIMITED when a rate limit delays it, CHILDREN while commits of other runs that were derived from this one are being undone. */
  readonly reason: string;
  /** Steps it waits for; mutations of other runs for CHILDREN. */
  readonly outstanding: readonly string[];
  /** Who is to act. */
  readonly owner: string;
  /** When it runs without them, or goes to a person; epoch milliseconds. */
  readonly deadline_at: number;
  /** Slots it took in the schedules of rate limits; empty where none is set. */
  readonly paced: readonly Pace[];
  /** When its slot in the schedules comes; null while it waits for other steps; epoch milliseconds. */
  readonly go_at: number | null;
}

/** A step may run, but others come first: it waits for them in a list until they have ended or its deadline passes. */
export interface StepWaits {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Code: ORDER while later effects are being undone, BLOCKED_BY_STEP when a person has one that was derived from this effect, RATE_LIMITED when a rate limit delays it, CHILDREN while commits of other runs that were derived from this one are being undone. */
  readonly reason: string;
  /** Steps it waits for; mutations of other runs for CHILDREN. */
  readonly outstanding: readonly string[];
  /** Who is to act. */
  readonly owner: string;
  /** When it runs without them, or goes to a person; epoch milliseconds. */
  readonly deadline_at: number;
  /** Slots it took in the schedules of rate limits; empty where none is set. */
  readonly paced: readonly Pace[];
  /** When its slot in the schedules comes; null while it waits for other steps; epoch milliseconds. */
  readonly go_at: number | null;
}

/** A person ended a task. */
export interface TaskClosed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Task. */
  readonly task_id: string;
  /** What was to be done. */
  readonly kind: TaskKind;
  /** How it ended. */
  readonly outcome: TaskOutcome;
  /** What the person wrote; JSON. */
  readonly content: Payload;
  /** Mutation of the correcting action. */
  readonly correction_ref: string | null;
  /** Directory subject of the person. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** The command. */
  readonly command_id: string;
}

/** Work for people that follows what cannot be undone. */
export const TASK_KIND_VALUES = ['correction', 'support', 'audit_note'] as const;
export type TaskKind = (typeof TASK_KIND_VALUES)[number];

/** How a task ended. */
export const TASK_OUTCOME_VALUES = ['done', 'dropped'] as const;
export type TaskOutcome = (typeof TASK_OUTCOME_VALUES)[number];

/** An effect cannot be undone: people correct it, look after those it concerns, and put it on file. Nothing is sent automatically. */
export interface TasksOpened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Step. */
  readonly step_id: string;
  /** Recovery. */
  readonly recovery_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** What was done. */
  readonly capability: string;
  /** What the effect means, in business words; empty when no contract declares it. */
  readonly effect: string;
  /** What the run was for and how the effect is compensated, for whoever decides. */
  readonly brief: Brief;
  /** One of each kind. */
  readonly tasks: readonly CorrectionTask[];
}

/** Begin the effect an approval is for: uses the approval up. */
export interface UseForwardApproval {
  /** Who is about to act. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Question. */
  readonly approval_id: string;
  /** Digest of the action that is about to be done. */
  readonly action_digest: Hash;
  /** Attempt of the effect; count from 1. */
  readonly attempt: number;
}
