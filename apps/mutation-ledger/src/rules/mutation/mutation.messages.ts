// Mutations: what comes in, what is recorded, what stands in a row.
import type { ErrorKind } from '@recourse/contract';
import type {
  AskVerdict,
  CommitRef,
  ContractTerms,
  Evidence,
  Execution,
  ExecutionState,
  FoundOut,
  LegKind,
  LegVerdict,
  MutationRef,
  RecordOf,
  RecoverabilityState,
  SettledAs,
  ToBeConfirmed,
} from '@recourse/messages';
import type { CommitParkCode } from '../commit/commit.messages.js';

/** What the orchestrator recorded about one mutation; of a leg, what it says of one of its steps. */
export type RecoveryEvent =
  | Extract<RecordOf<'recourse.recoveries'>, { readonly type: 'StepEscalated' | 'StepDenied' | 'StepResolved' }>
  | { readonly type: 'Dispatched'; readonly body: { readonly step_id: string; readonly attempt: number } }
  | { readonly type: 'Settled'; readonly body: LegVerdict };

/** Why automation is not possible; REVERSAL_ARGS_INCOMPLETE and _UNFIT are followed by the fields, CLOSED_BY by the event. */
export type ReasonCode =
  | 'UNCONTRACTED'
  /** The version it names was retired, or a stricter one bound, for longer than agents are given to take that up. */
  | 'CONTRACT_SUPERSEDED'
  | 'NO_REVERSAL'
  | 'READ_ONLY'
  | 'HANDLE_MISSING'
  /** Somebody else's execution named the handle before. */
  | 'HANDLE_CLAIMED'
  | 'PRIOR_VALUE_MISSING'
  /** What it was called with, or what that answered, was erased before anybody knew how it ended. */
  | 'PAYLOADS_ERASED'
  | 'WINDOW_MISSING'
  | 'WINDOW_CLOSED'
  | 'EXECUTION_FAILED'
  | 'EXECUTION_UNCERTAIN'
  /** It took hold in spite of its cancel. */
  | 'EXECUTED_AFTER_CANCEL'
  | 'DENIED'
  /** The agent's call failed, and its playbook gives that kind of error to a person. */
  | `ESCALATED:${ErrorKind}`
  | `REVERSAL_ARGS_INCOMPLETE:${string}`
  /** What its undoing would be called with does not fit what that capability takes, or stands for a handle that nobody can be asked about. */
  | `REVERSAL_ARGS_UNFIT:${string}`
  | `CLOSED_BY:${string}`
  | `RESOLVED:${string}`
  | CancelReason;

/** Why a held effect was not let go. */
export type CancelReason =
  | 'CANCELLED_BY_PERSON'
  /** Whoever took it back may do so for being its agent alone. */
  | 'CANCELLED_BY_AGENT'
  | 'REF_INVALIDATED'
  | 'ROLLED_BACK'
  | 'PRECONDITION_FAILED'
  | 'PRECONDITION_UNKNOWN'
  /** A kill switch stood at the end of the hold. */
  | 'KILL_SWITCH'
  /** The charter of its agent does not let it go. */
  | 'CHARTER_REFUSED'
  /** Its contract wants people asked before it, and nobody agreed to what is held. */
  | 'APPROVAL_MISSING';

/** Why an input cannot be taken. */
export type ParkCode =
  | 'KEY_MISMATCH'
  | 'CONTRACT_UNKNOWN'
  | 'CONTRACT_MISMATCH'
  | 'TOO_MANY_REFS'
  | 'REF_RESERVED'
  | 'REF_UNSCOPED'
  | 'PAYLOAD_SEALED'
  | 'PAYLOAD_NOT_JSON'
  | 'PAYLOAD_HASH_MISMATCH'
  | CommitParkCode;

/** Who is to tell how an execution ended or, once it took effect, what becomes of it, and by when: nothing waits unseen (P12). */
export type Awaited = {
  /** The agent that acts; once people are asked, their role. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly deadline_at: number;
  /** People are asked: of an outcome because nobody told it in time. */
  readonly is_overdue: boolean;
};

/** What the ledger asks of workers: never to compensate. */
export type AskKind = Extract<LegKind, 'reconcile' | 'observe' | 'release' | 'cancel'>;

/** A request to a worker, and what came of it. */
export type Ask = {
  readonly leg_id: string;
  /** Adapter whose workers were asked. */
  readonly adapter: string;
  readonly kind: AskKind;
  /** From 1, counted per kind. */
  readonly attempt: number;
  readonly lease_id: string;
  /** Epoch milliseconds. */
  readonly answer_by: number;
  readonly first_asked_at: number;
  /** Null while it is open; overtaken when the answer came from somewhere else. */
  readonly answered: AskVerdict | 'overtaken' | null;
  /** When it is asked again, epoch milliseconds; null when it is not. */
  readonly retry_at: number | null;
  /** What another worker said, where an observer is asked. */
  readonly confirms?: ToBeConfirmed;
  /** It was asked of an attempt before, and counts against none that came after it. */
  readonly is_past?: true;
};

/** How long an effect is held. Once it is over the effect is let go, or never will be. */
export type Hold = { readonly until: number; readonly is_over: boolean };

/** What is still open about a forward action whose end is not known, and what workers were asked about it. */
export type Forward = {
  /** Refs as planned. */
  readonly refs: readonly string[];
  /** Earliest instant at which the effect can have taken hold, epoch milliseconds. */
  readonly since: number;
  readonly hold: Hold | null;
  readonly asks: readonly Ask[];
  /** When a worker is asked how an uncertain call ended, epoch milliseconds; null when nobody is. */
  readonly reconcile_at: number | null;
};

