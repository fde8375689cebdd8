// States of commits as rows hold them: restored while they are kept in full.
//
// Boundary: reads rows of one run; holds no rule.
import type { StateView } from '@recourse/event-log';
import type { Json } from '@recourse/kernel';
import { commitBefore, restoredState, stepBefore } from '@recourse/lineage';
import type { StateHolder } from '@recourse/lineage';
import type { Checkpoint } from '@recourse/messages';
import type { Commit } from '../rules/commit/commit.messages.js';
import { chunkIn, commitIn } from '../rows/commit.rows.js';
import { mutationIn } from '../rows/mutation.rows.js';

/** The state at a commit; empty before the first that was told, null where it was given up. */
export function keptState(state: StateView, runId: string, commitId: string | null): Json | null {
  if (commitId === null) return {};
  const restored = restoredState(commitId, (id) => {
    const commit = commitIn(state, runId, id);
    return commit === undefined ? undefined : holderOf(commit, (index) => chunkIn(state, runId, id, index)?.chunk);
  });
  return restored.ok ? restored.state : null;
}

/** The state that the gate of a commit was run against; null where it is not kept. Parents are those it was committed with; `recordedSeq` is null while it is being recorded. */
export function stateOfGate(state: StateView, checkpoint: Checkpoint, recordedSeq: number | null): Json | null {
  const { run_id: runId } = checkpoint;
  const before = commitBefore(checkpoint, (id) => {
    const commit = commitIn(state, runId, id);
    if (commit !== undefined) return stepBefore(commit, recordedSeq);
    const effect = mutationIn(state, runId, id);
    return effect === undefined ? undefined : { hasState: false, parents: effect.execution.derived_from, seq: 0 };
  });
  return before.isTooFar ? null : keptState(state, runId, before.commitId);
}

/** A commit as the one who restores its state sees it. */
function holderOf(
  commit: Commit,
  chunkAt: (index: number) => { readonly encoding: string; readonly body: Buffer } | undefined,
): StateHolder {
  const { state } = commit.checkpoint;
  const chunks =
    state === null ? [] : state.chunk_sha256s.map((_, index) => (state.body === null ? chunkAt(index) : state.body));
  const readable = chunks.flatMap((chunk) => (chunk === undefined || chunk.encoding !== 'plain' ? [] : [chunk.body]));
  return { state, isGivenUp: commit.hardened !== null, chunks: readable.length === chunks.length ? readable : null };
}
