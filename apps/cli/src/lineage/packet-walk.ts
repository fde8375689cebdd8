// The way back from the commit of a packet to the state its gate saw, as far as it is proved (D58).
//
// Boundary: pure. Parents of a commit are hashed by its id; those of an effect stand in no hash, and which steps a packet leaves out
// stands nowhere in it: for both the log is asked.
//
// Invariants
//   W1. A step that the log does not hold is passed over only where the log holds the commit that names it: what was not recorded
//       before it, its gate did not see.
//   W2. Where no log is at hand, of two commits with a state nobody knows which is the newer: their places are proved by it alone.
import { commitBefore, sortedParents } from '@recourse/lineage';
import type { Before, PackedCommit, Packet, WalkStep } from '@recourse/lineage';
import type { CommitRef } from '@recourse/messages';
import type { LoggedRun } from './packet-log.js';

export interface Walked {
  readonly before: Before;
  /** Code of the first step that was walked past without proof. */
  readonly unproved: 'parent_missing' | 'no_log' | 'not_in_log' | null;
  /** An effect that the log has with other parents than the packet. */
  readonly altered: string | null;
}

/** Walks back over what is in the packet, and what the log holds where the packet proves nothing. */
export function walkBack(
  { commit_id: id, effects }: Packet,
  { checkpoint }: PackedCommit,
  byId: ReadonlyMap<string, PackedCommit>,
  log: LoggedRun | null,
): Walked {
  const effectOf = new Map(effects.map((effect) => [effect.mutation_id, effect] as const));
  const isLogged = (log?.commits.get(id)?.commit_id ?? null) === id;
  let unproved: Walked['unproved'] = null;
  let altered: string | null = null;
  let states = 0;
  const before = commitBefore(checkpoint, (step): WalkStep | undefined => {
    const commit = byId.get(step);
    if (commit !== undefined) {
      const { state, parents } = commit.checkpoint;
      states += Number(state !== null);
      return { hasState: state !== null, parents, seq: commit.proof.seq };
    }
    const effect = effectOf.get(step);
    const logged = log?.steps.get(step);
    if (logged !== undefined) {
      if (effect !== undefined && named(effect.parents) !== named(logged.parents)) altered ??= step;
      return logged;
    }
    if (effect === undefined && !isLogged) unproved ??= 'parent_missing';
    if (effect !== undefined) unproved ??= log === null ? 'no_log' : 'not_in_log';
    return effect === undefined ? undefined : { hasState: false, parents: effect.parents, seq: 0 };
  });
  if (log === null && states > 1) unproved ??= 'no_log';
  return { before, unproved, altered };
}

function named(parents: readonly CommitRef[]): string {
  return JSON.stringify(sortedParents(parents).map(({ run_id, commit_id }) => [run_id, commit_id]));
}
