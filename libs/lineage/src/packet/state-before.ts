// The state a gate was run over: that of the newest commit with a state on the way back from the parents, within the run.
//
// Boundary: pure. Who makes a packet and who replays it walk alike: the one over the log's rows, the other over the packet.
import type { CheckpointState, CommitRef } from '@recourse/messages';

/** Steps without state that a walk passes at the most: bounds a packet of a run that keeps no states. */
export const PASSED_MAX = 1_000;

/** A step of the run: a commit, or an effect, which holds no state. */
export interface WalkStep {
  readonly hasState: boolean;
  readonly parents: readonly CommitRef[];
  readonly seq: number;
}

export interface Before {
  /** Null where no commit before holds a state: the gate saw an empty one. */
  readonly commitId: string | null;
  /** Steps without state on the way. */
  readonly passed: readonly string[];
  /** More than PASSED_MAX on the way: not looked further. */
  readonly isTooFar: boolean;
}

/** A recorded commit as a step before another; undefined where it was recorded after that one, whose gate did not see it. */
export function stepBefore(
  {
    checkpoint: { state, parents },
    recorded_seq: seq,
  }: {
    readonly checkpoint: { readonly state: unknown; readonly parents: readonly CommitRef[] };
    readonly recorded_seq: number;
  },
  thatSeq: number | null,
): WalkStep | undefined {
  return thatSeq !== null && seq > thatSeq ? undefined : { hasState: state !== null, parents, seq };
}

/** Finds the commit whose state a step went on from. A delta names it; else fallen or not, as it stood when the gate was run. */
export function commitBefore(
  {
    run_id,
    parents,
    state,
  }: {
    readonly run_id: string;
    readonly parents: readonly CommitRef[];
    readonly state: Pick<CheckpointState, 'base_id'> | null;
  },
  stepOf: (id: string) => WalkStep | undefined,
): Before {
  if (state !== null && state.base_id !== null) return { commitId: state.base_id, passed: [], isTooFar: false };
  const [seen, passed, ahead]: [Set<string>, string[], CommitRef[]] = [new Set(), [], [...parents]];
  let newest: { readonly id: string; readonly seq: number } | null = null;
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    const step = at.run_id !== run_id || seen.has(at.commit_id) ? undefined : stepOf(at.commit_id);
    seen.add(at.commit_id);
    if (step === undefined) continue;
    if (step.hasState) {
      if (newest === null || step.seq > newest.seq) newest = { id: at.commit_id, seq: step.seq };
      continue;
    }
    if (passed.length >= PASSED_MAX) return { commitId: null, passed, isTooFar: true };
    passed.push(at.commit_id);
    ahead.push(...step.parents);
  }
  return { commitId: newest?.id ?? null, passed, isTooFar: false };
}
