// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { ContractTerms, Evidence, Execution, ExecutionState, Hash, JudgedRef, Money, MutationRef, RecoverabilityState } from './common.js';

/** Evidence contradicts a ref that a commit relies on. */
export interface CommitContradicted {
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
  /** What contradicts it. */
  readonly evidence: Evidence;
}

/** A commit is marked rolled back, with all that recovery needs. */
export interface CommitRolledBack {
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
  /** The rollback that marked it. */
  readonly rollback_id: string;
  /** What contradicts it. */
  readonly evidence: Evidence;
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
  /** Hash of the record that bound the mutation. */
  readonly recorded_hash: Hash;
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

/** Nobody told in time how an execution ended; a person is asked. A report that comes later still counts. */
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
  /** What is known of the execution. */
  readonly execution_state: ExecutionState;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
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
  /** By when its outcome is told, before a person is asked; epoch milliseconds, null in records older than this field. */
  readonly conclude_by: number | null;
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
  /** Verdict per ref at one view of the assumptions. */
  readonly judged: readonly JudgedRef[];
  /** Event that stated it. */
  readonly event_id: string;
  /** Hash of the event's content. */
  readonly content_sha256: Hash;
  /** By when an uncertain outcome is settled, before a person is asked; epoch milliseconds, null for every other outcome. */
  readonly conclude_by: number | null;
}

export const RECOVERABILITY_EVENT_VALUES = ['handle_bound', 'window_closed', 'compensation_started', 'compensation_verified', 'compensation_failed', 'manual_required', 'resolved', 'cancelled'] as const;
export type RecoverabilityEvent = (typeof RECOVERABILITY_EVENT_VALUES)[number];

/** A mutation moved in the recoverability machine. */
export interface RecoverabilityChanged {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The mutation. */
  readonly mutation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** What moved it. */
  readonly event: RecoverabilityEvent;
  /** State before. */
  readonly from_state: RecoverabilityState;
  /** State after. */
  readonly to_state: RecoverabilityState;
  /** Code: why; null when the event says it all. */
  readonly reason: string | null;
  /** Rollback it belongs to; null outside one. */
  readonly rollback_id: string | null;
  /** Recovery step it belongs to; null outside one. */
  readonly step_id: string | null;
  /** Executable recovery pointer. */
  readonly ref: MutationRef;
  /** Value whose debit a verified compensation frees. */
  readonly refund: Money | null;
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
}

/** A rollback names a commit this ledger does not know yet; remembered until it arrives. */
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
  /** Why. */
  readonly evidence: Evidence;
}
