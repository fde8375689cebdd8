// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { CommitRef, Evidence, Hash, LineageRoot, RecoverabilityState } from './common.js';

/** A commit rests on one that fell but is older than the bound of its rollback: it stays, and a person looks at it. */
export interface BoundReached {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Position in the source chain of the record this one is derived from. */
  readonly source_seq: number;
  /** Index of this record among those derived from the same source record, from 0. */
  readonly source_index: number;
  /** Tenant. */
  readonly tenant: string;
  /** Agent. */
  readonly agent_id: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** The fall that reaches it. */
  readonly caused_by: Evidence;
  /** When it was recorded, epoch milliseconds. */
  readonly committed_at: number;
  /** Newest commit of its run before it that stands, where what does without it goes on; null without one. */
  readonly resume_checkpoint: CommitRef | null;
}

/** A commit stands without the parent that fell. */
export interface CommitReattached {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Position in the source chain of the record this one is derived from. */
  readonly source_seq: number;
  /** Index of this record among those derived from the same source record, from 0. */
  readonly source_index: number;
  /** Tenant. */
  readonly tenant: string;
  /** Agent. */
  readonly agent_id: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The commit. */
  readonly mutation_id: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** Parent that fell. */
  readonly fallen: CommitRef;
  /** New parent; null without one. */
  readonly parent: CommitRef | null;
  /** The fall. */
  readonly caused_by: Evidence;
}

/** A commit was derived from commits of other runs: it is undone before they are. */
export interface DerivationAnnounced {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Position in the source chain of the record this one is derived from. */
  readonly source_seq: number;
  /** Index of this record among those derived from the same source record, from 0. */
  readonly source_index: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run of the commit; also the record key. */
  readonly run_id: string;
  /** Commit. */
  readonly mutation_id: string;
  /** Commits of other runs it was derived from. */
  readonly parents: readonly CommitRef[];
}

/** Commits of a run were rolled back for one reason: each is announced with its rollback. */
export interface RollbackAnnounced {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Position in the source chain of the record this one is derived from. */
  readonly source_seq: number;
  /** Index of this record among those derived from the same source record, from 0. */
  readonly source_index: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Why; the root of each is its own. */
  readonly caused_by: Evidence;
  /** What was rolled back, in the order of its marks; never empty. */
  readonly members: readonly RolledBackCommit[];
}

/** What became of the effects of rolled-back commits of a run. */
export interface RollbackSettled {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Position in the source chain of the record this one is derived from. */
  readonly source_seq: number;
  /** Index of this record among those derived from the same source record, from 0. */
  readonly source_index: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** What came to rest; never empty. */
  readonly members: readonly SettledCommit[];
}

/** A commit that was rolled back: what it was, and its rollback. */
export interface RolledBackCommit {
  /** Commit. */
  readonly mutation_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** From which rollback the fall came, and how far back that one reaches. */
  readonly root: LineageRoot | null;
  /** Agent. */
  readonly agent_id: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** Capability. */
  readonly capability: string;
  /** Refs it relied on. */
  readonly assumption_refs: readonly string[];
  /** When it took hold; epoch milliseconds. */
  readonly committed_at: number;
  /** Commits it was made from. */
  readonly derived_from: readonly CommitRef[];
  /** Whether there is an effect to compensate, so that RollbackSettled follows. */
  readonly has_effect: boolean;
  /** The newest commit of the run before it that stands, where the run resumes; null when there is none. */
  readonly resume_checkpoint: CommitRef | null;
  /** Consumers that are waited for. */
  readonly consumers: readonly string[];
  /** Person on whose behalf the agent acted; null when unknown, and in notices older than this field. */
  readonly initiator: string | null;
  /** Digest of the contract it ran under; null without one, and in notices older than this field. */
  readonly contract_digest: Hash | null;
}

/** A rolled-back commit whose effect came to rest. */
export interface SettledCommit {
  /** Commit. */
  readonly mutation_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** State it came to rest in. */
  readonly recoverability: RecoverabilityState;
  /** Code: why; null when compensated. */
  readonly reason: string | null;
  /** Commits of other runs it was derived from; their recoveries wait until this one has ended. */
  readonly derived_from: readonly CommitRef[];
}
