// Generated from schemas/ by scripts/generate.mjs. Do not edit.

/** What a person who decides is told of an effect beside its facts: what the run was for, how it is compensated, and what of that nobody said. */
export interface Brief {
  /** What the run was meant to achieve, in its agent's own words: for orientation, and not a fact; null when nobody said. */
  readonly objective: string | null;
  /** How its contract says the effect is compensated, with the runbook a person works from; null without contract, and for a read. */
  readonly compensation: CompensationTerms | null;
  /** What it lacks, by name: objective; runbook, where no tool undoes the effect. */
  readonly missing: readonly string[];
}

/** An admitted step of a run, as its producer states it; its id is the hash of this. */
export interface Checkpoint {
  /** Tenant. */
  readonly tenant: string;
  /** Run of the commit. */
  readonly run_id: string;
  /** Agent. */
  readonly agent_id: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  /** What the run is meant to achieve. */
  readonly objective: string | null;
  /** Step of the run. */
  readonly step_id: string;
  /** Lineage entry that produced it: the call, message or computation. */
  readonly produced_by: string;
  /** Business subject; null when there is none. */
  readonly subject_ref: string | null;
  /** Commits it was made from, of its own run and others. */
  readonly parents: readonly CommitRef[];
  /** Refs it relies on. */
  readonly assumption_refs: readonly string[];
  /** How it was admitted; null for a commit that nobody gated. */
  readonly gate: Gate | null;
  /** What decided; null when it is not pinned. */
  readonly release: ReleaseTuple | null;
  /** State at this commit; null when it carries none. */
  readonly state: CheckpointState | null;
  /** When it took effect by the producer's clock, epoch milliseconds. */
  readonly committed_at: number;
}

export const STATE_KIND_VALUES = ['whole', 'delta'] as const;
export type StateKind = (typeof STATE_KIND_VALUES)[number];

/** State of a run at a commit: whole, or a delta on the state of an earlier commit; salted, in chunks. */
export interface CheckpointState {
  /** Whole state, or a JSON merge patch (RFC 7396) on that of base_id. */
  readonly kind: StateKind;
  /** Commit of the same run whose state the delta builds on; null for a whole state. */
  readonly base_id: string | null;
  /** Media type of the state; deltas are application/json. */
  readonly content_type: string;
  /** Size of the state or delta, without salts; bytes. */
  readonly size_bytes: number;
  /** SHA-256 of each chunk as published, before sealing: 16 bytes of salt, then its part of the state. In the order of the bytes. */
  readonly chunk_sha256s: readonly Hash[];
  /** The only chunk; null when there are several, each in a StateChunk record. */
  readonly body: Payload | null;
}

/** Who asked for what, as the edge that authenticated the person states it. */
export interface CommandEnvelope {
  /** H(tenant, principal, route, idempotency key). */
  readonly command_id: string;
  /** Tenant the command is about. */
  readonly tenant: string;
  /** Directory subject of the person or program that asks. */
  readonly principal: string;
  /** Accounts that the directory knows of who asks, beside the subject: records may name them by one. */
  readonly accounts: readonly string[];
  /** Roles the token carried. */
  readonly roles: readonly string[];
  /** Route of the edge that took the request. */
  readonly route: string;
  /** Key the caller sent, or one the edge made. */
  readonly idempotency_key: string;
  /** SHA-256 of the canonical request body. */
  readonly body_sha256: Hash;
  /** Edge time, epoch milliseconds. */
  readonly issued_at: number;
  /** HMAC-SHA-256 of topic, type and command under the edge's key; empty where the stack runs without. */
  readonly signature: Buffer;
}

/** Names a commit of a run. */
export interface CommitRef {
  /** Run of the commit. */
  readonly run_id: string;
  /** The commit: the id of its mutation. */
  readonly commit_id: string;
}

/** How an effect is compensated, as its contract decided. */
export interface CompensationTerms {
  /** automatic, approval_required, manual_runbook or not_supported. */
  readonly mode: string;
  /** Why so. */
  readonly reason: string;
  /** What a person works from, as a link or a path; null without one. */
  readonly runbook: string | null;
  /** Who accepted that nothing undoes it; null where something does. */
  readonly accepted_by: string | null;
}

