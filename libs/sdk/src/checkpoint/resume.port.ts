// Where a run goes on after something in it fell.
import type { Json } from '@recourse/kernel';
import type { CommitRef, EvidenceKind } from '@recourse/messages';

/** Why a commit fell, as far as an agent may read it. */
export interface FallEvidence {
  readonly kind: EvidenceKind;
  readonly source: string;
  /** Ref that was contradicted; null for a trigger that named the commit. */
  readonly ref: string | null;
  /** What was stated, the fact now; null when nothing was, or nobody may read it. */
  readonly statement: Json;
  /** When it became so by the source, epoch milliseconds. */
  readonly stated_at: number;
}

/** A commit of the run that fell, or an effect in it, and why. */
export interface FallenCommit {
  readonly commit_id: string;
  readonly rollback_id: string;
  readonly evidence: FallEvidence;
  /** Whether the ref of the evidence holds again, by what stood when it was asked; null where there is none, or nobody can say. */
  readonly ref_stands: boolean | null;
}

/** Where a run goes on. */
export interface Resumed {
  /** The newest commit that stands with everything it rests on; null where the run begins anew. */
  readonly checkpoint: CommitRef | null;
  /** Its state: nothing that fell is in it (E33). Null without one. */
  readonly state: Json;
  /** Why there is no state: `no_state` was told, or what was is `state_unavailable`; null when there is one, or no checkpoint. */
  readonly stateUnavailable: 'no_state' | 'state_unavailable' | null;
  /** What is known now and was not then, oldest first; what became true again since is told by `ref_stands`. */
  readonly evidence: readonly FallenCommit[];
  /** Every commit of the run that fell. */
  readonly rolledBack: readonly string[];
}

/** Every way nobody can say where a run goes on, with the remedy. */
export const RESUME_REMEDIES = {
  RESUME_UNAVAILABLE: 'Ask again when the ledger answers.',
  LEDGER_NOT_THERE:
    'Something answered 404, and not as the ledger does where nothing of a run is on record: check that the address is that of the mutation ledger (its origin, without a path), and what a proxy in between answers for itself.',
} as const;
/** Code of a run of which nobody can say where it goes on. */
export type ResumeFailureCode = keyof typeof RESUME_REMEDIES;

/** Where a run goes on, or why nobody can say. */
export type ResumeAnswer =
  | { readonly kind: 'known'; readonly resumed: Resumed }
  /** Nothing of this run is on record. */
  | { readonly kind: 'unrecorded' }
  /** RESUME_UNAVAILABLE unless told. */
  | { readonly kind: 'unavailable'; readonly cause: unknown; readonly code?: ResumeFailureCode };

/**
 * Says where a run goes on.
 *
 * Implementations MUST name a checkpoint only if neither it nor anything it rests on, in any run, has fallen (E11).
 * Implementations MUST say `unrecorded` only on the word of the record itself: whoever hears it begins the run anew.
 * Implementations MUST NOT throw, nor answer with a state whose chunks do not hash to what its commit tells.
 */
export interface ResumeSource {
  of(tenant: string, runId: string): Promise<ResumeAnswer>;
}
