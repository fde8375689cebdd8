// The lineage of commits in memory: who was made from whom, in typed arrays.
//
// Boundary: knows ids and edges; which of them count (tenant, run, reattached) is told by whoever adds them.
//
// Invariants
//   G1. A closure names each commit once, whatever cycles there are, and never those it began with.
//   G2. A commit that is beyond the bound is walked through: what was made of it later may be within.
import { IdTable } from './id-table.js';

const FIRST_NODES = 1_024;
const FIRST_EDGES = 2_048;

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
export interface ClosureBound { readonly boundAt: number | null }

export class LineageGraph {
  readonly #table = new IdTable();
  #edges = 0;
  /** Per commit two numbers that are wanted together: its first edge, counted from 1 (0 without one), and the closure that saw it last. */
  #nodes = new Int32Array(2 * FIRST_NODES);
  /** Per edge two: the child, and the next edge of the parent, counted from 1. */
  #links = new Int32Array(2 * FIRST_EDGES);
  /** Per commit: when it was recorded; empty as long as nobody told. */
  #recordedAt = new Float64Array(0);
  #closures = 0;
  #queue = new Int32Array(FIRST_NODES);

  /** Commits, also those that were only named as parents. */
  get size(): number { return this.#table.size; }
  get edges(): number { return this.#edges; }

  /** Bytes of its arrays, those a closure works with included. */
  get bytes(): number {
    return this.#table.bytes + [this.#nodes, this.#links, this.#recordedAt, this.#queue].reduce((sum, { byteLength }) => sum + byteLength, 0);
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
    this.#closures += 1;
    const [stamp, nodes, links] = [this.#closures, this.#nodes, this.#links];
    if (this.#queue.length < this.#table.size) this.#queue = new Int32Array(this.#nodes.length / 2);
    const queue = this.#queue;
    let to = 0;
    for (const root of roots) if (nodes[2 * root + 1] !== stamp) { nodes[2 * root + 1] = stamp; queue[to++] = root; }
    const from = to;
    for (let at = 0; at < to; at += 1) {
      for (let edge = nodes[2 * (queue[at] ?? 0)] ?? 0; edge !== 0; edge = links[2 * edge - 1] ?? 0) {
        const index = links[2 * edge - 2] ?? 0;
        if (nodes[2 * index + 1] !== stamp) { nodes[2 * index + 1] = stamp; queue[to++] = index; }
      }
    }
    return { queue, from, to };
  }

  #link(child: number, parent: number): void {
    this.#reserve();
    if (2 * this.#edges === this.#links.length) this.#links = doubled(this.#links);
    this.#links[2 * this.#edges] = child;
    this.#links[2 * this.#edges + 1] = this.#nodes[2 * parent] ?? 0;
    this.#edges += 1;
    this.#nodes[2 * parent] = this.#edges;
  }

  #tell(index: number, recordedAt: number): void {
    if (2 * this.#recordedAt.length < this.#nodes.length) {
      const told = new Float64Array(this.#nodes.length / 2);
      told.set(this.#recordedAt);
      this.#recordedAt = told;
    }
    this.#recordedAt[index] = recordedAt;
  }

  /** Room for every commit that has a number. */
  #reserve(): void {
    while (2 * this.#table.size > this.#nodes.length) this.#nodes = doubled(this.#nodes);
  }

  #closure(within: ArrayLike<number>, beyond: ArrayLike<number>): Closure {
    return { count: within.length, beyond: beyond.length, ids: (which = 'within') => this.#idsOf(which === 'within' ? within : beyond) };
  }

  #idsOf(indexes: ArrayLike<number>): readonly string[] { return Array.from(indexes, (index) => this.#table.idOf(index)); }
}

function doubled(before: Int32Array): Int32Array<ArrayBuffer> {
  const after = new Int32Array(2 * before.length);
  after.set(before);
  return after;
}