export const CONTAMINATION_CAUSE_VALUES = ['fallen', 'derived'] as const;
export type ContaminationCause = (typeof CONTAMINATION_CAUSE_VALUES)[number];

/** A commit that a runtime holds as standing though it, or what it was made from, was rolled back. */
export interface Contamination {
  /** Run. */
  readonly run_id: string;
  /** The commit. */
  readonly commit_id: string;
  /** fallen: it was rolled back itself. derived: it rests on one that was. */
  readonly cause: ContaminationCause;
  /** The rolled-back commit. */
  readonly fallen: CommitRef;
  /** Its rollback. */
  readonly rollback_id: string;
  /** When the evidence against it became true as far as the ledger knows, epoch milliseconds. */
  readonly rolled_back_at: number;
  /** When it reached users; null when it did not. Epoch milliseconds. */
  readonly reached_user_at: number | null;
}

/** What later decisions need of the contract a mutation executed under, embedded so that a log replays alone (L2). */
export interface ContractTerms {
  /** SHA-256 of the contract's canonical JSON. */
  readonly contract_digest: Hash;
  /** Capability the contract is about. */
  readonly contract_name: string;
  /** Version of the contract, from 1. */
  readonly contract_version: number;
  /** Adapter that performs the reversal: prefix of its capability. */
  readonly adapter: string;
  /** Capability of the reversal; null when there is none. */
  readonly reversal_capability: string | null;
  /** Approval the contract demands before compensating. */
  readonly recovery_approval_mode: RecoveryApprovalMode;
  /** Recovery policy that governs the compensation. */
  readonly recovery_policy_ref: string | null;
  /** Declared impact: read, write, customer_visible, financial, destructive or security_sensitive. */
  readonly impact: string;
  /** Business effect in words. */
  readonly effect: string;
  /** What stays different after a compensation. */
  readonly residue: string | null;
  /** Length of the reversal window in milliseconds; null when there is none. */
  readonly reversal_window_ms: number | null;
  /** Longest a single tool call may take, milliseconds. */
  readonly call_timeout_ms: number;
  /** How long the provider deduplicates by idempotency key, milliseconds; null when it takes none. */
  readonly key_lifetime_ms: number | null;
  /** Capability that tells whether an effect happened. */
  readonly reconcile_capability: string | null;
  /** Capability that observes the resource before acting. */
  readonly stale_capability: string | null;
  /** CEL over observed and bound that must hold before acting. */
  readonly stale_condition: string | null;
  /** What the stale-state check compares; version, etag and compare_and_swap are compared again by the tool while it writes. */
  readonly stale_compares: string | null;
  /** Capability that observes the result; never the acting one. */
  readonly verify_capability: string | null;
  /** CEL over observed and bound that must hold after acting. */
  readonly success_condition: string | null;
  /** Maximum number of verification attempts. */
  readonly verify_max_attempts: number;
  /** Pause between verification attempts, milliseconds. */
  readonly verify_delay_ms: number;
  /** Dispatches of a step at the most before a person decides. */
  readonly max_attempts: number;
  /** The hold before the effect is let go; null without one. */
  readonly hold: HoldTerms | null;
  /** Events that end reversibility early (B5): names of events of the subject, or capabilities. */
  readonly window_closed_by: readonly string[];
  /** What an unnecessary compensation does, in words; null where the contract does not say. */
  readonly risk: string | null;
  /** How much worse an unnecessary compensation can make it: low, medium or high. */
  readonly risk_level: string;
  /** JSON pointers into what the stale check observes that change by themselves, so nobody relies on them. */
  readonly stale_volatile: readonly string[];
  /** How it is compensated, and why so; null for what only reads. */
  readonly compensation: CompensationTerms | null;
  /** Whether another version bound, or none, when the action named this one: then a person undoes it (A22). */
  readonly superseded: boolean;
}

/** What an action counts for in one unit: what it moves, and the debt of it. */
export interface Debit {
  /** Unit: an ISO 4217 code for money; comms, commitments, exposure or regulatory for what is counted. */
  readonly currency: string;
  /** What is moved, minor units; of comms and commitments a minor unit is a thousandth. */
  readonly value_minor: number;
  /** Debt: weight times value, in minor units rounded up. */
  readonly debit_minor: number;
}

