// Steps of a run as walks over its ancestry pass them: commits with and without an effect.
import type { StateView } from '@recourse/event-log';
import { isCommitId } from '@recourse/lineage';
import { isClean } from '../rules/commit/ancestry.decisions.js';
import type { StepOf } from '../rules/commit/ancestry.decisions.js';
import { commitIn } from '../rows/commit.rows.js';
import { mutationIn } from '../rows/mutation.rows.js';

/** Steps of a run as a walk passes them. */
export function stepsOf(state: StateView, runId: string): StepOf {
  return (id) => {
    const commit = commitIn(state, runId, id);
    if (commit !== undefined) return { commit, hasFallen: !isClean(commit), parents: commit.parents };
    const mutation = isCommitId(id) ? undefined : mutationIn(state, runId, id);
    return mutation === undefined
      ? undefined
      : { commit: null, hasFallen: mutation.rollback_id !== null, parents: mutation.execution.derived_from };
  };
}
