// Commits that the lineage benches tell: trees whose depth is given, chains over partitions, and others that rest on none of them. Pure.
import { commitIdOf } from '@recourse/lineage';
import type { Checkpoint, CommitRef } from '@recourse/messages';
import type { ToldCheckpoint } from '@recourse/sdk';
import { TENANT } from './recovery-actions.js';

/** Commits of one run. */
const PER_RUN = 20;
/** Every third commit rests on two. */
const TWO_PARENTS_EVERY = 3;
const COMMITTED_AT = 1_760_000_000_000;

/** A commit and what it says; the id stands for it in the parents of others. */
interface Step {
  readonly run: string;
  readonly step: string;
  readonly agent: string;
  readonly parents: readonly CommitRef[];
}

/** A commit without state and without gate: the least there is to record. */
export function toldCommit({ run, step, agent, parents }: Step): ToldCheckpoint {
  const checkpoint: Checkpoint = {
    tenant: TENANT,
    run_id: run,
    agent_id: agent,
    initiator: null,
    objective: null,
    step_id: step,
    produced_by: `call-${step}`,
    subject_ref: null,
    parents,
    assumption_refs: [],
    gate: null,
    release: null,
    state: null,
    committed_at: COMMITTED_AT,
  };
  return { commitId: commitIdOf(checkpoint), checkpoint };
}

export function refOf({ commitId, checkpoint: { run_id } }: ToldCheckpoint): CommitRef {
  return { run_id, commit_id: commitId };
}

/** The smallest number of children each with which a root has so many descendants within a depth. */
export function fanOf(descendants: number, depth: number): number {
  for (let fan = 1; ; fan += 1) if (within(fan, depth) > descendants) return fan;
}

function within(fan: number, depth: number): number {
  let all = 0;
  for (let level = 0; level <= depth; level += 1) all += fan ** level;
  return all;
}

/** Commits that one of a tree rests on, by index; the root has 0 and none. The second is never deeper than the first. */
export function parentsIn(index: number, fan: number): readonly number[] {
  if (index === 0) return [];
  const first = Math.floor((index - 1) / fan);
  return index % TWO_PARENTS_EVERY === 0 && first > 1 ? [first, first - 1] : [first];
}

/** A tree in runs of twenty, root first; each run has commits beside it, too, which rest on one another alone. */
export interface Tree {
  readonly name: string;
  readonly descendants: number;
  readonly depth: number;
  readonly bystanders: number;
}

/** Each commit after those it rests on. */
export function* treeCommits({
  name,
  descendants,
  depth,
  bystanders,
}: Tree): Generator<{ readonly commit: ToldCheckpoint; readonly falls: boolean }> {
  const fan = fanOf(descendants, depth);
  const refs: CommitRef[] = [];
  let beside: readonly CommitRef[] = [];
  const each = Math.ceil((descendants + 1) / Math.max(1, bystanders));
  for (let index = 0; index <= descendants; index += 1) {
    const run = `${name}_${String(Math.floor(index / PER_RUN))}`;
    const parents = parentsIn(index, fan).flatMap((at) => refs[at] ?? []);
    const commit = toldCommit({ run, step: `step-${String(index)}`, agent: name, parents });
    refs.push(refOf(commit));
    yield { commit, falls: true };
    if (bystanders === 0 || index % each !== 0) continue;
    const other = toldCommit({ run, step: `beside-${String(index)}`, agent: name, parents: beside });
    beside = [refOf(other)];
    yield { commit: other, falls: false };
  }
}

/** A chain, first first: each rests on the one before, which is in another of the runs. */
export function chainCommits(runs: readonly string[], length: number): readonly ToldCheckpoint[] {
  const all: ToldCheckpoint[] = [];
  for (let index = 0; index < length; index += 1) {
    const before = all[index - 1];
    all.push(
      toldCommit({
        run: runs[index % runs.length] ?? '',
        step: `link-${String(index)}`,
        agent: 'chain',
        parents: before === undefined ? [] : [refOf(before)],
      }),
    );
  }
  return all;
}
