// Commits without an outside effect as a part of the mutations log: events in, facts out.
//
// Boundary: reads rows and views, and asks the decisions of rules/commit; holds no rule.
import { bundleVersions, entryView } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, StateView, TimerInput } from '@recourse/event-log';
import { namesReserved, REFS_MAX, RESERVED_PREFIX } from '@recourse/kernel';
import type { CheckpointTaken, Gate, StateChunk } from '@recourse/messages';
import {
  bundleProblem,
  commitProblem,
  harden,
  recordCheckpoint,
  recordChunk,
} from '../rules/commit/checkpoint.decisions.js';
import type { CommitProblem } from '../rules/commit/checkpoint.decisions.js';
import type { Commit } from '../rules/commit/commit.messages.js';
import type { ParkCode } from '../rules/mutation/mutation.messages.js';
import { judgeParents } from '../rules/mutation/lineage.decider.js';
import { contradictionsAtBinding, judgeRefs } from '../rules/mutation/refs.decider.js';
import { chunkIn, commitIn } from '../rows/commit.rows.js';
import { parked } from './executions.js';
import { fall } from './falls.part.js';
import type { FallPolicy } from './falls.part.js';
import { fateOf, isByLineage } from './fates.part.js';
import { againstEarlierVersion } from './reevaluations.part.js';

/** Takes a commit: recorded once, contradicted at once by what speaks against it already, a later version of its bundle too. */
export function onCommit(context: DecideContext, event: CheckpointTaken, policy: FallPolicy): Decision {
  const { tenant, run_id, commit_id, checkpoint } = event;
  const baseOf = (id: string): Commit | undefined => ownCommit(context.state, tenant, run_id, id);
  const wrong = misnamed(event) ?? commitProblem(event, baseOf);
  if (wrong !== null) return parked(wrong.code, wrong.detail);
  // Its id is the hash of its content: what has the same id is the same fact.
  if (commitIn(context.state, run_id, commit_id) !== undefined) return NOTHING;
  const unknown = bundleOf(context, tenant, checkpoint.gate);
  if (unknown !== null) return parked(unknown.code, unknown.detail);
  const judgements = [
    ...judgeRefs(tenant, run_id, checkpoint.assumption_refs, context.views.view('assumptions')),
    ...judgeParents(tenant, checkpoint.parents, () => context.views.view('fallen')),
  ];
  const base = checkpoint.state?.base_id ?? null;
  const judged = judgements.map((one) => one.judged);
  const recorded = recordCheckpoint(event, judged, base === null ? undefined : baseOf(base), context.now, policy);
  const against = contradictionsAtBinding(commit_id, tenant, run_id, judgements, []);
  const hit = {
    commit: { ...event, parents: checkpoint.parents, hardened: null },
    beside: () => new Set<string>(),
    recordedAt: undefined,
    isCommit: true,
  };
  const fates = against.flatMap((one) => fateOf(context, one, hit));
  // What rests on what fell was judged with that. Any other word may be held, and be wrong.
  const later = against.some(isByLineage) ? [] : againstEarlierVersion(context, event, policy);
  return append(...fall(context, [recorded, ...fates, ...later], policy));
}

/** What is wrong with what a commit says it relies on. */
function misnamed({ checkpoint }: CheckpointTaken): { readonly code: ParkCode; readonly detail: string } | null {
  if (checkpoint.assumption_refs.length + checkpoint.parents.length > REFS_MAX)
    return {
      code: 'TOO_MANY_REFS',
      detail: `a commit relies on ${String(REFS_MAX)} refs and commits at the most`,
    };
  return namesReserved(checkpoint.assumption_refs)
    ? {
        code: 'REF_RESERVED',
        detail: `refs that begin with ${RESERVED_PREFIX} follow from parents, and are named by nobody`,
      }
    : null;
}

/** What is wrong with the bundle a gate names. One the registry does not know may only not have been read yet. */
function bundleOf({ views }: DecideContext, tenant: string, gate: Gate | null): CommitProblem | null {
  if (gate === null) return null;
  const wrong = bundleProblem(
    gate,
    bundleVersions(views.view(entryView.name), tenant, gate.bundle, gate.bundle_version).map(({ digest }) => digest),
  );
  if (wrong !== null) views.readToEnd();
  return wrong;
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
