// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Checkpoint, CommandEnvelope, CommitRef, Contamination, ContractTerms, DueConsumer, Emission, Evidence, Execution, ExecutionState, FoundOut, Hash, JudgedRef, LimitScope, LineageRoot, Money, MutationRef, Observation, Payload, RecoverabilityState, ReversalClass, RuntimeCommit, SubscriptionMode, TrendScope } from './common.js';
import type { LegKind, LegRequested } from './tools.js';

/** What calls itself an acknowledgement is none. */
export interface AckRefused {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Who. */
  readonly consumer: string;
  /** Event that told it. */
  readonly event_id: string;
  /** Code: why. */
  readonly code: string;
  /** What is wrong with it. */
  readonly detail: string;
}

/** How a trigger was admitted, and what it counts toward. */
export interface Admission {
  /** Command that asked for it; null for what evidence says by itself. */
  readonly command_id: string | null;
  /** Person who confirmed a held trigger; null when none was needed. */
  readonly confirmed_by: string | null;
  /** For how long it counts toward the breakers from this record on, milliseconds; 0 when it does not. */
  readonly storm_window_ms: number;
  /** This record counts toward the hits of its event. */
  readonly closure_counted: boolean;
  /** When it was admitted, epoch milliseconds; a commit that was recorded later is marked later. */
  readonly triggered_at: number;
  /** An earlier record says that it was admitted (TriggerUnmatched), and counts. */
  readonly was_remembered: boolean;
  /** Length of the window in which the mark counts toward the trends of its tenant and agent, milliseconds; 0 when it does not. */
  readonly trend_window_ms: number;
}

/** A worker's answer that decides nothing. */
export interface AnswerRefused {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Request it claims to answer. */
  readonly leg_id: string;
  /** Attempt it claims to answer. */
  readonly attempt: number;
  /** Code: why it decides nothing. */
  readonly code: string;
}

/** A person closed a breaker: what it held is decided again. */
export interface BreakerClosed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Breaker. */
  readonly breaker_id: string;
  /** What it is about. */
  readonly scope: LimitScope;
  /** Name of the source, capability or tenant. */
  readonly name: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run whose trigger opened it. */
  readonly run_id: string;
  /** Who closed it. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** Command that closed it. */
  readonly command_id: string;
}

/** A burst of triggers opened a breaker: until a person closes it, new ones of its scope are held. */
export interface BreakerOpened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from scope, tenant and name. */
  readonly breaker_id: string;
  /** What it is about. */
  readonly scope: LimitScope;
  /** Name of the source, capability or tenant. */
  readonly name: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run whose trigger opened it; the key under which it is closed. */
  readonly run_id: string;
  /** Number of rollbacks with evidence of their own within the window, including the one that opened it. */
  readonly count: number;
  /** Number of rollbacks this partition allows in a window. */
  readonly limit: number;
  /** Length of the window, milliseconds. */
  readonly window_ms: number;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A person or program takes back an effect that is still held. */
export interface CancelMutation {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Why. */
  readonly reason: string;
}

export const HARDEN_CAUSE_VALUES = ['retention', 'rolled_back'] as const;
export type HardenCause = (typeof HARDEN_CAUSE_VALUES)[number];

/** The state of a commit is given up: its key is destroyed. Record, bundle and chain stay. */
export interface CheckpointHardened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly commit_id: string;
  /** Why: the window of full fidelity ended, or the rollback is long enough ago. */
  readonly cause: HardenCause;
}

/** A commit without an outside effect was accepted, with its state. */
export interface CheckpointRecorded {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Hash of the checkpoint. */
  readonly commit_id: string;
  /** What was committed. */
  readonly checkpoint: Checkpoint;
  /** Verdict per ref and parent, each at one view. */
  readonly judged: readonly JudgedRef[];
  /** Event that told it. */
  readonly event_id: string;
  /** Hash of the event's content. */
  readonly content_sha256: Hash;
  /** Number of deltas since the whole state it builds on; 0 for a whole one. */
  readonly depth: number;
  /** Chunks of its state that have not come. */
  readonly chunks_missing: number;
  /** How long its state is kept, epoch milliseconds; null without state. */
  readonly full_until: number | null;
}

