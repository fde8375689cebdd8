// Whether the fall of a commit has been taken into account everywhere: computed from cursors and marks, nobody says so.
//
// Invariants
//   S1. Settled means: each fall of the closure is announced, every partition of the ledger has read past it, and what rests on it is marked, reattached or left to a person.
//   S2. What cannot be seen yet counts as not done.
import type { AnnouncedOf, Named, Reliance } from './lineage.messages.js';

const NAMED_MAX = 20;

/** How far a partition of the ledger has read a partition of the notices. */
export interface NoticeCursor {
  readonly partition: number;
  readonly of: number;
  readonly position: number;
}

/** A partition that has not read a fall yet. */
export interface Waiting extends NoticeCursor {
  readonly needed: number;
}

export interface SettledAsked {
  readonly commit: Named;
  /** Rollback per commit of the closure; null for what stands. */
  readonly rollbackOf: (commit: Named) => string | null;
  readonly reliances: readonly Reliance[];
  readonly announcedOf: AnnouncedOf;
  readonly cursors: readonly NoticeCursor[];
  /** Partitions of the ledger's log. */
  readonly partitions: number;
  readonly truncated: boolean;
}

export interface Settled {
  readonly commit: string;
  /** Null for a commit that stands. */
  readonly rollback_id: string | null;
  readonly settled: boolean;
  /** Commits that fell, this one among them; and those left to people. */
  readonly fallen: number;
  readonly beyond: number;
  /** Falls that are marked and not announced yet. */
  readonly unannounced: { readonly count: number; readonly first: readonly string[] };
  /** What rests on a fall and is neither marked nor reattached nor left to a person. */
  readonly unmarked: { readonly count: number; readonly first: readonly string[] };
  readonly waiting_for: readonly Waiting[];
  readonly truncated: boolean;
}

interface Walk {
  readonly fallen: readonly Named[];
  readonly beyond: readonly Named[];
  readonly unannounced: readonly string[];
  readonly unmarked: readonly string[];
  readonly needed: ReadonlyMap<number, number>;
}

/** Says whether the fall of a commit is settled, and what is missing. */
export function settledOf(asked: SettledAsked): Settled {
  const { commit, rollbackOf, truncated } = asked;
  const { fallen, beyond, unannounced, unmarked, needed } = walk(asked);
  const waiting = waitingFor(needed, asked);
  const isDone = fallen.length > 0 && unannounced.length + unmarked.length + waiting.length === 0 && !truncated;
  return {
    commit: commit.id,
    rollback_id: rollbackOf(commit),
    settled: isDone,
    fallen: fallen.length,
    beyond: beyond.length,
    unannounced: counted(unannounced),
    unmarked: counted(unmarked),
    waiting_for: waiting,
    truncated,
  };
}

/** From the commit through what fell and what is beyond the bound; what stands is where it ends. */
function walk({ commit, rollbackOf, reliances, announcedOf }: SettledAsked): Walk {
  const childrenOf = new Map<string, Named[]>();
  for (const { tenant, run_id, child, parent, parent_run_id } of reliances)
    push(childrenOf, nameOf({ tenant, run_id: parent_run_id, id: parent }), { tenant, run_id, id: child });
  const found = {
    fallen: [] as Named[],
    beyond: [] as Named[],
    unannounced: [] as string[],
    unmarked: [] as string[],
    needed: new Map<number, number>(),
  };
  const seen = new Set<string>([nameOf(commit)]);
  for (const queue = [commit]; queue.length > 0;) {
    const one = queue.pop();
    if (one === undefined) break;
    const [isFallen, announced] = [rollbackOf(one) !== null, announcedOf(one)];
    if (!isFallen && announced?.is_beyond !== true) {
      if (one !== commit) found.unmarked.push(one.id);
      continue;
    }
    (isFallen ? found.fallen : found.beyond).push(one);
    // Left to a person first and rolled back by one later: the announcement that counts is the later one.
    if (announced === null || (isFallen && announced.is_beyond)) found.unannounced.push(one.id);
    else found.needed.set(announced.partition, Math.max(announced.seq, found.needed.get(announced.partition) ?? 0));
    for (const child of childrenOf.get(nameOf(one)) ?? [])
      if (!seen.has(nameOf(child))) {
        seen.add(nameOf(child));
        queue.push(child);
      }
  }
  return found;
}

function waitingFor(
  needed: ReadonlyMap<number, number>,
  { cursors, partitions }: Pick<SettledAsked, 'cursors' | 'partitions'>,
): readonly Waiting[] {
  const read = new Map(cursors.map(({ partition, of, position }) => [`${partition} ${of}`, position] as const));
  return [...needed].flatMap(([of, seq]) =>
    Array.from({ length: partitions }, (_, partition) => ({
      partition,
      of,
      position: read.get(`${partition} ${of}`) ?? 0,
      needed: seq,
    })).filter(({ position }) => position < seq),
  );
}

function counted(ids: readonly string[]): { readonly count: number; readonly first: readonly string[] } {
  return { count: ids.length, first: ids.slice(0, NAMED_MAX) };
}
function nameOf({ tenant, run_id, id }: Named): string {
  return `${tenant}\u0000${run_id}\u0000${id}`;
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