/** A mutation as its row holds it. */
export type Mutation = {
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly effect_key: string;
  readonly capability: string;
  readonly subject_ref: string | null;
  readonly execution_state: ExecutionState;
  readonly recoverability: RecoverabilityState;
  readonly reason: string | null;
  /** Epoch milliseconds; null without a window. */
  readonly expires_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly execution: Execution;
  /** Null while nobody is waited for. */
  readonly awaited: Awaited | null;
  readonly terms: ContractTerms | null;
  /** Null while the mutation is only planned. */
  readonly ref: MutationRef | null;
  /** Hash of the MutationRecorded that bound it; null while it is only planned. */
  readonly recorded_hash: Buffer | null;
  /** Place of that record in its partition of the log; null with it. */
  readonly recorded_seq: number | null;
  /** Dispatches of its compensation that are on record. */
  readonly compensation_attempts: number;
  /** It was observed to be undone: by its compensation, or after a person repaired it by hand. */
  readonly is_seen_undone: boolean;
  /** Last code that stopped it or sent it to a person; null while nothing did. */
  readonly last_error: string | null;
  readonly planned_sha256: Buffer | null;
  /** Digest of the action while nobody told its end: what may be erased before that is not read again. */
  readonly action_digest?: Buffer;
  readonly executed_sha256: Buffer | null;
  /** Contents that were recorded before the last one: each may be delivered again, as long as the aggregate lives (L12). */
  readonly earlier_sha256: readonly Buffer[];
  /** Last content that conflicted with it; null when none did. */
  readonly conflict_sha256: Buffer | null;
  /** Null as long as nothing rolled it back. */
  readonly rollback_id: string | null;
  readonly rollback_evidence: Evidence | null;
  /** Null for an execution that was reported with its end and that nobody was asked about. */
  readonly forward: Forward | null;
  /** When people are warned that the window closes, epoch milliseconds; null when they are not, or were. */
  readonly warn_at: number | null;
  readonly warned_at: number | null;
  /** How it was found out how its execution ended, or that nobody could tell; null where its producer told. */
  readonly found_out: FoundOut | null;
  /** Why people were last asked about it before any recovery; stays once they have answered, null while nobody was. */
  readonly asked_because: string | null;
  /** Null where no reversal goes by a handle, or wires are open. */
  readonly claim: Claim | null;
  /** How a person ended what waited for people about it; null while nobody did. */
  readonly settled: Settled | null;
};

/** Whose the handle is that its reversal goes by: asked about, its own, or somebody else's. */
export type Claim = { readonly ref: string; readonly standing: 'asked' | 'own' | 'foreign' };

/** A person's word about an effect that nothing automatic could end. */
export type Settled = {
  readonly settled_as: SettledAs;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
};

/** A mutation whose execution was accepted. */
export type RecordedMutation = Mutation & { readonly ref: MutationRef; readonly recorded_hash: Buffer };

/** A mutation's reliance on a ref. */
export type Binding = {
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly ref: string;
  /** Seq in the ref's partition of the assumptions log, of rollback notifications for a commit that stands, up to which statements are taken into account: judged, or contradicted, there. */
  readonly position: number;
  /** A statement contradicted the ref, and none reaffirmed it since. */
  readonly is_contradicted?: true;
  /** The effect is still held: what contradicts the ref cancels it. */
  readonly is_held?: true;
  /** Place of the commit's record in this log: what was executed later is contradicted first. */
  readonly recorded_seq?: number;
  /** When the commit was recorded, epoch milliseconds: the bound of a fall goes by it. */
  readonly recorded_at?: number;
  /** The commit has no effect: its gate may admit it without what fell. */
  readonly is_commit?: true;
  /** The ref is an event that closes the window of the reversal, nothing that the commit relies on unless that is said too. */
  readonly closes?: true;
  /** It relies on the event that closes its window: what is said of that reaches it as both. */
  readonly relies?: true;
  /** The ref is that a commit of this run stands, from which the mutation was derived. */
  readonly parent_run_id?: string;
};

/** The run that the id of a recovery is about. */
export type RecoveredRun = {
  readonly id: string;
  readonly tenant: string;
  readonly run_id: string;
};

/** An invalidation that is being spread over more commits than one decision may hold. */
export type Spread = {
  readonly spread_id: string;
  readonly tenant: string;
  readonly ref: string;
  readonly position: number;
  readonly scope_run_id: string | null;
  readonly evidence: Evidence;
  readonly contradicted: number;
  /** Place in this log of the last commit that was taken: those recorded before it are next. Absent before the first. */
  readonly through_seq?: number;
  /** The statement says that the ref holds again. */
  readonly reaffirms?: true;
  /** Run of the commit that fell, where the ref is that it stands. */
  readonly parent_run_id?: string;
};

/** A verdict as the view of the assumptions log holds it. */
export type Verdict = {
  readonly verdict: 'holds' | 'invalidated';
  /** Evidence of an invalidation, its partition left out; null when the ref holds. */
  readonly evidence: Omit<Evidence, 'partition'> | null;
  /** When its source says it became so, epoch milliseconds. */
  readonly stated_at: number;
  /** For a commit that fell: the commit before it in its run, from which independent work continues. */
  readonly resume?: CommitRef | null;
  /** For a commit that fell: the agent that made it. */
  readonly agent_id?: string;
  /** For a commit that fell, where its notice says so: for whom it was made, and the digest of the contract it ran under in hex. */
  readonly initiator?: string;
  readonly contract?: string;
  /** The commit did not fall: it was left to a person, and what rests on it is reached through it. */
  readonly is_beyond?: true;
};

/** True once an execution was accepted. */
export function isRecorded(mutation: Mutation | undefined): mutation is RecordedMutation {
  return mutation !== undefined && mutation.ref !== null && mutation.recorded_hash !== null;
}