/** A commit without an outside effect is rolled back; its state stays for a while, marked. */
export interface CheckpointRolledBack {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly commit_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Why it does not stand; its root says from which rollback the fall came, and how far back that one reaches. */
  readonly evidence: Evidence;
  /** How its trigger was admitted. */
  readonly admission: Admission;
  /** Agent. */
  readonly agent_id: string;
  /** Step. */
  readonly step_id: string;
  /** Lineage entry that produced it. */
  readonly produced_by: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** Refs it relied on. */
  readonly assumption_refs: readonly string[];
  /** Commits it was made from. */
  readonly derived_from: readonly CommitRef[];
  /** When it took hold, epoch milliseconds. */
  readonly committed_at: number;
  /** Hash of its CheckpointRecorded. */
  readonly recorded_hash: Hash;
  /** Place of its CheckpointRecorded in this log. */
  readonly recorded_seq: number;
  /** The newest commit of its run before it that stands, where the run resumes; null when there is none. */
  readonly resume: CommitRef | null;
  /** When its state is given up, epoch milliseconds; null when none is kept. */
  readonly harden_at: number | null;
  /** Who has to hear of it. */
  readonly consumers: readonly DueConsumer[];
  /** Person on whose behalf the agent acted; null when unknown, and in records older than this field. */
  readonly initiator: string | null;
  /** Others of the run that fell with it, for the same reason: they are its members 1 and on, and what stands above is member 0. Empty in records older than this field. */
  readonly others: readonly RolledBackCheckpoint[];
}

/** Close a breaker: what it held is decided again. */
export interface CloseBreaker {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Breaker. */
  readonly breaker_id: string;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** A commit rests on one that fell but is older than the bound of the rollback: a person looks at it, and the walk continues behind it. */
export interface CommitBeyondBound {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** The fall that reaches it. */
  readonly evidence: Evidence;
  /** Agent. */
  readonly agent_id: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** When it was recorded, epoch milliseconds. */
  readonly committed_at: number;
  /** Commits it was made from. */
  readonly derived_from: readonly CommitRef[];
  /** Newest commit of its run before it that stands, where what does without it goes on; null without one. */
  readonly resume: CommitRef | null;
}

/** Compensations of a run were executed: each is an execution with a contract and a debit of its own, derived from the verdicts on one leg. */
export interface CompensationsExecuted {
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
  /** Recovery. */
  readonly recovery_id: string;
  /** What was executed, in the order of the leg. */
  readonly members: readonly ExecutedCompensation[];
}

/** Say that a trigger was right: a held one is admitted. */
export interface ConfirmTrigger {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Offending commit. */
  readonly mutation_id: string;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** A consumer applied a rollback. */
export interface ConsumerAcknowledged {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Who. */
  readonly consumer: string;
  /** Event that told it. */
  readonly event_id: string;
  /** When, by its clock; epoch milliseconds. */
  readonly applied_at: number;
  /** Commits it had derived and has invalidated. */
  readonly derived: readonly CommitRef[];
  /** What it had let out that rested on the commit. */
  readonly emissions: readonly Emission[];
  /** Time from the mark of the commit, milliseconds. */
  readonly after_ms: number;
  /** It came after its deadline. */
  readonly is_late: boolean;
  /** Emissions that were let out after the commit was marked. */
  readonly late_emissions: number;
}

/** A consumer was not heard from in time: a person is asked. */
export interface DeliveryOverdue {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Who. */
  readonly consumer: string;
  /** How it hears. */
  readonly mode: SubscriptionMode;
  /** Who looks after it. */
  readonly owner: string;
  /** By when, epoch milliseconds. */
  readonly deadline_at: number;
}

/** A person said what was done about a silent consumer; nobody is asked any more. */
export interface DeliveryReviewed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Who is silent. */
  readonly consumer: string;
  /** Who said so. */
  readonly by: string;
  /** What was done, or why its silence may stand. */
  readonly reason: string;
  /** Command. */
  readonly command_id: string;
}

/** A person has dealt with what a runtime kept though it fell; what a later comparison finds is asked anew. */
export interface DivergenceReviewed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Runtime; also the record key. */
  readonly runtime: string;
  /** Who said so. */
  readonly by: string;
  /** What was done, or why it may stand. */
  readonly reason: string;
  /** Command. */
  readonly command_id: string;
}

/** Whoever is asked before an effect agreed to it, and it was begun: one that is held may go at its end. */
export interface EffectAgreed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation that was agreed to. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Question that was agreed to: derived from tenant, run, effect and action. */
  readonly approval_id: string;
  /** Who agreed: people, or the policy and its rule, policy:bundle@version/rule. */
  readonly agreed_by: readonly string[];
}

/** A person had data erased: the keys that seal it are destroyed once this is on record. */
export interface ErasureOrdered {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id of the erasure: of the command that ordered it. */
  readonly erasure_id: string;
  /** Tenant whose data it is. */
  readonly tenant: string;
  /** Id derived from tenant and subject, which is not named here: whoever knows the subject can tell that it is meant; null for every subject. */
  readonly subject_id: string | null;
  /** Only keys of retention windows that ended by this time, epoch milliseconds; null for all windows. */
  readonly ended_by: number | null;
  /** Who ordered it. */
  readonly by: string;
  /** Why, in their words. */
  readonly reason: string;
}

