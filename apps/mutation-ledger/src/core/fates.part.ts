// What falls reach, and how each of them fares: rolled back, left to a person beyond the bound, or admitted again without what fell.
//
// Boundary: reads rows and views, and asks rules/commit; holds no rule.
//
// Invariants
//   F4. No gate sees the state of a commit that rests on the same falls, whatever becomes of that one: it falls, is a person's, or
//       was made with what fell.
import { entryView } from '@recourse/contract';
import type { DecideContext, StateView } from '@recourse/event-log';
import type { CommitRef } from '@recourse/messages';
import { precedingOf } from '../rules/commit/ancestry.decisions.js';
import type { StepOf } from '../rules/commit/ancestry.decisions.js';
import type { Commit } from '../rules/commit/commit.messages.js';
import { isBeyond, leaveToPerson, reattach } from '../rules/commit/fate.decisions.js';
import type { Reached, Readmitted } from '../rules/commit/fate.decisions.js';
import { runAgain } from '../rules/commit/gate.decisions.js';
import { commitOf, judgeParents, standsRef } from '../rules/mutation/lineage.decider.js';
import type { Binding, Verdict } from '../rules/mutation/mutation.messages.js';
import type { Contradiction, Finding, MutationRecord } from '../rules/record.messages.js';
import { verdictScope } from '../rules/identity.js';
import { commitIn } from '../rows/commit.rows.js';
import { mutationIn } from '../rows/mutation.rows.js';
import { keptState } from './kept-states.js';
import { standingBundle } from './reevaluations.part.js';
import { stepsOf } from './run-steps.js';

/** Most falls a new parent is looked for behind. */
const RESUMES_MAX = 1_000;

/** What falls reach, as each of them fares. `bindings`: those that are reached; `resting`: all that rests on what fell with it, in this decision or a part of it to come. */
export function withFates(
  context: DecideContext,
  found: readonly Finding[],
  bindings: readonly Binding[],
  resting: () => readonly Binding[],
): readonly Finding[] {
  const reached = new Set(found.flatMap((one) => (isByLineage(one) ? [one.body.mutation_id] : [])));
  if (reached.size === 0) return found;
  const bound = new Map<string, Binding>();
  for (const binding of bindings) if (reached.has(binding.mutation_id)) bound.set(binding.mutation_id, binding);
  const beside = once(() => new Set(resting().map(({ mutation_id: id }) => id)));
  return found.flatMap((one) => {
    if (!isByLineage(one)) return [one];
    const binding = bound.get(one.body.mutation_id);
    return fateOf(context, one, {
      commit: null,
      beside,
      recordedAt: binding?.recorded_at,
      isCommit: binding?.is_commit === true,
    });
  });
}

/** Made when it is asked for, and kept. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** The commit a fall reaches; `commit` is given where it is being recorded. */
export interface Hit {
  readonly commit: Pick<Commit, 'checkpoint' | 'parents' | 'hardened'> | null;
  /** Commits that are reached with it. */
  readonly beside: () => ReadonlySet<string>;
  readonly recordedAt: number | undefined;
  readonly isCommit: boolean;
}

/** Does it say that something fell which the commit rests on? */
export function isByLineage(one: Finding): one is Contradiction {
  return one.type === 'Contradiction' && one.body.evidence.kind === 'lineage';
}

/** What becomes of a commit that a fall reaches: it falls too, is left to a person, or stands without what fell. */
export function fateOf(context: DecideContext, one: Finding, hit: Hit): readonly Finding[] {
  if (!isByLineage(one)) return [one];
  const { mutation_id, run_id, evidence } = one.body;
  if (isBeyond(evidence, hit.recordedAt))
    return [leaveToPerson(one.body, hit.recordedAt ?? 0, evidence, reachedIn(context.state, one.body, hit))];
  const commit = hit.isCommit ? (hit.commit ?? commitIn(context.state, run_id, mutation_id)) : undefined;
  return [(commit === undefined ? null : readmission(context, one, commit, hit.beside)) ?? one];
}

/** Runs the gate of a commit again without what fell; null where it does not admit it. */
function readmission(
  { state, views }: DecideContext,
  { body }: Contradiction,
  { checkpoint, parents, hardened }: Pick<Commit, 'checkpoint' | 'parents' | 'hardened'>,
  beside: Hit['beside'],
): MutationRecord | null {
  const { gate, run_id, tenant } = checkpoint;
  const fallenId = commitOf(body.evidence.ref ?? '');
  const fallen = parents.find((parent) => parent.commit_id === fallenId);
  // With its state the inputs of its gate were given up.
  if (gate === null || hardened !== null || fallen === undefined || restsOnFallen(state, checkpoint, fallenId))
    return null;
  const bundle = standingBundle(views.view(entryView.name), tenant, gate.bundle);
  const unseen = new Set([fallenId, ...beside()]);
  const before = precedingOf(run_id, parents, statefulSteps(state, run_id), unseen);
  const left = keptState(state, run_id, before?.commit_id ?? null);
  if (bundle === null || left === null || !runAgain(gate, bundle, left).admitted) return null;
  const parent = standingParent(views.view('fallen'), tenant, fallen);
  const judged =
    parent === null ? null : (judgeParents(tenant, [parent], () => views.view('fallen'))[0]?.judged ?? null);
  const again: Readmitted = { bundle: gate.bundle, bundle_version: bundle.version, parent, judged };
  return reattach(body, fallen, body.evidence, checkpoint, again);
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

/** What is said of a commit that is left to a person: what does without it goes on where it would have gone on without what fell. */
function reachedIn(state: StateView, { run_id, mutation_id: id }: Contradiction['body'], { beside }: Hit): Reached {
  const commit = commitIn(state, run_id, id);
  const mutation = commit === undefined ? mutationIn(state, run_id, id) : undefined;
  const { agent_id, subject_ref } = commit?.checkpoint ?? {
    agent_id: mutation?.execution.agent_id ?? '',
    subject_ref: mutation?.subject_ref ?? null,
  };
  const derived_from = commit?.parents ?? mutation?.execution.derived_from ?? [];
  const before = precedingOf(run_id, derived_from, stepsOf(state, run_id), beside());
  const resume = before === null ? null : { run_id: before.run_id, commit_id: before.commit_id };
  return { agent_id, subject_ref, derived_from, resume };
}

/** The same, but passing over commits that carry no state: a run continues from the newest state that was recorded. */
function statefulSteps(state: StateView, runId: string): StepOf {
  const stepOf = stepsOf(state, runId);
  return (id) => {
    const step = stepOf(id);
    return step?.commit?.checkpoint.state === null ? { ...step, hasFallen: true } : step;
  };
}