/** Why a proposed version did not register. */
export const DROP_CAUSE_VALUES = ['withdrawn', 'lapsed', 'superseded'] as const;
export type DropCause = (typeof DROP_CAUSE_VALUES)[number];

/** A subscriber whose scope covers a rolled-back commit, and by when it has to answer. */
export interface DueConsumer {
  /** Name of the subscription. */
  readonly subscription: string;
  /** Who subscribed. */
  readonly consumer: string;
  /** How it hears. */
  readonly mode: SubscriptionMode;
  /** When its silence is overdue, epoch milliseconds. */
  readonly ack_by: number;
  /** The declared time from a commit to the consumer's users seeing what it made of it; milliseconds. */
  readonly commit_to_user_ms: number;
}

/** What a consumer let out that rested on a commit. */
export interface Emission {
  /** What it was, for instance email or report. */
  readonly kind: string;
  /** Its name at the consumer; null when it has none. */
  readonly ref: string | null;
  /** When it reached users by the consumer's clock, epoch milliseconds. */
  readonly emitted_at: number;
}

/** What the registry keeps beside contracts. */
export const ENTRY_KIND_VALUES = ['policy_bundle', 'agent_charter', 'context_source', 'kill_switch', 'subscription', 'autonomy_policy'] as const;
export type EntryKind = (typeof ENTRY_KIND_VALUES)[number];

export const EVIDENCE_KIND_VALUES = ['observation', 'critic', 'human', 'verifier', 'tool_return', 'lineage', 'policy_reevaluation'] as const;
export type EvidenceKind = (typeof EVIDENCE_KIND_VALUES)[number];

/** Why something committed should not stand. */
export interface Evidence {
  /** Kind of source. */
  readonly kind: EvidenceKind;
  /** Event that stated it. */
  readonly event_id: string;
  /** Ref it contradicts; null for a trigger that names a mutation. */
  readonly ref: string | null;
  /** Who stated it. */
  readonly source: string;
  /** What was stated, the fact now. */
  readonly statement: Payload | null;
  /** When the source says it became so; epoch milliseconds. */
  readonly stated_at: number;
  /** Partition of the assumptions log, of rollback notifications for lineage; -1 for a command. */
  readonly partition: number;
  /** Seq in the assumptions log, in rollback notifications for lineage; -1 for a command. */
  readonly position: number;
  /** For lineage: the rollback at the root of the fall. Null for a trigger of its own. */
  readonly root: LineageRoot | null;
}

/** A bound that an action would exceed, or has. */
export interface Excess {
  /** Whose bound: run, agent, tenant, platform; or capability, for a cap of its contract on one run. */
  readonly scope: string;
  /** Which one. */
  readonly scope_id: string;
  /** What is bounded: debt, value, calls, subjects, scope, regulatory, overrun; rung, where nobody was asked whom the rung of the agent wants asked before the effect; unread, where its contract says that it moves money and nobody can read how much; or name, where it was reserved in the name of another than the agent that acted. */
  readonly measure: string;
  /** Unit; empty where the measure has none. */
  readonly currency: string;
  /** Over how long it counts: life, hour or day. */
  readonly window: string;
  /** Used of it before the action. */
  readonly used_minor: number;
  /** What the action adds; of a rung, whom it wants asked: 1 a person, 2 two people, 3 it is not for the agent at all. */
  readonly asked_minor: number;
  /** The bound; equality passes. */
  readonly ceiling_minor: number;
}