/** A compensation as an execution of its own, derived from its outcome: what was called, under which contract, and what it reverses. */
export interface ExecutedCompensation {
  /** Id derived from tenant, run and effect key, as that of a mutation is. */
  readonly compensation_id: string;
  /** rev_ and the mutation it reverses: the same for every attempt. */
  readonly effect_key: string;
  /** Mutation it reverses. */
  readonly reverses_mutation_id: string;
  /** Hash of the record that bound that mutation. */
  readonly reverses_record_hash: Hash;
  /** Rollback it belongs to. */
  readonly rollback_id: string | null;
  /** Recovery step it belongs to. */
  readonly step_id: string;
  /** Attempt that this is the outcome of, from 1. */
  readonly attempt: number;
  /** Capability that was called. */
  readonly capability: string;
  /** Key the call carried, the same on every attempt. */
  readonly idempotency_key: string;
  /** SHA-256 of the contract of the compensation itself; null where none is registered. */
  readonly contract_digest: Hash | null;
  /** Version of that contract, from 1; null without one. */
  readonly contract_version: number | null;
  /** Class that contract declares; irreversible without one. */
  readonly reversal_class: ReversalClass;
  /** Arguments of the call; canonical JSON before sealing. */
  readonly args: Payload;
  /** What the tool answered; null where nobody heard it. */
  readonly result: Payload | null;
  /** Business subject of the mutation. */
  readonly subject_ref: string | null;
  /** Money the compensation itself moves, as its contract reads it; null where it names none. */
  readonly value: Money | null;
  /** What it moves and leaves behind, by unit, as its contract reads arguments and result; a unit nobody could read is missing. */
  readonly consequence: readonly Money[];
  /** How it ended: succeeded, failed or uncertain. */
  readonly execution_state: ExecutionState;
  /** Code of the verdict. */
  readonly reason: string;
  /** Agent that made the effect it reverses. */
  readonly agent_id: string;
  /** Whom that agent acted for. */
  readonly initiator: string | null;
}

/** The same effect key arrived with other content; the first stands. */
export interface ExecutionConflicted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The mutation that stands. */
  readonly mutation_id: string;
  /** Run. */
  readonly run_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Event that was refused. */
  readonly event_id: string;
  /** Content that stands. */
  readonly recorded_sha256: Hash;
  /** Content that was refused. */
  readonly conflicting_sha256: Hash;
}

/** Nobody reported in time how an execution ended; a person is asked. A later report still counts. */
export interface ExecutionOverdue {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Capability that acted. */
  readonly capability: string;
  /** What a person works from, by the contract; null without one. */
  readonly runbook: string | null;
  /** What is known of the execution. */
  readonly execution_state: ExecutionState;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A mutation that is marked rolled back, with all that recovery needs. */
export interface FallenMember {
  /** The commit. */
  readonly mutation_id: string;
  /** The rollback that marked it. */
  readonly rollback_id: string;
  /** From which rollback the fall came, and how far back that one reaches. */
  readonly root: LineageRoot | null;
  /** How its trigger was admitted. */
  readonly admission: Admission;
  /** The facts of the execution. */
  readonly execution: Execution;
  /** State of the forward action. */
  readonly execution_state: ExecutionState;
  /** State of its recoverability. */
  readonly recoverability: RecoverabilityState;
  /** Code: why automation is not possible; null when it is. */
  readonly reason: string | null;
  /** Place of its terms in `contracts`, from 0; null without a contract. */
  readonly contract: number | null;
  /** Executable recovery pointer. */
  readonly ref: MutationRef;
  /** Hash of the record that bound the mutation. */
  readonly recorded_hash: Hash;
  /** Position of the record that bound the mutation in its partition of this log; later executions have a higher one. */
  readonly recorded_seq: number;
  /** Who has to hear of it. */
  readonly consumers: readonly DueConsumer[];
  /** How it was found out how the forward action ended; null where its producer told. */
  readonly found_out: FoundOut | null;
}

/** Whose the handle is that an execution named: until then nothing is undone by it. */
export interface HandleJudged {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation that named it. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** `handle/` and the SHA-256 of adapter and handle, in hex. */
  readonly ref: string;
  /** False: somebody else named it first, and people decide about it. */
  readonly is_owner: boolean;
  /** Seq of the HandleClaimed that says so, in the ref's partition of recourse.assumptions. */
  readonly position: number;
  /** By when a person is to have looked; epoch milliseconds, null where it is its own. */
  readonly review_by: number | null;
}

/** What held these triggers has changed: a bounded number of them is decided again, each in a decision of its own. */
export interface HeldReviewed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id of what held them: source, breaker or event. */
  readonly cause: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run of the trigger that was decided. */
  readonly run_id: string;
  /** True when a person let the whole event through. */
  readonly lifts_closure: boolean;
}

/** The hold of an effect ended and its preconditions hold: it is released. */
export interface HoldElapsed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** When the hold ended, epoch milliseconds. */
  readonly hold_until: number;
  /** Verdict per ref at the end of the hold, from one view of the assumptions. */
  readonly judged: readonly JudgedRef[];
}

