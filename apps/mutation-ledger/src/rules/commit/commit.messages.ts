// Commits without an outside effect: what stands in their rows.
import type { Checkpoint, CommitRef, Evidence, HardenCause, Payload } from '@recourse/messages';

/** A recorded commit with what became of it. */
export type Commit = {
  readonly commit_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly checkpoint: Checkpoint;
  /** Commits it rests on now: those it was made from, as reattaching changed them. */
  readonly parents: readonly CommitRef[];
  readonly event_id: string;
  readonly content_sha256: Buffer;
  readonly recorded_hash: Buffer;
  /** Place of its record in this log. */
  readonly recorded_seq: number;
  /** When it was recorded by the ledger, epoch milliseconds: the bound of a rollback goes by it. */
  readonly recorded_at: number;
  /** Deltas from the whole state it builds on. */
  readonly depth: number;
  readonly chunks_missing: number;
  /** Until when its state is kept, also for deltas that build on it; epoch milliseconds, null without state. */
  readonly full_until: number | null;
  /** Why its state was given up; null while it is kept. */
  readonly hardened: HardenCause | null;
  readonly rollback_id: string | null;
  readonly rollback_evidence: Evidence | null;
  readonly rolled_back_at: number | null;
  /** Commit of its run that stands before it, where the run goes on after its fall; null without one. */
  readonly resume: CommitRef | null;
  /** When the state of a rolled-back commit is given up, epoch milliseconds. */
  readonly harden_at: number | null;
  /** Root rollbacks whose bound it is beyond. */
  readonly beyond: readonly string[];
  /** Parents that fell without it, each with the one it went on with. */
  readonly reattached: readonly {
    readonly fallen: CommitRef;
    readonly parent: CommitRef | null;
    readonly rollback_id: string;
  }[];
  readonly updated_at: number;
};

/** Why a commit or a part of its state cannot be taken. */
export type CommitParkCode =
  | 'COMMIT_ID_MISMATCH'
  | 'COMMIT_MISPLACED'
  | 'GATE_REFUSED'
  | 'GATE_INPUTS_MISMATCH'
  | 'GATE_BUNDLE_UNKNOWN'
  | 'GATE_BUNDLE_MISMATCH'
  | 'STATE_INVALID'
  | 'STATE_MISMATCH'
  | 'STATE_BASE_UNKNOWN'
  | 'STATE_TOO_DEEP'
  | 'CHUNK_UNKNOWN'
  | 'CHUNK_MISMATCH';

/** A chunk of the state of a commit. */
export type Chunk = {
  readonly tenant: string;
  readonly run_id: string;
  readonly commit_id: string;
  readonly index: number;
  readonly chunk: Payload;
};
