// What an agent says of a step it records as a checkpoint, and what it is answered.
import type { Json } from '@recourse/kernel';
import type { CommitRef, ReleaseTuple } from '@recourse/messages';

/** One step of a run that is to be a checkpoint: an admitted step without an effect of its own on the world. */
export interface CheckpointStep {
  readonly stepId: string;
  /** Lineage entry that produced it: the call, message or computation. */
  readonly producedBy: string;
  /** Business subject; null or absent when there is none. */
  readonly subjectRef?: string | null;
  /** What else it was made from, beside the checkpoint before it: effects in between (their mutation ids), commits of other runs. */
  readonly parents?: readonly CommitRef[];
  /** Refs it relies on. */
  readonly assumptionRefs?: readonly string[];
  /** State at this checkpoint; absent when it carries none. */
  readonly state?: Json;
  /** The policy bundle that admits it, and what its predicates read as `gate`. Without one the checkpoint is marked ungated (E3). */
  readonly gate?: { readonly bundle: string; readonly inputs: Readonly<Record<string, Json>> };
  /** What decided; that of the run unless told. */
  readonly release?: ReleaseTuple;
}

/** Every way a candidate is not recorded, with the remedy. */
export const CHECKPOINT_REMEDIES = {
  GATE_REQUIRED:
    'Name a policy bundle and its inputs: checkpoints of this run are recorded only when a gate admitted them.',
  GATE_TOO_LARGE: 'Give the predicates what they read, and not documents.',
  POLICY_REFUSED: 'Plan the step anew: a predicate of the bundle says no.',
  POLICY_UNDECIDED: 'Give the predicates every input and state they read.',
  POLICY_UNKNOWN: 'Register the policy bundle, or name one that stands.',
  REGISTRY_UNAVAILABLE: 'Ask again when the registry answers: who does not know which bundle stands does not record.',
  STATE_TOO_LARGE: 'Keep large parts in a store, and their names in the state.',
} as const;
/** Code of a candidate that was not recorded. */
export type CheckpointRefusalCode = keyof typeof CHECKPOINT_REMEDIES;

/** Why a candidate was not recorded. */
export interface CheckpointRefused {
  readonly admitted: false;
  readonly code: CheckpointRefusalCode;
  readonly reason: string;
}

/** What became of a candidate. */
export type CheckpointAnswer =
  { readonly admitted: true; readonly commitId: string; readonly isGated: boolean } | CheckpointRefused;