/** The commits of a runtime were compared with the ledger. */
export interface LineageReconciled {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Runtime; also the record key. */
  readonly runtime: string;
  /** Id derived from the command. */
  readonly reconciliation_id: string;
  /** Commits compared. */
  readonly compared: number;
  /** Where they diverge. */
  readonly contaminated: readonly Contamination[];
  /** Who asked. */
  readonly by: string;
  /** Command. */
  readonly command_id: string;
  /** Who is to deal with it; null where nothing diverges. */
  readonly owner: string | null;
  /** By when, epoch milliseconds: what an earlier comparison found keeps its deadline; null where nothing diverges. */
  readonly deadline_at: number | null;
  /** Agents whose commits fell and are kept, and the program that compared: neither they nor who owns them deal with it. */
  readonly agents: readonly string[];
  /** For whom what fell and is kept was done: neither they nor who owns them deal with it; empty in records older than this field. */
  readonly initiators: readonly string[];
  /** Contracts that what fell and is kept ran under: nobody who registered or confirmed them deals with it; empty in records older than this field. */
  readonly contract_digests: readonly Hash[];
}

/** A mutation whose recoverability moved. */
export interface MovedMutation {
  /** The mutation. */
  readonly mutation_id: string;
  /** State before. */
  readonly from_state: RecoverabilityState;
  /** State after. */
  readonly to_state: RecoverabilityState;
  /** Code: why; null when the event says it all. */
  readonly reason: string | null;
  /** A worker observed by another capability that the effect is undone. */
  readonly verified: boolean;
  /** Rollback it belongs to; null outside one. */
  readonly rollback_id: string | null;
  /** Recovery step it belongs to; null outside one. */
  readonly step_id: string | null;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** Capability that was called. */
  readonly capability: string;
  /** Agent that made the effect; null in records older than this field. */
  readonly agent_id: string | null;
  /** It was done under a contract. */
  readonly contracted: boolean;
  /** Value whose debit a verified compensation frees. */
  readonly refund: Money | null;
  /** Commits of other runs it was derived from; their recoveries wait until this one has ended. */
  readonly derived_from: readonly CommitRef[];
}

/** The intent of an execution was recorded before it ran. */
export interface MutationPlanned {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly mutation_id: string;
  /** The facts as planned. */
  readonly execution: Execution;
  /** Contract terms; null without a contract. */
  readonly terms: ContractTerms | null;
  /** Refs the action relies on. */
  readonly assumption_refs: readonly string[];
  /** Producer time, epoch milliseconds. */
  readonly planned_at: number;
  /** Event that planned it. */
  readonly event_id: string;
  /** Hash of the event's content. */
  readonly content_sha256: Hash;
  /** If its outcome is not reported by then, a person is asked; epoch milliseconds, null in records older than this field. */
  readonly conclude_by: number | null;
  /** When the hold of an effect that is left to the ledger ends; epoch milliseconds, null when its producer acts itself. */
  readonly hold_until: number | null;
  /** Verdict per ref of a held effect, from one view of the assumptions. */
  readonly judged: readonly JudgedRef[];
  /** Id of the key that signed what told of it; null where wires are open. */
  readonly signing_key: string | null;
  /** Ref under which it is asked whose the staged part of a held effect is; null where none is asked about. */
  readonly handle_ref: string | null;
  /** Digest of what is planned, as an approval before the effect covers it; null in records older than this field. */
  readonly action_digest: Hash | null;
}

/** A ref that a contradicted commit relies on is said to hold again. */
export interface MutationReaffirmed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The commit. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Who says so. */
  readonly evidence: Evidence;
}

/** An execution was accepted, its reversal bound. */
export interface MutationRecorded {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly mutation_id: string;
  /** The facts of the execution. */
  readonly execution: Execution;
  /** State of the forward action. */
  readonly execution_state: ExecutionState;
  /** State of its recoverability. */
  readonly recoverability: RecoverabilityState;
  /** Code: why automation is not possible; null when it is. */
  readonly reason: string | null;
  /** Contract terms; null without a contract. */
  readonly terms: ContractTerms | null;
  /** Executable recovery pointer. */
  readonly ref: MutationRef;
  /** What it moves and leaves behind, by unit, as its contract reads arguments and result; a unit nobody could read is missing. */
  readonly consequence: readonly Money[];
  /** Verdict per ref at one view of the assumptions. */
  readonly judged: readonly JudgedRef[];
  /** Event that stated it. */
  readonly event_id: string;
  /** Hash of the event's content. */
  readonly content_sha256: Hash;
  /** If an uncertain outcome is not settled by then, a person is asked; epoch milliseconds, null for any other outcome. */
  readonly conclude_by: number | null;
  /** When a worker is asked whether an uncertain call took effect, since no call can be under way by then; epoch milliseconds, null when nobody can tell. */
  readonly reconcile_at: number | null;
  /** When people are warned that the window closes; epoch milliseconds, null without a warning. */
  readonly warn_at: number | null;
  /** By when a person is to have looked: at an effect that took hold and that nothing automatic can take back, though its contract did not say so, or at a call that its agent gives to a person; epoch milliseconds, null for any other. */
  readonly review_by: number | null;
  /** Rollback that marked the commit before this record, or null. If present, this record moves its recovery on. */
  readonly rollback_id: string | null;
  /** How it was found out how the forward action ended; null where its producer told. */
  readonly found_out: FoundOut | null;
  /** Id of the key that signed what told of it; null where wires are open. */
  readonly signing_key: string | null;
  /** Ref under which it is asked whose the handle is that its reversal goes by; null where none is asked about. */
  readonly handle_ref: string | null;
  /** Digest of what was done, as an approval before the effect covers it: tenant, run, effect, capability, contract, subject and arguments; null of what failed, and in records older than this field. */
  readonly action_digest: Hash | null;
}

