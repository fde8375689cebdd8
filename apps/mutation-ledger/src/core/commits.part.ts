// Commits without an outside effect as a part of the mutations log: events in, facts out.
//
// Boundary: reads rows and views, and asks the decisions of domain/commit; holds no rule.
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, StateView, TimerInput } from '@recourse/event-log';
import type { CheckpointTaken, StateChunk } from '@recourse/messages';
import { commitProblem, harden, recordCheckpoint, recordChunk } from '../rules/commit/checkpoint.decisions.js';
import type { Commit } from '../rules/commit/commit.messages.js';
import { judgeParents, namesReserved, RESERVED_PREFIX } from '../rules/mutation/lineage.decider.js';
import { contradictionsAtBinding, judgeRefs, REFS_MAX } from '../rules/mutation/refs.decider.js';
import { chunkIn, commitIn } from '../rows/commit.rows.js';
import { parked } from './executions.js';
import { fall } from './falls.part.js';
import type { FallPolicy } from './falls.part.js';
import { fateOf } from './fates.part.js';
import { againstEarlierVersion } from './reevaluations.part.js';

/** Takes a commit: recorded once, contradicted at once by what speaks against it already, a later version of its bundle too. */
export function onCommit(context: DecideContext, event: CheckpointTaken, policy: FallPolicy): Decision {
  const { tenant, run_id, commit_id, checkpoint } = event;
  if (checkpoint.assumption_refs.length + checkpoint.parents.length > REFS_MAX)
    return parked('TOO_MANY_REFS', `a commit relies on ${String(REFS_MAX)} refs and commits at the most`);
  if (namesReserved(checkpoint.assumption_refs))
    return parked(
      'REF_RESERVED',
      `refs that begin with ${RESERVED_PREFIX} follow from parents, and are named by nobody`,
    );
  const baseOf = (id: string): Commit | undefined => ownCommit(context.state, tenant, run_id, id);
  const wrong = commitProblem(event, baseOf);
  if (wrong !== null) return parked(wrong.code, wrong.detail);
  // Its id is the hash of its content: what has the same id is the same fact.
  if (commitIn(context.state, run_id, commit_id) !== undefined) return NOTHING;
  const judgements = [
    ...judgeRefs(tenant, run_id, checkpoint.assumption_refs, context.views.view('assumptions')),
    ...judgeParents(tenant, checkpoint.parents, () => context.views.view('fallen')),
  ];
  const base = checkpoint.state?.base_id ?? null;
  const recorded = recordCheckpoint(
    event,
    judgements.map(({ judged }) => judged),
    base === null ? undefined : baseOf(base),
    context.now,
    policy,
  );
  const against = contradictionsAtBinding(commit_id, tenant, run_id, judgements, []);
  const found =
    against.length === 0
      ? againstEarlierVersion(context, event)
      : against.flatMap((one) =>
          fateOf(context, one, {
            commit: { ...event, parents: checkpoint.parents, hardened: null },
            beside: () => new Set(),
            recordedAt: undefined,
            isCommit: true,
          }),
        );
  return append(...fall(context, [recorded, ...found], policy));
}

/** Takes a chunk of a state. */
export function onChunk(context: DecideContext, event: StateChunk): Decision {
  const { run_id, commit_id, index } = event;
  const taken = recordChunk(
    event,
    commitIn(context.state, run_id, commit_id),
    chunkIn(context.state, run_id, commit_id, index) !== undefined,
  );
  if (taken === null) return NOTHING;
  return 'code' in taken ? parked(taken.code, taken.detail) : append(taken);
}

/** Gives up a state whose time has come. */
export function onCommitDue(context: DecideContext, { address: { group, key } }: TimerInput): Decision {
  const commit = commitIn(context.state, group, key);
  const given = commit === undefined ? null : harden(commit, context.now);
  return given === null ? NOTHING : append(given);
}

function ownCommit(state: StateView, tenant: string, runId: string, id: string): Commit | undefined {
  const commit = commitIn(state, runId, id);
  return commit?.tenant === tenant ? commit : undefined;
}
