// Commits without an outside effect as a part of the mutations log: events in, facts out.
//
// Boundary: reads rows and views, and asks the decisions of domain/commit; holds no rule.
import { entryView } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, StateView } from '@recourse/event-log';
import type { Json } from '@recourse/kernel';
import { isCommitId, restoredState } from '@recourse/lineage';
import type { StateHolder } from '@recourse/lineage';
import type { CheckpointTaken, CommitRef, RollbackOpened, StateChunk } from '@recourse/messages';
import { precedingOf, isClean } from '../domain/commit/ancestry.decisions.js';
import type { StepOf } from '../domain/commit/ancestry.decisions.js';
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
import { isBeyond, leaveToPerson, reattach } from '../domain/commit/fate.decisions.js';
import type { Reached, Readmitted } from '../domain/commit/fate.decisions.js';
import { runAgain } from '../domain/commit/gate.decisions.js';
import {
  commitOf,
  judgeParents,
  namesReserved,
  RESERVED_PREFIX,
  standsRef,
} from '../domain/mutation/lineage.decider.js';
import type { Binding, Body, MutationFact, Trigger, Verdict } from '../domain/mutation/mutation.messages.js';
import { contradictionsAtBinding, judgeRefs, REFS_MAX } from '../domain/mutation/refs.decider.js';
import { verdictScope, refScope } from '../domain/scope.js';
import type { AckWaits } from '../domain/consumer/consumer.messages.js';
import { chunkIn, commitIn } from './commit-rows.js';
import { consumersDue } from './consumers.part.js';
import { parked } from './executions.js';
import { mutationIn } from './mutation-rows.js';
import { againstEarlierVersion, standingBundle } from './reevaluations.part.js';

/** Most falls a new parent is looked for behind. */
const RESUMES_MAX = 1_000;

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
  const marked = rollBackCommit(commit, trigger, refOf(before), due, context.now, policy);
  return marked === null ? NOTHING : append(marked);
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

/** What falls reach, as each of them fares. */
export function withFates(
  context: DecideContext,
  decided: readonly MutationFact[],
  bindings: readonly Binding[],
): readonly MutationFact[] {
  const reached = new Set(decided.flatMap((fact) => (isByLineage(fact) ? [fact.body.mutation_id] : [])));
  const bound = new Map(
    bindings.flatMap((binding) => (reached.has(binding.mutation_id) ? [[binding.mutation_id, binding] as const] : [])),
  );
  return decided.flatMap((fact) => {
    if (!isByLineage(fact)) return [fact];
    const binding = bound.get(fact.body.mutation_id);
    return fateOf(context, fact, {
      commit: null,
      recordedAt: binding?.recorded_at,
      isCommit: binding?.is_commit === true,
    });
  });
}

/** The commit a fall reaches; `commit` is given where it is being recorded. */
interface Hit {
  readonly commit: Pick<Commit, 'checkpoint' | 'parents' | 'hardened'> | null;
  readonly recordedAt: number | undefined;
  readonly isCommit: boolean;
}

type Contradicted = Extract<MutationFact, { type: 'MutationContradicted' }>;

function isByLineage(fact: MutationFact): fact is Contradicted {
  return fact.type === 'MutationContradicted' && fact.body.evidence.kind === 'lineage';
}

function fateOf(context: DecideContext, fact: MutationFact, hit: Hit): readonly MutationFact[] {
  if (!isByLineage(fact)) return [fact];
  const { mutation_id, run_id, evidence } = fact.body;
  if (isBeyond(evidence, hit.recordedAt))
    return [leaveToPerson(fact.body, hit.recordedAt ?? 0, evidence, reachedBy(context.state, run_id, mutation_id))];
  const commit = hit.isCommit ? (hit.commit ?? commitIn(context.state, run_id, mutation_id)) : undefined;
  return [(commit === undefined ? null : readmission(context, fact, commit)) ?? fact];
}