/** A person ended what waited for people about an effect. That it took effect or did not is recorded as an execution behind it. */
export interface MutationSettled {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** What the person says. */
  readonly settled_as: SettledAs;
  /** Who. */
  readonly by: string;
  /** Why, and on what evidence. */
  readonly reason: string;
  /** Command that asked for it. */
  readonly command_id: string;
}

/** Mutations of a run are marked rolled back for one reason, last effect first where a whole run is undone. */
export interface MutationsFell {
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
  /** Why they do not stand; the root of each is its own. */
  readonly evidence: Evidence;
  /** Terms of the contracts of its members, each once. */
  readonly contracts: readonly ContractTerms[];
  /** What falls. */
  readonly members: readonly FallenMember[];
}

/** Put on record that keys are to be destroyed, before they are. */
export interface OrderErasure {
  /** Who orders it; the tenant whose data it is, which is the record key. */
  readonly envelope: CommandEnvelope;
  /** Id derived from tenant and subject, which is not named here: whoever knows the subject can tell that it is meant; null for every subject. */
  readonly subject_id: string | null;
  /** Only keys of retention windows that ended by this time, epoch milliseconds; null for all windows. */
  readonly ended_by: number | null;
  /** Why, in their words. */
  readonly reason: string;
}

/** A person looked at a commit beyond the bound. */
export interface OutOfBandReviewed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Rollback. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** stands: it is left alone. rolled_back: it gets a trigger of its own. */
  readonly verdict: OutOfBandVerdict;
  /** Who. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
  /** Command. */
  readonly command_id: string;
}

/** What becomes of a commit beyond the bound. */
export const OUT_OF_BAND_VERDICT_VALUES = ['stands', 'rolled_back'] as const;
export type OutOfBandVerdict = (typeof OUT_OF_BAND_VERDICT_VALUES)[number];

/** The gate of a commit admitted it without what fell: it stands on another parent. */
export interface Reattached {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Agent. */
  readonly agent_id: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** Parent that fell. */
  readonly fallen: CommitRef;
  /** New parent; null when none stands before the one that fell. */
  readonly parent: CommitRef | null;
  /** Verdict on the new parent; null without one. */
  readonly judged: JudgedRef | null;
  /** The fall. */
  readonly evidence: Evidence;
  /** Bundle whose predicates were run again. */
  readonly bundle: string;
  /** Its version that stands now. */
  readonly bundle_version: number;
}

/** Compare the commits a runtime holds with the ledger. */
export interface ReconcileLineage {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Runtime; also the record key. */
  readonly runtime: string;
  /** What it holds. */
  readonly commits: readonly RuntimeCommit[];
}

/** A person has a worker look once more how an execution ended that people are asked about. */
export interface ReconcileMutation {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** Why. */
  readonly reason: string;
}

export const RECOVERABILITY_EVENT_VALUES = ['handle_bound', 'window_closed', 'compensation_started', 'compensation_verified', 'compensation_failed', 'manual_required', 'resolved', 'cancelled'] as const;
export type RecoverabilityEvent = (typeof RECOVERABILITY_EVENT_VALUES)[number];

/** Mutations of a run moved in their recoverability by one event. */
export interface RecoverabilityChanged {
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
  /** What moved it. */
  readonly event: RecoverabilityEvent;
  /** What moved. */
  readonly members: readonly MovedMutation[];
}

/** All commits under a bundle were looked at. */
export interface ReevaluationClosed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from the bundle version. */
  readonly job_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Name of the bundle; also the record key. */
  readonly bundle: string;
  /** Version that is applied to earlier commits. */
  readonly bundle_version: number;
  /** Key of the last commit looked at. */
  readonly through: string;
  /** Commits looked at so far. */
  readonly looked_at: number;
  /** Of these, those the successor refuses. */
  readonly refused: number;
  /** Of these, how many the successor cannot judge, or whose inputs are gone. */
  readonly unjudged: number;
}

/** A bounded part of the commits under a bundle was looked at. */
export interface ReevaluationContinued {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from the bundle version. */
  readonly job_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Name of the bundle; also the record key. */
  readonly bundle: string;
  /** Version that is applied to earlier commits. */
  readonly bundle_version: number;
  /** Key of the last commit looked at. */
  readonly through: string;
  /** Commits looked at so far. */
  readonly looked_at: number;
  /** Of these, those the successor refuses. */
  readonly refused: number;
  /** Of these, how many the successor cannot judge, or whose inputs are gone. */
  readonly unjudged: number;
}

