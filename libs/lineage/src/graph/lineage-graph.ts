// The lineage of commits in memory: who was made from whom, in typed arrays.
//
// Boundary: knows ids and edges; which of them count (tenant, run, reattached) is told by whoever adds them.
//
// Edges are settled or loose. The settled ones lie side by side, children of a parent after one another, so that a walk reads on
// where it is; the loose ones came later and are linked, as they came. A walk settles them when they have become many.
//
// Invariants
//   G1. A closure names each commit once, whatever cycles there are, and never those it began with.
//   G2. A commit that is beyond the bound is walked through: what was made of it later may be within.
import { IdTable } from './id-table.js';
import type { PlainIds } from './plain-ids.js';

const FIRST_NODES = 1_024;
const FIRST_EDGES = 2_048;
/** A walk settles loose edges that are more than this share of what settling reads: each edge is moved a few times at most. */
const LOOSE_SHARE = 1 / 4;
/** Walks whose marks are told apart in one octet. */
const MARKS = 255;

/** Commits that a closure reaches, each after one it was made from. */
export interface Closure {
  /** Commits within the bound. */
  readonly count: number;
  /** Commits recorded before it. */
  readonly beyond: number;
  /** Ids of those within, nearest first; those beyond with `beyond`. */
  ids(which?: 'within' | 'beyond'): readonly string[];
}

/** Bounds a closure. Units: epoch milliseconds; null bounds nothing. */
export interface ClosureBound {
  readonly boundAt: number | null;
}

export class LineageGraph {
  readonly #table = new IdTable();
  /** Per commit where its settled children begin, and behind the last where they end; shorter than there are commits by those that came later. */
  #starts = new Int32Array(1);
  #children = new Int32Array(0);
  /** Per commit its first loose edge, counted from 1; 0 without one. */
  #firsts = new Int32Array(FIRST_NODES);
  /** Per loose edge two: the child, and the next of the parent, counted from 1. */
  #links = new Int32Array(2 * FIRST_EDGES);
  #loose = 0;
  /** Per commit: when it was recorded; empty as long as nobody told. */
  #recordedAt = new Float64Array(0);
  /** Per commit the mark of the walk that saw it last. */
  #seen = new Uint8Array(FIRST_NODES);
  #mark = 0;
  #queue = new Int32Array(FIRST_NODES);

  /** Commits, also those that were only named as parents. */
  get size(): number {
    return this.#table.size;
  }
  get edges(): number {
    return this.#children.length + this.#loose;
  }

  /** Bytes of its arrays, those a closure works with included. */
  get bytes(): number {
    return (
      this.#table.bytes +
      [this.#starts, this.#children, this.#firsts, this.#links, this.#recordedAt, this.#seen, this.#queue].reduce(
        (sum, { byteLength }) => sum + byteLength,
        0,
      )
    );
  }

  /** Adds a commit with those it was made from; a second time adds to them. Units: `recordedAt` epoch milliseconds. */
  add(id: string, parents: readonly string[], recordedAt?: number): void {
    const child = this.#table.intern(id);
    this.#reserve();
    for (const parent of parents) this.#link(child, this.#table.intern(parent));
    if (recordedAt !== undefined) this.#tell(child, recordedAt);
  }

  /** Adds an edge told in UTF-8, `child` then one octet then `parent`: what reads millions of them makes no strings. */
  addBytes(bytes: Uint8Array, from: number, between: number, to: number): void {
    const child = this.#table.internBytes(bytes, from, between);
    this.#link(child, this.#table.internBytes(bytes, between + 1, to));
  }

  /** Adds edges that were read ahead: of each two ids the child, then the parent. */
  addAll(ids: PlainIds): void {
    this.#table.internAll(ids);
    for (let at = 0; at < ids.size; at += 2) this.#link(ids.numbers[at] ?? 0, ids.numbers[at + 1] ?? 0);
  }

