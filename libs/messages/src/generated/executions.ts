// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Checkpoint, CommitRef, Hash, OnFailure, OutcomeKind, Payload, ReleaseTuple } from './common.js';

/** A step of a run was admitted: a checkpoint, without an outside effect. */
export interface CheckpointTaken {
  /** Id of this event, unique per producer. */
  readonly event_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Hash of the checkpoint: `cp_` and 64 hex digits. */
  readonly commit_id: string;
  /** What was committed. */
  readonly checkpoint: Checkpoint;
}

/** A part of the state of a commit that is too large for one record. */
export interface StateChunk {
  /** Id of this event, unique per producer. */
  readonly event_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly commit_id: string;
  /** Place among the chunks, from 0. */
  readonly index: number;
  /** 16 bytes of salt, then a part of the state. */
  readonly chunk: Payload;
}

export const TOOL_OUTCOME_VALUES = ['succeeded', 'failed', 'uncertain'] as const;
export type ToolOutcome = (typeof TOOL_OUTCOME_VALUES)[number];

/** An action was executed, failed, or its outcome is not known. */
export interface ToolExecuted {
  /** Id of this event, unique per producer. */
  readonly event_id: string;
  /** Tenant the execution belongs to. */
  readonly tenant: string;
  /** Run of the agent; also the record key. */
  readonly run_id: string;
  /** Agent that acts. */
  readonly agent_id: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  /** What the run is meant to achieve. */
  readonly objective: string | null;
  /** Step of the run. */
  readonly step_id: string;
  /** Call id of the forward action. */
  readonly call_id: string;
  /** Capability, adapter.verb_noun. */
  readonly capability: string;
  /** Digest of the contract the call runs under; null when the producer knows none. */
  readonly contract_digest: Hash | null;
  /** Logical identity of the effect: step, capability, target, hash of validated args. */
  readonly effect_key: string;
  /** Key the forward call carries. */
  readonly idempotency_key: string;
  /** The business subject the effect is about. */
  readonly subject_ref: string | null;
  /** Validated arguments; JSON. */
  readonly args: Payload;
  /** Refs the action relies on. */
  readonly assumption_refs: readonly string[];
  /** What the producer knows of it. */
  readonly outcome: ToolOutcome;
  /** Result the tool returned; JSON. */
  readonly result: Payload | null;
  /** Value that was overwritten, captured before. */
  readonly prior_value: Payload | null;
  /** Handle of the effect at the provider. */
  readonly external_transaction_ref: string | null;
  /** Closed kind of the error when it did not succeed. */
  readonly error_kind: string | null;
  /** When the effect happened by the producer's clock, epoch milliseconds. */
  readonly committed_at: number;
  /** Commits this one was made from; those of its own run set the order in which it is undone. */
  readonly derived_from: readonly CommitRef[];
  /** What happens to the run's earlier effects when this one fails for good. */
  readonly on_failure: OnFailure;
  /** What the caller does about the failure; null if the call did not fail, or nothing is decided yet. */
  readonly handled_as: OutcomeKind | null;
  /** The model's decision that proposed the call, by its id: a message, an answer or a tool call; null when its producer names none. */
  readonly produced_by: string | null;
  /** What decided to act, pinned; null when it is not. */
  readonly release: ReleaseTuple | null;
}

/** Write-ahead intent: the action is about to be executed. */
export interface ToolPlanned {
  /** Id of this event, unique per producer. */
  readonly event_id: string;
  /** Tenant the execution belongs to. */
  readonly tenant: string;
  /** Run of the agent; also the record key. */
  readonly run_id: string;
  /** Agent that acts. */
  readonly agent_id: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  /** What the run is meant to achieve. */
  readonly objective: string | null;
  /** Step of the run. */
  readonly step_id: string;
  /** Call id of the forward action. */
  readonly call_id: string;
  /** Capability, adapter.verb_noun. */
  readonly capability: string;
  /** Digest of the contract the call runs under; null when the producer knows none. */
  readonly contract_digest: Hash | null;
  /** Logical identity of the effect: step, capability, target, hash of validated args. */
  readonly effect_key: string;
  /** Key the forward call carries. */
  readonly idempotency_key: string;
  /** The business subject the effect is about. */
  readonly subject_ref: string | null;
  /** Validated arguments; JSON. */
  readonly args: Payload;
  /** Refs the action relies on. */
  readonly assumption_refs: readonly string[];
  /** Producer time, epoch milliseconds. */
  readonly planned_at: number;
  /** True when the producer leaves the effect to the ledger, which has a worker make it when the contract's hold ends. */
  readonly is_held: boolean;
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
