// The commits a commit rests on within its run: where the run goes on after a fall, and which state its gate is run against.
//
// Boundary: pure; walks the rows of one run. What other runs told is not seen here.
import type { CommitRef } from '@recourse/messages';
import type { Commit } from './commit.messages.js';

/** A step of a run that a walk passes: a commit, or an effect between two. */
export interface Passed {
  /** Null for an effect: it holds no state. */
  readonly commit: Commit | null;
  /** It fell, or its state was built on something that fell: no run continues from it. */
  readonly hasFallen: boolean;
  readonly parents: readonly CommitRef[];
}

/** Looks up a step of the run by its id. */
export type StepOf = (id: string) => Passed | undefined;

/** Whether a commit stands: nobody rolled it back, and no bound left it for a person. */
export function stands({ rollback_id, beyond }: Pick<Commit, 'rollback_id' | 'beyond'>): boolean {
  return rollback_id === null && beyond.length === 0;
}

/** Whether nothing that fell is in the state of a commit: one that was reattached stands, but its state was made with what fell (E33). */
export function isClean(commit: Pick<Commit, 'rollback_id' | 'beyond' | 'reattached'>): boolean {
  return stands(commit) && commit.reattached.length === 0;
}

/**
 * The newest clean commit of the run before these parents: `without` counts as fallen.
 *
 * Shape:  fallen commits and effects are walked through; the walk ends at what stands. Null where nothing stands before.
 */
export function precedingOf(
  runId: string,
  parents: readonly CommitRef[],
  stepOf: StepOf,
  without: ReadonlySet<string> = new Set(),
): Commit | null {
  const seen = new Set<string>();
  const ahead = [...parents];
  let newest: Commit | null = null;
  for (let parent = ahead.pop(); parent !== undefined; parent = ahead.pop()) {
    if (parent.run_id !== runId || seen.has(parent.commit_id)) continue;
    seen.add(parent.commit_id);
    const step = stepOf(parent.commit_id);
    if (step === undefined) continue;
    if (step.commit !== null && !step.hasFallen && !without.has(parent.commit_id)) {
      if (newest === null || step.commit.recorded_seq > newest.recorded_seq) newest = step.commit;
    } else {
      ahead.push(...step.parents);
    }
  }
  return newest;
}

/** The newest commit of a run that stands with all it rests on in its run: where its agent goes on (E11). */
export function resumable(commits: readonly Commit[], stepOf: StepOf): Commit | null {
  const known = new Map<string, boolean>();
  const standing = commits.filter((commit) => isWhole(commit.commit_id, commit.run_id, stepOf, known));
  return standing.reduce<Commit | null>(
    (newest, commit) => (newest === null || commit.recorded_seq > newest.recorded_seq ? commit : newest),
    null,
  );
}

/** Whether a step and all it rests on in its run stand. Walks with a list: runs are long. */
function isWhole(id: string, runId: string, stepOf: StepOf, known: Map<string, boolean>): boolean {
  const visited: string[] = [];
  const seen = new Set<string>();
  const ahead = [id];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    if (seen.has(at) || known.get(at) === true) continue;
    seen.add(at);
    const step = stepOf(at);
    if (step === undefined) continue;
    if (step.hasFallen || known.get(at) === false) {
      known.set(id, false);
      return false;
    }
    visited.push(at);
    ahead.push(...step.parents.filter((parent) => parent.run_id === runId).map((parent) => parent.commit_id));
  }
  for (const one of visited) known.set(one, true);
  return true;
}
