// A runtime's commits, compared in parts that a command may hold: what one part finds is carried into the next.
//
// Invariants
//   P1. Parents come before what was made from them, and a child of a contaminated commit of an earlier part names what fell itself: parts find what one comparison would.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';

/** The ledger takes a thousand commits and 160 KB a comparison; long ids need the room. */
const [PART_COMMITS, PART_BYTES] = [500, 120 * 1_024];

interface Ref {
  readonly run_id: string;
  readonly commit_id: string;
}
/** A commit as a runtime holds it. */
export interface Held extends Ref {
  readonly derived_from: readonly Ref[];
  readonly [more: string]: unknown;
}

/** Reads the commits of a file. Errors: CliProblem(INPUT_INVALID). */
export function heldIn(content: unknown, file: string): readonly Held[] {
  const list = Array.isArray(content) ? content : docOf(content)['commits'];
  if (!Array.isArray(list))
    throw new CliProblem('INPUT_INVALID', `${file} holds no list of commits`, 'usage', {
      remedy:
        'Give a JSON list of {run_id, commit_id, derived_from, stands, reached_user_at}, or an object with it as `commits`.',
    });
  return list.map((one: unknown, at) => {
    const { run_id, commit_id, derived_from, ...more } = docOf(one);
    if (typeof run_id !== 'string' || typeof commit_id !== 'string')
      throw new CliProblem('INPUT_INVALID', `commit ${at} of ${file} lacks run_id or commit_id`, 'usage');
    return { ...more, run_id, commit_id, derived_from: Array.isArray(derived_from) ? derived_from.map(refOf) : [] };
  });
}

/** Parts in which commits are sent, parents first. */
export function partsOf(commits: readonly Held[]): readonly (readonly Held[])[] {
  const parts: Held[][] = [];
  let [count, bytes] = [PART_COMMITS, 0];
  for (const commit of parentsFirst(commits)) {
    const size = Buffer.byteLength(JSON.stringify(commit));
    if (count >= PART_COMMITS || bytes + size > PART_BYTES) {
      parts.push([]);
      [count, bytes] = [0, 0];
    }
    parts.at(-1)?.push(commit);
    [count, bytes] = [count + 1, bytes + size];
  }
  return parts;
}

/** P1. A part with what earlier ones found. */
export function carried(part: readonly Held[], found: readonly Doc[]): readonly Held[] {
  const fallen = new Map(found.map((one) => [nameOf(refOf(one)), refOf(one['fallen'])] as const));
  return part.map((commit) => ({
    ...commit,
    derived_from: [
      ...commit.derived_from,
      ...commit.derived_from.flatMap((parent) => fallen.get(nameOf(parent)) ?? []),
    ],
  }));
}

/** What diverges: worst first, that is what users saw, latest first. */
export function byHarm(found: readonly Doc[]): readonly Doc[] {
  const reached = (one: Doc): number => (typeof one['reached_user_at'] === 'number' ? one['reached_user_at'] : -1);
  return [...found].sort((a, b) => reached(b) - reached(a));
}

/** Whether a comparison that failed ends those that are made again and again: what is wrong with the call shows at the first one, and no waiting mends it. */
export function endsComparing(exit: ExitKind, isFirst: boolean): boolean {
  return exit === 'bug' || (isFirst && exit !== 'unavailable' && exit !== 'pending');
}

function parentsFirst(commits: readonly Held[]): readonly Held[] {
  const byName = new Map(commits.map((commit) => [nameOf(commit), commit] as const));
  const [done, ordered]: [Set<string>, Held[]] = [new Set(), []];
  for (const first of commits) {
    for (const stack = [{ commit: first, isReady: false }]; stack.length > 0;) {
      const one = stack.pop();
      if (one === undefined) break;
      const name = nameOf(one.commit);
      if (one.isReady) ordered.push(one.commit);
      if (one.isReady || done.has(name)) continue;
      done.add(name);
      stack.push(
        { commit: one.commit, isReady: true },
        ...one.commit.derived_from.flatMap((parent) => {
          const commit = byName.get(nameOf(parent));
          return commit === undefined || done.has(nameOf(parent)) ? [] : [{ commit, isReady: false }];
        }),
      );
    }
  }
  return ordered;
}

function refOf(value: unknown): Ref {
  const { run_id, commit_id } = docOf(value);
  return {
    run_id: typeof run_id === 'string' ? run_id : '',
    commit_id: typeof commit_id === 'string' ? commit_id : '',
  };
}
function nameOf({ run_id, commit_id }: Ref): string {
  return `${run_id}\u0000${commit_id}`;
}