/** A policy bundle was replaced: a job looks for commits the successor would have refused. */
export interface ReevaluationOpened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from the bundle version. */
  readonly job_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Name of the bundle; also the record key. */
  readonly bundle: string;
  /** Version that is applied to earlier commits. */
  readonly bundle_version: number;
  /** Digest of the version. */
  readonly bundle_digest: Hash;
  /** Commits recorded before this are not looked at, epoch milliseconds. */
  readonly since: number;
}

/** Say that a trigger was wrong: a held one is closed; what is already rolled back stays rolled back. */
export interface RejectTrigger {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Offending commit. */
  readonly mutation_id: string;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** A person says what was done about a consumer that did not say in time that it heard of a rollback. */
export interface ReviewDelivery {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Delivery: derived from rollback and consumer. */
  readonly delivery_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Who is silent. */
  readonly consumer: string;
  /** What was done, or why its silence may stand. */
  readonly reason: string;
}

/** A person says what was done about commits that a runtime keeps though they fell. */
export interface ReviewDivergence {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Runtime; also the record key. */
  readonly runtime: string;
  /** What was done, or why it may stand. */
  readonly reason: string;
}

/** Say what becomes of a commit beyond the bound. */
export interface ReviewOutOfBand {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** What becomes of it. */
  readonly verdict: OutOfBandVerdict;
  /** Why. */
  readonly reason: string;
}

/** A person says what was done about a rise of rollbacks, or why it may go on. */
export interface ReviewTrend {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run whose rollback raised the alert; also the record key. */
  readonly run_id: string;
  /** Id of the alert, derived from scope, tenant, name and partition. */
  readonly trend_id: string;
  /** Whose rollbacks rose. */
  readonly scope: TrendScope;
  /** Name of the tenant or the agent. */
  readonly name: string;
  /** What was done, or why it may go on. */
  readonly reason: string;
}

/** A remembered trigger whose commit nobody recorded in time, a held one that nobody judged, or a commit beyond a bound that nobody reviewed: a person is asked. A mark still counts when it comes. */
export interface RollbackEscalated {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Rollback. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation that is to be rolled back; it may not exist. */
  readonly mutation_id: string;
  /** Code of the reason. */
  readonly reason: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A commit beyond the bound of a rollback, or one that a successor of its bundle cannot judge, waits for a person. */
export interface RollbackOutOfBand {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Rollback. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** The fall that reaches it, or the re-evaluation that cannot judge it. */
  readonly evidence: Evidence;
  /** When it was recorded, epoch milliseconds. */
  readonly committed_at: number;
  /** Who looks at it. */
  readonly owner: string;
  /** By when, epoch milliseconds. */
  readonly deadline_at: number;
}

/** Another commit without an outside effect that is rolled back with the one a record is about. */
export interface RolledBackCheckpoint {
  /** The commit. */
  readonly commit_id: string;
  /** The rollback that marked it. */
  readonly rollback_id: string;
  /** From which rollback the fall came, and how far back that one reaches. */
  readonly root: LineageRoot | null;
  /** How its trigger was admitted. */
  readonly admission: Admission;
  /** Agent. */
  readonly agent_id: string;
  /** Step. */
  readonly step_id: string;
  /** Lineage entry that produced it. */
  readonly produced_by: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** Refs it relied on. */
  readonly assumption_refs: readonly string[];
  /** Commits it was made from. */
  readonly derived_from: readonly CommitRef[];
  /** When it took hold, epoch milliseconds. */
  readonly committed_at: number;
  /** Hash of its CheckpointRecorded. */
  readonly recorded_hash: Hash;
  /** Place of its CheckpointRecorded in this log. */
  readonly recorded_seq: number;
  /** The newest commit of its run before it that stands, where the run resumes; null when there is none. */
  readonly resume: CommitRef | null;
  /** When its state is given up, epoch milliseconds; null when none is kept. */
  readonly harden_at: number | null;
  /** Who has to hear of it. */
  readonly consumers: readonly DueConsumer[];
  /** Person on whose behalf the agent acted; null when unknown. */
  readonly initiator: string | null;
}

/** A person ends what waits for people about one effect. */
export interface SettleMutation {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Mutation. */
  readonly mutation_id: string;
  /** What the person says. */
  readonly settled_as: SettledAs;
  /** Why, and on what evidence. */
  readonly reason: string;
}

/** What a person says of an effect that nothing automatic can end: took_effect or not_done where nobody knew how its execution ended; accepted as it stands, or repaired by hand, where nothing can take it back. */
export const SETTLED_AS_VALUES = ['took_effect', 'not_done', 'accepted', 'repaired'] as const;
export type SettledAs = (typeof SETTLED_AS_VALUES)[number];

/** A person said whether a trigger was right; the weight of its source changes. */
export interface SourceJudged {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from the mutation. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Offending commit. */
  readonly mutation_id: string;
  /** Who stated the evidence. */
  readonly source: string;
  /** True when the trigger was right. */
  readonly confirmed: boolean;
  /** Weight of the source after it, in thousandths, 0 to 1000. */
  readonly weight_permille: number;
  /** Who said so. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** Command that said so. */
  readonly command_id: string;
  /** Agent whose effect is taken back for the trigger; null where none is: where the trigger waited for this word. */
  readonly agent_id: string | null;
  /** What that effect is; null where none is taken back. */
  readonly capability: string | null;
}

/** Every commit a spread reaches is contradicted. */
export interface SpreadClosed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, ref and position. */
  readonly spread_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Ref that was invalidated; also the record key. */
  readonly ref: string;
  /** Seq of the invalidating statement in the assumptions log: statements of one ref spread in this order. */
  readonly position: number;
  /** Commits contradicted in all. */
  readonly contradicted: number;
}

/** One bounded decision of a spread was taken; the next one begins after it. */
export interface SpreadContinued {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, ref and position. */
  readonly spread_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Ref that was invalidated; also the record key. */
  readonly ref: string;
  /** Seq of the invalidating statement in the assumptions log: statements of one ref spread in this order. */
  readonly position: number;
  /** Commits up to this id, in order of ids, are contradicted. */
  readonly through_mutation_id: string;
  /** Commits contradicted so far. */
  readonly contradicted: number;
}

/** An invalidation reaches more commits than one decision may hold; they are contradicted in bounded decisions. */
export interface SpreadOpened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, ref and position. */
  readonly spread_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Ref that was invalidated; also the record key. */
  readonly ref: string;
  /** Seq of the invalidating statement in the assumptions log: statements of one ref spread in this order. */
  readonly position: number;
  /** Run the statement is limited to; null for every run of the tenant. */
  readonly scope_run_id: string | null;
  /** The statement, as every contradiction carries it. */
  readonly evidence: Evidence;
  /** The statement says that the ref holds again; false for one that invalidates it. */
  readonly reaffirms: boolean;
  /** Run of the commit that fell, where the ref is that it stands; null for a statement. */
  readonly parent_run_id: string | null;
}