/** Runs the gate of a commit again without what fell; null where it does not admit it. */
function readmission(
  { state, views }: DecideContext,
  { body }: Contradicted,
  { checkpoint, parents, hardened }: Pick<Commit, 'checkpoint' | 'parents' | 'hardened'>,
): MutationFact | null {
  const { gate, run_id, tenant } = checkpoint;
  const fallenId = commitOf(body.evidence.ref ?? '');
  const fallen = parents.find((parent) => parent.commit_id === fallenId);
  // With its state the inputs of its gate were given up.
  if (gate === null || hardened !== null || fallen === undefined || restsOnFallen(state, checkpoint, fallenId))
    return null;
  const bundle = standingBundle(views.view(entryView.name), tenant, gate.bundle);
  const left = stateBefore(state, precedingOf(run_id, parents, statefulSteps(state, run_id), new Set([fallenId])));
  if (bundle === null || left === null || !runAgain(gate, bundle, left).admitted) return null;
  const parent = standingParent(views.view('fallen'), tenant, fallen);
  const judged =
    parent === null ? null : (judgeParents(tenant, [parent], () => views.view('fallen'))[0]?.judged ?? null);
  const reached: Reached = {
    agent_id: checkpoint.agent_id,
    subject_ref: checkpoint.subject_ref,
    derived_from: parents,
  };
  const again: Readmitted = { bundle: gate.bundle, bundle_version: bundle.version, parent, judged };
  return reattach(body, fallen, body.evidence, reached, again);
}

/** A delta holds all that the states below it hold. */
function restsOnFallen(state: StateView, { run_id, state: told }: Commit['checkpoint'], fallenId: string): boolean {
  for (let base = told?.base_id ?? null; base !== null;) {
    const commit = commitIn(state, run_id, base);
    if (base === fallenId || commit === undefined || commit.rollback_id !== null) return true;
    base = commit.checkpoint.state?.base_id ?? null;
  }
  return false;
}

/** The commit before one that fell, and before that one where it fell too. */
function standingParent(
  fallen: { readonly get: (key: string) => object | undefined },
  tenant: string,
  { run_id, commit_id }: CommitRef,
): CommitRef | null {
  let at: CommitRef | null = { run_id, commit_id };
  for (let steps = 0; at !== null && steps < RESUMES_MAX; steps += 1) {
    const verdict: Verdict | undefined = fallen.get(verdictScope(tenant, standsRef(at.commit_id), at.run_id)) as
      Verdict | undefined; // entries of this view are verdicts
    if (verdict === undefined) return at;
    at = verdict.resume ?? null;
  }
  return null;
}

function reachedBy(state: StateView, runId: string, id: string): Reached {
  const commit = commitIn(state, runId, id);
  if (commit !== undefined)
    return {
      agent_id: commit.checkpoint.agent_id,
      subject_ref: commit.checkpoint.subject_ref,
      derived_from: commit.parents,
    };
  const mutation = mutationIn(state, runId, id);
  return {
    agent_id: mutation?.execution.agent_id ?? '',
    subject_ref: mutation?.subject_ref ?? null,
    derived_from: mutation?.execution.derived_from ?? [],
  };
}

/** Steps of a run as a walk passes them. */
function stepsOf(state: StateView, runId: string): StepOf {
  return (id) => {
    const commit = commitIn(state, runId, id);
    if (commit !== undefined) return { commit, hasFallen: !isClean(commit), parents: commit.parents };
    const mutation = isCommitId(id) ? undefined : mutationIn(state, runId, id);
    return mutation === undefined
      ? undefined
      : { commit: null, hasFallen: mutation.rollback_id !== null, parents: mutation.execution.derived_from };
  };
}

/** The same, commits that carry no state walked through: the newest state that was told is the one a step goes on from. */
function statefulSteps(state: StateView, runId: string): StepOf {
  const stepOf = stepsOf(state, runId);
  return (id) => {
    const step = stepOf(id);
    return step?.commit?.checkpoint.state === null ? { ...step, hasFallen: true } : step;
  };
}

/** The state a gate is run against; empty before the first that was told, null where it was given up. */
function stateBefore(state: StateView, before: Commit | null): Json | null {
  if (before === null) return {};
  const { run_id: runId, commit_id: commitId } = before;
  const restored = restoredState(commitId, (id) => {
    const commit = commitIn(state, runId, id);
    return commit === undefined ? undefined : holderOf(commit, (index) => chunkIn(state, runId, id, index)?.chunk);
  });
  return restored.ok ? restored.state : null;
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

function ownCommit(state: StateView, tenant: string, runId: string, id: string): Commit | undefined {
  const commit = commitIn(state, runId, id);
  return commit?.tenant === tenant ? commit : undefined;
}

function refOf(commit: Commit | null): CommitRef | null {
  return commit === null ? null : { run_id: commit.run_id, commit_id: commit.commit_id };
}
