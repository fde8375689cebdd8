// Commits without an outside effect as a part of the mutations log: events in, facts out.
//
// Boundary: reads rows and views, and asks the decisions of domain/commit; holds no rule.
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, StateView } from '@recourse/event-log';
import { isCommitId } from '@recourse/lineage';
import type { CheckpointTaken, CommitRef, RollbackOpened, StateChunk } from '@recourse/messages';
import { precedingOf } from '../domain/commit/ancestry.decisions.js';
import {
  commitProblem,
  harden,
  recordCheckpoint,
  recordChunk,
  rollBackCommit,
  rooted,
} from '../domain/commit/checkpoint.decisions.js';
import type { Keeping } from '../domain/commit/checkpoint.decisions.js';
import type { Commit } from '../domain/commit/commit.messages.js';
import { judgeParents, namesReserved, RESERVED_PREFIX } from '../domain/mutation/lineage.decider.js';
import type { Trigger } from '../domain/mutation/mutation.messages.js';
import { contradictionsAtBinding, judgeRefs, REFS_MAX } from '../domain/mutation/refs.decider.js';
import type { AckWaits } from '../domain/consumer/consumer.messages.js';
import { chunkIn, commitIn } from './commit-rows.js';
import { consumersDue } from './consumers.part.js';
import { parked } from './executions.js';
import { fateOf, stepsOf } from './fates.part.js';
import { againstEarlierVersion } from './reevaluations.part.js';
import type { Body } from '../domain/record.messages.js';

/** Takes a commit: recorded once, contradicted at once by what speaks against it already, a later version of its bundle too. */
export function onCommit(context: DecideContext, key: string, event: CheckpointTaken, keeping: Keeping): Decision {
  const { tenant, run_id, commit_id, checkpoint } = event;
  if (key !== run_id) return parked('KEY_MISMATCH', 'the record key must be the run id');
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
    keeping,
  );
  const against = contradictionsAtBinding(commit_id, tenant, run_id, judgements, []);
  if (against.length === 0) return append(recorded, ...againstEarlierVersion(context, event));
  return append(
    recorded,
    ...against.flatMap((fact) =>
      fateOf(context, fact, {
        commit: { ...event, parents: checkpoint.parents, hardened: null },
        recordedAt: undefined,
        isCommit: true,
      }),
    ),
  );
}

/** Takes a chunk of a state. */
export function onChunk(context: DecideContext, key: string, event: StateChunk): Decision {
  if (key !== event.run_id) return parked('KEY_MISMATCH', 'the record key must be the run id');
  const { run_id, commit_id, index } = event;
  const taken = recordChunk(
    event,
    commitIn(context.state, run_id, commit_id),
    chunkIn(context.state, run_id, commit_id, index) !== undefined,
  );
  if (taken === null) return NOTHING;
  return 'code' in taken ? parked(taken.code, taken.detail) : append(taken);
}

/** Marks a commit for an admitted rollback; null when it is no commit of this tenant, or not recorded yet. */
export function markCommit(
  context: DecideContext,
  trigger: Trigger,
  policy: Keeping & { readonly ackWaits: AckWaits },
): Decision | null {
  if (!isCommitId(trigger.mutation_id)) return null;
  const commit = ownCommit(context.state, trigger.tenant, trigger.run_id, trigger.mutation_id);
  if (commit === undefined) return null;
  if (commit.rollback_id !== null) return NOTHING;
  const { agent_id: agent, subject_ref: subject } = commit.checkpoint;
  const due = consumersDue(
    context,
    { tenant: commit.tenant, agent, run: commit.run_id, subject: subject ?? '' },
    policy.ackWaits,
  );
  const before = precedingOf(commit.run_id, commit.parents, stepsOf(context.state, commit.run_id));
  return append(rollBackCommit(commit, trigger, refOf(before), due, context.now, policy));
}

/** The trigger an admitted rollback is, its evidence saying what the root of the fall is. */
export function triggerOf({
  mutation_id,
  tenant,
  run_id,
  rollback_id,
  evidence,
  bound_at,
}: Body<RollbackOpened>): Trigger {
  return {
    mutation_id,
    tenant,
    run_id,
    rollback_id,
    evidence: rooted(evidence, { rollback_id, run_id, mutation_id, bound_at }),
  };
}

/** Gives up a state whose time has come. */
export function onCommitDue(context: DecideContext, runId: string, commitId: string): Decision {
  const commit = commitIn(context.state, runId, commitId);
  const given = commit === undefined ? null : harden(commit, context.now);
  return given === null ? NOTHING : append(given);
}

function ownCommit(state: StateView, tenant: string, runId: string, id: string): Commit | undefined {
  const commit = commitIn(state, runId, id);
  return commit?.tenant === tenant ? commit : undefined;
}

function refOf(commit: Commit | null): CommitRef | null {
  return commit === null ? null : { run_id: commit.run_id, commit_id: commit.commit_id };
}