/** A part of the state of a commit came. */
export interface StateChunkRecorded {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly commit_id: string;
  /** Place among the chunks, from 0. */
  readonly index: number;
  /** The chunk. */
  readonly chunk: Payload;
  /** Chunks that are still missing. */
  readonly chunks_missing: number;
}

/** A marked commit counts toward the breaker of its capability; recorded only where such breakers are set. */
export interface StormCounted {
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
  /** Marked commit. */
  readonly mutation_id: string;
  /** Capability that would be called to undo it. */
  readonly capability: string;
  /** Event of the evidence; one counts once. */
  readonly event_id: string;
  /** For how long it counts, milliseconds. */
  readonly window_ms: number;
}

/** A person has looked at a rise of rollbacks: the rate of then is the usual one from now on. */
export interface TrendReviewed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id of the alert, derived from scope, tenant, name and partition. */
  readonly trend_id: string;
  /** Whose rollbacks rose. */
  readonly scope: TrendScope;
  /** Name of the tenant or the agent. */
  readonly name: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run whose rollback raised the alert; the key under which it is reviewed. */
  readonly run_id: string;
  /** Who said so. */
  readonly by: string;
  /** What was done, or why it may go on. */
  readonly reason: string;
  /** Command. */
  readonly command_id: string;
}

