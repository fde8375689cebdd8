// What the producer of the consumers' crash runs tells: commits in families, what falls of them, and when each is told. Pure.
//
// Shape: a family is a few runs side by side. A commit is made from the one before it in its run and now and then from one of
// another run of its family, so a fall crosses runs and partitions and ends with the family.
import { commitIdOf } from '@recourse/lineage';
import type { Checkpoint, CommitRef } from '@recourse/messages';

/** A commit as it is told. */
export interface Made {
  readonly commitId: string;
  readonly checkpoint: Checkpoint;
}
/** One word of the world against what commits rely on; told after the batch of this number. */
export interface Fall {
  readonly ref: string;
  readonly batch: number;
}
export interface ToldGraph {
  readonly commits: readonly Made[];
  readonly falls: readonly Fall[];
  /** Commits that these falls reach, directly or over lineage. */
  readonly fallen: ReadonlySet<string>;
}

export interface GraphPlan {
  readonly tenant: string;
  readonly commits: number;
  /** Commits that have to fall, at least. */
  readonly rollbacks: number;
  readonly batches: number;
  /** Epoch milliseconds; the time of all commits. */
  readonly at: number;
  readonly dice: () => number;
}

export const AGENTS = 4;
const RUNS_PER_FAMILY = 5;
const STEPS_PER_RUN = 8;
const FAMILY = RUNS_PER_FAMILY * STEPS_PER_RUN;
const REFS_PER_FAMILY = 4;
const RELIES = 0.3;
const FROM_ANOTHER_RUN = 0.3;
/** A second word against the same family: two triggers over one lineage. */
const TWICE = 0.3;

/** The whole of what is told, decided beforehand. Errors: when not so many commits can fall. */
export function toldGraph(plan: GraphPlan): ToldGraph {
  const commits: Made[] = [];
  while (commits.length < plan.commits)
    commits.push(...familyOf(plan, commits.length / FAMILY).slice(0, plan.commits - commits.length));
  const falls = fallsOf(plan, commits);
  return { commits, falls, fallen: fallenOf(commits, new Set(falls.map(({ ref }) => ref))) };
}

/** The naive closure: over all commits again and again, until nothing more falls. */
export function fallenOf(commits: readonly Made[], refs: ReadonlySet<string>): ReadonlySet<string> {
  const fallen = new Set<string>();
  for (let before = -1; before !== fallen.size;) {
    before = fallen.size;
    for (const { commitId, checkpoint } of commits) {
      if (
        checkpoint.assumption_refs.some((ref) => refs.has(ref)) ||
        checkpoint.parents.some(({ commit_id }) => fallen.has(commit_id))
      )
        fallen.add(commitId);
    }
  }
  return fallen;
}

/** Commits of one family, every step of all runs before the next: what a commit is made from was made before. */
function familyOf({ tenant, at, dice }: GraphPlan, family: number): readonly Made[] {
  const made: Made[] = [];
  for (let step = 0; step < STEPS_PER_RUN; step += 1) {
    for (let run = 0; run < RUNS_PER_FAMILY; run += 1) {
      const before = made[made.length - RUNS_PER_FAMILY];
      const other = dice() < FROM_ANOTHER_RUN ? made[Math.floor(dice() * made.length)] : undefined;
      const checkpoint: Checkpoint = {
        tenant,
        run_id: `run-${String(family)}-${String(run)}`,
        agent_id: `agent-${String(run % AGENTS)}`,
        initiator: null,
        objective: null,
        step_id: `step-${String(step)}`,
        produced_by: `call-${String(step)}`,
        subject_ref: `order/${String(family)}`,
        parents: parentsOf([before, other]),
        assumption_refs: dice() < RELIES ? [refOf(family, Math.floor(dice() * REFS_PER_FAMILY))] : [],
        gate: null,
        release: null,
        state: null,
        committed_at: at,
      };
      made.push({ commitId: commitIdOf(checkpoint), checkpoint });
    }
  }
  return made;
}

/** Words against families in random order, until enough falls; each is told at any time, also before what relies on it. */
function fallsOf({ rollbacks, batches, dice }: GraphPlan, commits: readonly Made[]): readonly Fall[] {
  const families = shuffled(
    Array.from({ length: Math.ceil(commits.length / FAMILY) }, (_, family) => family),
    dice,
  );
  const falls: Fall[] = [];
  let fallen = 0;
  for (const family of families) {
    if (fallen >= rollbacks) return falls;
    const refs = Array.from({ length: dice() < TWICE ? 2 : 1 }, () =>
      refOf(family, Math.floor(dice() * REFS_PER_FAMILY)),
    );
    falls.push(...[...new Set(refs)].map((ref) => ({ ref, batch: Math.floor(dice() * batches) })));
    fallen += fallenOf(commits.slice(family * FAMILY, (family + 1) * FAMILY), new Set(refs)).size;
  }
  if (fallen < rollbacks)
    throw new Error(
      `of ${String(commits.length)} commits ${String(fallen)} fall when every family does; ${String(rollbacks)} were asked for`,
    );
  return falls;
}

const refOf = (family: number, index: number): string => `stock/${String(family)}-${String(index)}#counted`;

function parentsOf(made: readonly (Made | undefined)[]): readonly CommitRef[] {
  const byId = new Map(
    made.flatMap((one) =>
      one === undefined ? [] : [[one.commitId, { run_id: one.checkpoint.run_id, commit_id: one.commitId }] as const],
    ),
  );
  return [...byId.values()];
}

function shuffled(items: readonly number[], dice: () => number): readonly number[] {
  return items
    .map((item) => ({ item, place: dice() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