/** What recovery, budget and notices need to know about a forward execution. */
export interface Execution {
  /** Tenant the execution belongs to. */
  readonly tenant: string;
  /** Run of the agent. */
  readonly run_id: string;
  /** Agent that acted. */
  readonly agent_id: string;
  /** Person on whose behalf the agent acted; null when unknown. */
  readonly initiator: string | null;
  /** What the run was meant to achieve, as its producer states it. */
  readonly objective: string | null;
  /** Step of the run. */
  readonly step_id: string;
  /** Call id of the forward action. */
  readonly call_id: string;
  /** Capability that was called. */
  readonly capability: string;
  /** Logical identity of the effect within its run. */
  readonly effect_key: string;
  /** Key the forward call carried. */
  readonly idempotency_key: string;
  /** The business subject the effect is about. */
  readonly subject_ref: string | null;
  /** Validated arguments. */
  readonly args: Payload;
  /** Result the tool returned. */
  readonly result: Payload | null;
  /** Handle of the effect at the provider. */
  readonly external_transaction_ref: string | null;
  /** Money moved, read through the contract's value expression. */
  readonly value: Money | null;
  /** Value before the call, as the producer captured it; null when none was captured. */
  readonly prior_value: Payload | null;
  /** What a dry run said the call would do; null without one. */
  readonly rehearsal: Payload | null;
  /** Handle of the part that is staged at the provider while the effect is held; null when nothing is. */
  readonly staged_ref: string | null;
  /** Commits this one was made from; those of its own run set the order in which it is undone. */
  readonly derived_from: readonly CommitRef[];
  /** What happens to the run's earlier effects when this one fails for good. */
  readonly on_failure: OnFailure;
  /** The model's decision that proposed the call, by its id: a message, an answer or a tool call; null when its producer names none. */
  readonly produced_by: string | null;
  /** What decided to act, pinned; null when it is not. */
  readonly release: ReleaseTuple | null;
}

/** What is known of the forward action. */
export const EXECUTION_STATE_VALUES = ['planned', 'executing', 'succeeded', 'failed', 'uncertain'] as const;
export type ExecutionState = (typeof EXECUTION_STATE_VALUES)[number];

/** How it was found out how a forward action ended, other than from its producer. */
export interface FoundOut {
  /** reconcile: a worker looked; release: a worker made the call when its hold ended; person: somebody said so. */
  readonly how: string;
  /** Person who said so; null for a worker. */
  readonly by: string | null;
  /** Request to the worker; null for a person. */
  readonly leg_id: string | null;
  /** Attempt of that request, from 1; 0 for a person. */
  readonly attempt: number;
  /** met: it took effect; not_met: it did not; unknown: nobody could tell. */
  readonly verdict: string;
  /** Code of the verdict, or the person's reason in words. */
  readonly reason: string;
  /** What was seen, in order. */
  readonly observations: readonly Observation[];
  /** When the ledger took it, epoch milliseconds. */
  readonly found_at: number;
}

export const GATE_VERDICT_VALUES = ['admitted', 'refused'] as const;
export type GateVerdict = (typeof GATE_VERDICT_VALUES)[number];

/** How a commit was admitted: by which bundle, on what inputs. */
export interface Gate {
  /** Name of the policy bundle. */
  readonly bundle: string;
  /** Version of the bundle. */
  readonly bundle_version: number;
  /** Digest of the bundle version. */
  readonly bundle_digest: Hash;
  /** What the gate said. */
  readonly verdict: GateVerdict;
  /** SHA-256 of the inputs as published, before sealing; they begin with a salt, so the hash reveals nothing. */
  readonly inputs_sha256: Hash;
  /** What the predicates read as `gate`: JSON {salt, gate}; null when there was nothing. */
  readonly inputs: Payload | null;
}

/** A SHA-256 hash, 32 bytes. 32 bytes. */
export type Hash = Buffer;

/** A signed head of one partition. */
export interface HeadNote {
  /** Log or wire. */
  readonly topic: string;
  /** Its partition. */
  readonly partition: number;
  /** Records the head commits to. */
  readonly size: number;
  /** The signed note: a checkpoint as C2SP tlog-checkpoint has it, signed by the auditor and by witnesses. */
  readonly note: string;
}

/** What a contract says about the hold before an effect is released (A24). */
export interface HoldTerms {
  /** How long the effect is held, milliseconds. */
  readonly hold_ms: number;
  /** Capability that gives back what is staged; null when nothing can be. */
  readonly cancel_capability: string | null;
  /** Capability that observes, at the end of the hold, whether the effect may still be made; null when there is none. */
  readonly precondition_capability: string | null;
  /** CEL over observed and args that must hold then. */
  readonly precondition_condition: string | null;
  /** True when the staged part is real and has to be given back on a cancel. */
  readonly is_reservation: boolean;
}

export const REF_VERDICT_VALUES = ['unknown', 'holds', 'invalidated'] as const;
export type RefVerdict = (typeof REF_VERDICT_VALUES)[number];

