// From a commit to its state: the whole state it builds on, then each delta in order (E22).
//
// Boundary: pure; the commits of one run come by a look-up, their chunks too.
//
// Invariants
//   S1. A path has at most DEPTH_MAX deltas, so a state is restored in bounded time.
//   S2. A state that was given up, or of which a chunk is missing, is answered with its code, never with another state.
import type { Json } from '@recourse/kernel';
import type { CheckpointState } from '@recourse/messages';
import { joinState } from './state-chunks.js';
import { applyDelta, DEPTH_MAX } from './state-delta.js';

/** Why there is no state to give. */
export const STATE_CODES = ['state_unavailable', 'state_incomplete', 'no_state'] as const;
export type StateCode = (typeof STATE_CODES)[number];

/** A commit, as far as its state needs it. */
export interface StateHolder {
  readonly state: CheckpointState | null;
  /** Its state was given up. */
  readonly isGivenUp: boolean;
  /** Chunks as they were told, in order; null while one is missing or cannot be read. */
  readonly chunks: readonly Uint8Array[] | null;
}

export type Restored = { readonly ok: true; readonly state: Json } | { readonly ok: false; readonly code: StateCode };

/** Ids from the whole state to a commit, its own last; null where it is longer than it may be or a base is unknown. */
export function statePath(
  commitId: string,
  baseOf: (id: string) => string | null | undefined,
): readonly string[] | null {
  const path: string[] = [];
  let at: string | null | undefined = commitId;
  while (at !== null) {
    const base = baseOf(at);
    if (base === undefined || path.length > DEPTH_MAX) return null;
    path.unshift(at);
    at = base;
  }
  return path;
}

/** The state at a commit, from the commits of its run alone. */
export function restoredState(commitId: string, holderOf: (id: string) => StateHolder | undefined): Restored {
  if (holderOf(commitId)?.state === null) return { ok: false, code: 'no_state' };
  const path = statePath(commitId, (id) => {
    const holder = holderOf(id);
    return holder === undefined ? undefined : (holder.state?.base_id ?? null);
  });
  if (path === null) return { ok: false, code: 'state_unavailable' };
  let state: Json = null;
  for (const id of path) {
    const holder = holderOf(id);
    if (holder?.state === null || holder?.state === undefined || holder.isGivenUp)
      return { ok: false, code: 'state_unavailable' };
    if (holder.chunks === null) return { ok: false, code: 'state_incomplete' };
    const told = joinState(holder.chunks);
    state = holder.state.kind === 'delta' ? applyDelta(state, told) : told;
  }
  return { ok: true, state };
}
