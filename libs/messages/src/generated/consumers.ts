// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { CommitRef, Emission } from './common.js';

/** A consumer applied a rollback. */
export interface RollbackAcknowledged {
  /** Id of this event, unique per producer. */
  readonly event_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** The rolled-back commit. */
  readonly mutation_id: string;
  /** Rollback. */
  readonly rollback_id: string;
  /** Who applied it, as its subscription names it. */
  readonly consumer: string;
  /** When, by its clock; epoch milliseconds. */
  readonly applied_at: number;
  /** Commits it had derived and has invalidated. */
  readonly derived: readonly CommitRef[];
  /** What it had let out that rested on the commit. */
  readonly emissions: readonly Emission[];
}