/** Verdict on a ref at a position of the assumptions log, of rollback notifications for a commit that stands; taken from one view. */
export interface JudgedRef {
  /** Name of the assumption. */
  readonly ref: string;
  /** Partition of the assumptions log that holds the ref. */
  readonly partition: number;
  /** Highest accepted seq of that partition the verdict takes into account. */
  readonly position: number;
  /** What the view said at that position. */
  readonly verdict: RefVerdict;
}

/** What a breaker or a rate is about. */
export const LIMIT_SCOPE_VALUES = ['tenant', 'source', 'capability'] as const;
export type LimitScope = (typeof LIMIT_SCOPE_VALUES)[number];

/** The rollback at the root of a fall, with its bound. */
export interface LineageRoot {
  /** Rollback of the offender. */
  readonly rollback_id: string;
  /** Run of the offender. */
  readonly run_id: string;
  /** The offender. */
  readonly mutation_id: string;
  /** Commits recorded before this are not rolled back, but reviewed by a person; null without a bound. Epoch milliseconds. */
  readonly bound_at: number | null;
}

/** An amount of money. */
export interface Money {
  /** Amount in minor units of the currency (cents, paise); of comms and commitments a minor unit is a thousandth. */
  readonly amount_minor: number;
  /** ISO 4217 code; or a unit that is counted: comms, commitments, exposure, regulatory. */
  readonly currency: string;
}

/** Executable pointer to the way back of a mutation, bound when its execution was accepted (A31 to A35). */
export interface MutationRef {
  /** Id of the mutation. */
  readonly mutation_id: string;
  /** Call id of the forward action. */
  readonly original_call_id: string;
  /** Capability that made the effect. */
  readonly capability: string;
  /** The business subject the effect is about. */
  readonly subject_ref: string | null;
  /** Class its contract declares. */
  readonly reversal_class: ReversalClass;
  /** Capability that undoes or compensates it; null when there is none. */
  readonly reversal_capability: string | null;
  /** Arguments of the reversal, bound at acceptance; canonical JSON before sealing. */
  readonly reversal_args: Payload | null;
  /** Refs the action relied on when it was decided. */
  readonly assumption_refs: readonly string[];
  /** Key the forward call carried; the reversal carries rev_ and this key. */
  readonly idempotency_key: string;
  /** When the effect happened, as the window counts it; epoch milliseconds. */
  readonly committed_at: number;
  /** Instant after which automation is unsafe; epoch milliseconds; null when there is no reversal. */
  readonly reversal_expires_at: number | null;
  /** SHA-256 of the overwritten value when the contract requires its capture. */
  readonly prior_value_hash: Hash | null;
  /** Handle of the effect at the provider. */
  readonly external_transaction_ref: string | null;
  /** Capability whose observation proves the reversal. */
  readonly verification_ref: string | null;
  /** Calls that follow the first, in order; empty for a reversal of one call. */
  readonly reversal_then: readonly ReversalCall[];
}

export const OBSERVATION_PHASE_VALUES = ['reconcile', 'stale_check', 'execute', 'verify'] as const;
export type ObservationPhase = (typeof OBSERVATION_PHASE_VALUES)[number];

/** What a capability observed. */
export interface Observation {
  /** When in the leg it was observed. */
  readonly phase: ObservationPhase;
  /** Capability that observed. */
  readonly capability: string;
  /** What it returned; JSON. */
  readonly observed: Payload;
  /** Worker time of the observation; epoch milliseconds. */
  readonly observed_at: number;
  /** Position of the call it is about within its reversal, from 1. */
  readonly call: number;
}

/** What happens to the earlier effects of a run when one of its steps fails for good. */
export const ON_FAILURE_VALUES = ['keep', 'compensate'] as const;
export type OnFailure = (typeof ON_FAILURE_VALUES)[number];

/** What was done about an effect that failed or should not stand (closed; requirement D20). */
export const OUTCOME_KIND_VALUES = ['retry_scheduled', 'evidence_refreshed', 'deprecated', 'escalated', 'reversed', 'reversal_refused'] as const;
export type OutcomeKind = (typeof OUTCOME_KIND_VALUES)[number];

export const PAYLOAD_ENCODING_VALUES = ['plain', 'sealed'] as const;
export type PayloadEncoding = (typeof PAYLOAD_ENCODING_VALUES)[number];

