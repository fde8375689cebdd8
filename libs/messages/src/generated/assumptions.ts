// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Hash, Payload } from './common.js';

/** A source says that an assumption holds. */
export interface AssumptionDeclared {
  /** Id of this event, unique per source. */
  readonly event_id: string;
  /** Tenant the assumption belongs to. */
  readonly tenant: string;
  /** Name of the assumption; also the record key. */
  readonly ref: string;
  /** Run it is limited to; null for every run of the tenant. */
  readonly run_id: string | null;
  /** Who states it. */
  readonly source: string;
  /** What is stated; JSON. */
  readonly statement: Payload;
  /** When it became so by the source, epoch milliseconds. */
  readonly stated_at: number;
}

export const SOURCE_KIND_VALUES = ['observation', 'critic', 'human', 'verifier', 'tool_return'] as const;
export type SourceKind = (typeof SOURCE_KIND_VALUES)[number];

/** Evidence contradicts an assumption. */
export interface AssumptionInvalidated {
  /** Id of this event, unique per source. */
  readonly event_id: string;
  /** Tenant the assumption belongs to. */
  readonly tenant: string;
  /** Name of the assumption; also the record key. */
  readonly ref: string;
  /** Run it is limited to; null for every run of the tenant. */
  readonly run_id: string | null;
  /** Who states it. */
  readonly source: string;
  /** What is stated; JSON. */
  readonly statement: Payload;
  /** Kind of source. */
  readonly source_kind: SourceKind;
  /** When it became so by the source, epoch milliseconds. */
  readonly stated_at: number;
}

/** A source says that an assumption holds again. */
export interface AssumptionReaffirmed {
  /** Id of this event, unique per source. */
  readonly event_id: string;
  /** Tenant the assumption belongs to. */
  readonly tenant: string;
  /** Name of the assumption; also the record key. */
  readonly ref: string;
  /** Run it is limited to; null for every run of the tenant. */
  readonly run_id: string | null;
  /** Who states it. */
  readonly source: string;
  /** What is stated; JSON. */
  readonly statement: Payload;
  /** When it became so by the source, epoch milliseconds. */
  readonly stated_at: number;
}

export const STATEMENT_KIND_VALUES = ['declared', 'invalidated', 'reaffirmed'] as const;
export type StatementKind = (typeof STATEMENT_KIND_VALUES)[number];

export const STATED_SOURCE_KIND_VALUES = ['observation', 'critic', 'human', 'verifier', 'tool_return'] as const;
export type StatedSourceKind = (typeof STATED_SOURCE_KIND_VALUES)[number];

export const STATED_VERDICT_VALUES = ['holds', 'invalidated'] as const;
export type StatedVerdict = (typeof STATED_VERDICT_VALUES)[number];

/** An accepted statement about an assumption. */
export interface AssumptionStated {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id of this event, unique per source. */
  readonly event_id: string;
  /** Tenant the assumption belongs to. */
  readonly tenant: string;
  /** Name of the assumption; also the record key. */
  readonly ref: string;
  /** Run it is limited to; null for every run of the tenant. */
  readonly run_id: string | null;
  /** Who states it. */
  readonly source: string;
  /** What is stated; JSON. */
  readonly statement: Payload;
  /** What the source stated. */
  readonly kind: StatementKind;
  /** Kind of source. */
  readonly source_kind: StatedSourceKind;
  /** When it became so by the source, epoch milliseconds. */
  readonly stated_at: number;
  /** Verdict on the ref after this statement. */
  readonly verdict: StatedVerdict;
  /** True when another statement stands, as it did before: a newer one by source time, or one of a source that weighs more. This one is kept, without effect. */
  readonly superseded: boolean;
  /** Source of an older statement that stands against this newer one, since it weighs more; null where none does. */
  readonly outweighed_by: string | null;
  /** Hash of the event's content, for deduplication. */
  readonly content_sha256: Hash;
}

/** Whose the handle of an effect is was looked up, once for each mutation that names it. */
export interface HandleClaimed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** `handle/` and the SHA-256 of adapter and handle, in hex; also the record key. */
  readonly ref: string;
  /** Tenant whose execution names the handle. */
  readonly tenant: string;
  /** Run of that execution. */
  readonly run_id: string;
  /** Agent that made it. */
  readonly agent_id: string;
  /** Mutation it is. */
  readonly mutation_id: string;
  /** Id of the key that signed what told of it: an agent's, or that of a worker that found it out. */
  readonly signing_key: string;
  /** It is the first that names the handle, or of the same tenant, run and agent as the first. */
  readonly is_owner: boolean;
  /** Mutation that named it first. */
  readonly owner_mutation_id: string;
  /** Asks whose it is and names nothing: by its contract the reversal goes by something else, at a place where others give the handle. */
  readonly is_question: boolean;
}

/** An execution names the handle of its effect, by which it would be undone: whose is it? */
export interface HandleNamed {
  /** `handle/` and the SHA-256 of adapter and handle, in hex; also the record key. */
  readonly ref: string;
  /** Tenant whose execution names the handle. */
  readonly tenant: string;
  /** Run of that execution. */
  readonly run_id: string;
  /** Agent that made it. */
  readonly agent_id: string;
  /** Mutation it is. */
  readonly mutation_id: string;
  /** Id of the key that signed what told of it: an agent's, or that of a worker that found it out. */
  readonly signing_key: string;
  /** Asks whose it is and names nothing: by its contract the reversal goes by something else, at a place where others give the handle. */
  readonly is_question: boolean;
}

/** The same event id arrived with other content; the first stands. */
export interface StatementConflicted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The event id. */
  readonly event_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** The ref. */
  readonly ref: string;
  /** Content that stands. */
  readonly recorded_sha256: Hash;
  /** Content that was refused. */
  readonly conflicting_sha256: Hash;
}
