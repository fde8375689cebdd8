// What the fall of a commit does to one that rests on it: it falls too, goes on with another parent, or is left to a person.
//
// Invariants
//   F1. Older than the bound of the root's rollback: never rolled back, always listed (E13). The walk goes on behind it.
//   F2. A gated commit that its bundle admits without what fell is reattached, and bound to its new parent (E15, E16).
//   F3. A delta on a state that fell holds what fell: such a commit is never reattached (E33).
import type { CommitRef, Evidence, JudgedRef } from '@recourse/messages';
import type { Binding } from '../mutation/mutation.messages.js';
import type { MutationRecord } from '../record.messages.js';

/** What a walk knows of the commit it reaches. */
export interface Reached {
  readonly agent_id: string;
  readonly subject_ref: string | null;
  readonly derived_from: readonly CommitRef[];
  /** The newest commit of its run before it that stands. */
  readonly resume: CommitRef | null;
}

/** A gate that admitted the commit without what fell. */
export interface Readmitted {
  readonly bundle: string;
  readonly bundle_version: number;
  readonly parent: CommitRef | null;
  readonly judged: JudgedRef | null;
}

/** Whether a commit that was recorded at a time lies beyond the bound of a fall. What was recorded before times were kept does not. */
export function isBeyond({ root }: Evidence, recordedAt: number | undefined): boolean {
  const boundAt = root?.bound_at ?? null;
  return boundAt !== null && recordedAt !== undefined && recordedAt < boundAt;
}

/** Leaves a commit to a person. */
export function leaveToPerson(
  { mutation_id, tenant, run_id }: Pick<Binding, 'mutation_id' | 'tenant' | 'run_id'>,
  recordedAt: number,
  evidence: Evidence,
  { agent_id, subject_ref, derived_from, resume }: Reached,
): MutationRecord {
  return {
    type: 'CommitBeyondBound',
    body: {
      mutation_id,
      tenant,
      run_id,
      evidence,
      agent_id,
      subject_ref,
      committed_at: recordedAt,
      derived_from,
      resume,
    },
  };
}

/** Hangs a commit on another parent. */
export function reattach(
  { mutation_id, tenant, run_id }: Pick<Binding, 'mutation_id' | 'tenant' | 'run_id'>,
  fallen: CommitRef,
  evidence: Evidence,
  { agent_id, subject_ref }: Pick<Reached, 'agent_id' | 'subject_ref'>,
  { bundle, bundle_version, parent, judged }: Readmitted,
): MutationRecord {
  return {
    type: 'Reattached',
    body: {
      mutation_id,
      tenant,
      run_id,
      agent_id,
      subject_ref,
      fallen,
      parent,
      judged,
      evidence,
      bundle,
      bundle_version,
    },
  };
}