/** Bytes that may hold personal data, with what is needed to read or erase them. */
export interface Payload {
  /** Media type of the body before sealing. */
  readonly content_type: string;
  /** plain, or sealed with AES-256-GCM under key_id. */
  readonly encoding: PayloadEncoding;
  /** Key that seals the body; null when plain. */
  readonly key_id: string | null;
  /** The bytes as stored; sealed bytes when encoding is sealed. */
  readonly body: Buffer;
  /** SHA-256 of body as stored. */
  readonly sha256: Hash;
}

/** A ceiling that is higher for one reservation, by what it asks for, and as long as that counts. */
export interface Raise {
  /** Whose ceiling: run, agent, tenant or platform. */
  readonly scope: string;
  /** Which one. */
  readonly scope_id: string;
  /** What it bounds: debt or value. */
  readonly measure: string;
  /** Unit. */
  readonly currency: string;
  /** Over how long it counts: life, hour or day. */
  readonly window: string;
  /** By how much it is higher, minor units. */
  readonly by_minor: number;
}

/** What can be done about a mutation now. */
export const RECOVERABILITY_STATE_VALUES = ['planned', 'pending_commit', 'committed', 'reversal_available', 'reversal_expired', 'compensating', 'compensated', 'compensation_failed', 'manual_resolution_required', 'cancelled'] as const;
export type RecoverabilityState = (typeof RECOVERABILITY_STATE_VALUES)[number];

/** Who must agree before a compensation runs; absent counts as human. */
export const RECOVERY_APPROVAL_MODE_VALUES = ['auto', 'human', 'dual_control'] as const;
export type RecoveryApprovalMode = (typeof RECOVERY_APPROVAL_MODE_VALUES)[number];

/** What decided to act, pinned: version or digest of each part. */
export interface ReleaseTuple {
  /** Prompt. */
  readonly prompt: string;
  /** Model. */
  readonly model: string;
  /** Policy. */
  readonly policy: string;
  /** Tools. */
  readonly tools: string;
  /** Context. */
  readonly context: string;
  /** Evaluation it passed. */
  readonly eval: string;
  /** Memory. */
  readonly memory: string;
}

/** A further call of a reversal, made after the one before it was verified. */
export interface ReversalCall {
  /** Capability that is called. */
  readonly capability: string;
  /** Arguments that are bound; canonical JSON before sealing. */
  readonly args: Payload;
  /** Arguments that earlier calls of the reversal give; its worker adds them. */
  readonly taken: readonly TakenArg[];
  /** Observes the result of this call. */
  readonly verify_capability: string;
  /** CEL over observed and bound that must hold after this call. */
  readonly success_condition: string;
  /** Maximum number of verification attempts. */
  readonly verify_max_attempts: number;
  /** Pause between attempts, milliseconds. */
  readonly verify_delay_ms: number;
}

/** What reversing an effect can achieve; what is not declared counts as irreversible. */
export const REVERSAL_CLASS_VALUES = ['reversible', 'compensable', 'irreversible'] as const;
export type ReversalClass = (typeof REVERSAL_CLASS_VALUES)[number];

/** A commit as a runtime holds it. */
export interface RuntimeCommit {
  /** Run. */
  readonly run_id: string;
  /** The commit. */
  readonly commit_id: string;
  /** Commits it was made from. */
  readonly derived_from: readonly CommitRef[];
  /** Whether the runtime holds it as standing. */
  readonly stands: boolean;
  /** When it reached users; null when it did not. Epoch milliseconds. */
  readonly reached_user_at: number | null;
}

/** How a subscriber hears of rollbacks. */
export const SUBSCRIPTION_MODE_VALUES = ['sync', 'async', 'poll'] as const;
export type SubscriptionMode = (typeof SUBSCRIPTION_MODE_VALUES)[number];

/** An argument that an earlier call of the same reversal gives. */
export interface TakenArg {
  /** Name of the argument. */
  readonly name: string;
  /** Position of the call whose verification saw the value, from 1. */
  readonly call: number;
  /** JSON pointer into what that verification saw; empty for the whole. */
  readonly path: string;
}

/** Whose rollbacks a trend counts. */
export const TREND_SCOPE_VALUES = ['tenant', 'agent'] as const;
export type TrendScope = (typeof TREND_SCOPE_VALUES)[number];