/** Rollbacks come steadily faster than they used to: a person is asked, and nothing is held. */
export interface TrendRose {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id of the alert, derived from scope, tenant, name and partition. */
  readonly trend_id: string;
  /** Whose rollbacks rose. */
  readonly scope: TrendScope;
  /** Name of the tenant or the agent. */
  readonly name: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run whose rollback raised the alert; the key under which it is reviewed. */
  readonly run_id: string;
  /** Length of a window, milliseconds. */
  readonly window_ms: number;
  /** Rollbacks of the newest windows on this partition, the newest last. */
  readonly counts: readonly number[];
  /** Usual rollbacks of a window on this partition, thousandths. */
  readonly usual_permille: number;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A trigger was not admitted automatically: it waits in a list for a person. */
export interface TriggerHeld {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from the mutation. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Offending commit. */
  readonly mutation_id: string;
  /** Evidence that is held. */
  readonly evidence: Evidence;
  /** Command that asked for it; null for what evidence says by itself. */
  readonly command_id: string | null;
  /** Code: SOURCE_UNTRUSTED, SOURCE_WITHOUT_ACCESS, EVIDENCE_STALE, EVIDENCE_TOO_SENSITIVE, BREAKER_OPEN, CLOSURE_LIMIT or HOLDS_AGAIN. */
  readonly reason: string;
  /** What holds it, and by how much, in words. */
  readonly detail: string;
  /** Id of what holds it (source, breaker or event); everything it holds is reviewed together. */
  readonly cause: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A trigger for what is rolled back already changes nothing. */
export interface TriggerRedundant {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The rollback that stands. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Evidence that arrived again. */
  readonly evidence: Evidence;
}

/** A person said that a held trigger was wrong: it rolls nothing back. */
export interface TriggerRejected {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from the mutation. */
  readonly rollback_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Offending commit. */
  readonly mutation_id: string;
  /** Event whose trigger was rejected; any other event is judged on its own. */
  readonly event_id: string;
  /** Who said so. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** Command that said so. */
  readonly command_id: string;
}

/** A person or program says that a commit should not stand. */
export interface TriggerRollback {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Why. */
  readonly reason: string;
}

/** A trigger was admitted whose commit cannot be marked in the same decision: it is not recorded yet, it is just being recorded, or there is no room for more. Remembered, and marked once it can be. */
export interface TriggerUnmatched {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The commit that was named. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** The rollback. */
  readonly rollback_id: string;
  /** Why, with the root of the fall. */
  readonly evidence: Evidence;
  /** How its trigger was admitted. */
  readonly admission: Admission;
  /** Who is to mark it. */
  readonly owner: string;
  /** When a person is asked, epoch milliseconds. */
  readonly deadline_at: number;
}

/** A step of a run that failed for good. */
export interface FailedStepRef {
  /** Its mutation. */
  readonly mutation_id: string;
  /** Step of the run, as its agent names it. */
  readonly step_id: string;
}

/** The effects of a run that an undo reaches, or a bounded part of them, last first; each one that stands falls in the same decision. */
export interface UndoListed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Undo. */
  readonly undo_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Command that asked for it; null for a run one of whose steps failed for good. */
  readonly command_id: string | null;
  /** The step that began it by failing for good, where the run says so; null where somebody asked. */
  readonly begun_by: FailedStepRef | null;
  /** Mutations asked for; empty for the whole run. */
  readonly asked_ids: readonly string[];
  /** Who asked and why, as every mark carries it. */
  readonly evidence: Evidence;
  /** Effects of this part, last first. */
  readonly mutation_ids: readonly string[];
  /** Mutations asked for that the run does not have; in the last part. */
  readonly unknown_ids: readonly string[];
  /** No part follows. */
  readonly is_last: boolean;
}

/** Undo what an agent did: a whole run, or some of its mutations. */
export interface UndoRun {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Mutations to undo, at most 200; empty for the whole run. */
  readonly mutation_ids: readonly string[];
  /** Why, in the person's words. */
  readonly reason: string;
}

/** The window of a reversal closes soon; said once. */
export interface WindowClosing {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Capability that acted. */
  readonly capability: string;
  /** What a person works from, by the contract; null without one. */
  readonly runbook: string | null;
  /** Who is to act. */
  readonly owner: string;
  /** When it closes, epoch milliseconds. */
  readonly closes_at: number;
}

export const ASK_VERDICT_VALUES = ['met', 'not_met', 'unknown'] as const;
export type AskVerdict = (typeof ASK_VERDICT_VALUES)[number];

/** The end of a request to a worker. Each request is closed by exactly one of these, or by a record that made it unnecessary. */
export interface WorkerAnswered {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** The request. */
  readonly leg_id: string;
  /** What was asked. */
  readonly kind: LegKind;
  /** Attempt, from 1. */
  readonly attempt: number;
  /** The ledger's own verdict on what was observed: yes, no, or unknown. */
  readonly verdict: AskVerdict;
  /** Code: why. */
  readonly reason: string;
  /** What the worker observed, in order. */
  readonly observations: readonly Observation[];
  /** When it is asked again, epoch milliseconds; null when it is not. */
  readonly retry_at: number | null;
  /** Id of the key that signed the answer; null where wires are open, or none came. */
  readonly signing_key: string | null;
}

/** What one worker said of how an execution ended, and another is to see too. */
export interface ToBeConfirmed {
  /** Request it answered. */
  readonly leg_id: string;
  /** What it was asked. */
  readonly kind: LegKind;
  /** met or not_met. */
  readonly verdict: string;
  /** Hash of the handle it told; null where it told none. */
  readonly handle_sha256: Hash | null;
  /** Its key. */
  readonly said_by: string;
}

/** The ledger asks a worker about a forward action; never to compensate. */
export interface WorkerAsked {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Mutation. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Adapter whose workers are asked. */
  readonly adapter: string;
  /** When a missing answer counts as none, epoch milliseconds. */
  readonly answer_by: number;
  /** When the first request of this kind went out, epoch milliseconds; the life of the key counts from here. */
  readonly first_asked_at: number;
  /** The request, as it is sent. */
  readonly request: LegRequested;
  /** Where an observer is asked: what it is to confirm; null for every other request. */
  readonly confirms: ToBeConfirmed | null;
}