  /** Lays all edges side by side: for whoever has added many, so that no walk has to. */
  settle(): void {
    if (this.#loose === 0) return;
    const [size, starts, children] = [this.#table.size, this.#starts, this.#children];
    const settled = starts.length - 1;
    const [startsAfter, childrenAfter] = [new Int32Array(size + 1), new Int32Array(this.edges)];
    let to = 0;
    for (let parent = 0; parent < size; parent += 1) {
      for (let edge = this.#firsts[parent] ?? 0; edge !== 0; edge = this.#links[2 * edge - 1] ?? 0)
        childrenAfter[to++] = this.#links[2 * edge - 2] ?? 0;
      if (parent < settled)
        for (let at = starts[parent] ?? 0, end = starts[parent + 1] ?? 0; at < end; at += 1)
          childrenAfter[to++] = children[at] ?? 0;
      startsAfter[parent + 1] = to;
    }
    [this.#starts, this.#children, this.#loose] = [startsAfter, childrenAfter, 0];
    this.#firsts.fill(0);
    this.#links = new Int32Array(2 * FIRST_EDGES);
  }

  /** What was made from some commits, by whatever way, nearest first. */
  closureOf(ids: readonly string[], { boundAt }: ClosureBound = { boundAt: null }): Closure {
    const roots = ids.map((id) => this.#table.find(id)).filter((index) => index >= 0);
    const { queue, from, to } = this.#walk(roots);
    // A copy: the queue is the next walk's.
    const reached = queue.slice(from, to);
    if (boundAt === null || this.#recordedAt.length === 0) return this.#closure(reached, []);
    const [within, beyond]: [number[], number[]] = [[], []];
    for (const index of reached) ((this.#recordedAt[index] ?? 0) < boundAt ? beyond : within).push(index);
    return this.#closure(within, beyond);
  }

  /** Only the number of commits in a closure: what a limit asks for. */
  sizeOf(ids: readonly string[]): number {
    const { from, to } = this.#walk(ids.map((id) => this.#table.find(id)).filter((index) => index >= 0));
    return to - from;
  }

  /** Breadth first over arrays; the answer lies in the queue, behind the roots, until the next walk. */
  #walk(roots: readonly number[]): { readonly queue: Int32Array; readonly from: number; readonly to: number } {
    if (this.#loose > LOOSE_SHARE * (this.#children.length + this.#table.size)) this.settle();
    const [starts, children, firsts, links] = [this.#starts, this.#children, this.#firsts, this.#links];
    const [settled, hasLoose] = [starts.length - 1, this.#loose > 0];
    const { seen, mark, queue } = this.#fresh();
    let to = 0;
    for (const root of roots)
      if (seen[root] !== mark) {
        seen[root] = mark;
        queue[to++] = root;
      }
    const from = to;
    for (let at = 0; at < to; at += 1) {
      const parent = queue[at] ?? 0;
      for (let edge = hasLoose ? (firsts[parent] ?? 0) : 0; edge !== 0; edge = links[2 * edge - 1] ?? 0) {
        const index = links[2 * edge - 2] ?? 0;
        if (seen[index] !== mark) {
          seen[index] = mark;
          queue[to++] = index;
        }
      }
      if (parent >= settled) continue;
      for (let edge = starts[parent] ?? 0, end = starts[parent + 1] ?? 0; edge < end; edge += 1) {
        const index = children[edge] ?? 0;
        if (seen[index] !== mark) {
          seen[index] = mark;
          queue[to++] = index;
        }
      }
    }
    return { queue, from, to };
  }

  /** What a walk writes to, with room for every commit and a mark that none bears. */
  #fresh(): { readonly seen: Uint8Array; readonly mark: number; readonly queue: Int32Array } {
    if (this.#queue.length < this.#table.size) this.#queue = new Int32Array(this.#firsts.length);
    if (this.#seen.length < this.#table.size) this.#seen = new Uint8Array(this.#firsts.length);
    else if (this.#mark === MARKS) this.#seen.fill(0);
    else return { seen: this.#seen, mark: (this.#mark += 1), queue: this.#queue };
    this.#mark = 1;
    return { seen: this.#seen, mark: 1, queue: this.#queue };
  }

  #link(child: number, parent: number): void {
    this.#reserve();
    if (2 * this.#loose === this.#links.length) this.#links = doubled(this.#links);
    this.#links[2 * this.#loose] = child;
    this.#links[2 * this.#loose + 1] = this.#firsts[parent] ?? 0;
    this.#loose += 1;
    this.#firsts[parent] = this.#loose;
  }

  #tell(index: number, recordedAt: number): void {
    if (this.#recordedAt.length < this.#firsts.length) {
      const told = new Float64Array(this.#firsts.length);
      told.set(this.#recordedAt);
      this.#recordedAt = told;
    }
    this.#recordedAt[index] = recordedAt;
  }

  /** Room for every commit that has a number. */
  #reserve(): void {
    while (this.#table.size > this.#firsts.length) this.#firsts = doubled(this.#firsts);
  }

  #closure(within: ArrayLike<number>, beyond: ArrayLike<number>): Closure {
    return {
      count: within.length,
      beyond: beyond.length,
      ids: (which = 'within') => this.#idsOf(which === 'within' ? within : beyond),
    };
  }

  #idsOf(indexes: ArrayLike<number>): readonly string[] {
    return Array.from(indexes, (index) => this.#table.idOf(index));
  }
}

function doubled(before: Int32Array): Int32Array<ArrayBuffer> {
  const after = new Int32Array(2 * before.length);
  after.set(before);
  return after;
}
