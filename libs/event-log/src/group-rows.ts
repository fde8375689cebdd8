// Rows of one group in memory, and what a batch changes of them: nothing is copied, however many rows a group has.
//
// Boundary: keeps rows and their order; what a batch is, and when it is accepted, is row-cache.ts' to say.
//
// Invariants
//   G1. What a batch changes lies over the rows, and is put into them when it was accepted; taken back, it leaves nothing.
//   G2. An order is made when it is first asked for. From then on a change costs what it changes, and a walk what it walks over.
import type { Doc, KindSpec, Row } from './service-core.js';

type PlaceOf = NonNullable<KindSpec['place']>;

/** Rows as they are read. */
export interface Group {
  get(key: string): Row | undefined;
  /** In no order. */
  values(): Iterable<Row>;
  /** Those placed below `below`, the last first, and then those without a place. */
  lastFirst(below: number): Iterable<Row>;
}

/** Place of what has none: below all others. */
const NOWHERE = -1;
/** Of few rows the order is made anew sooner than looked at. */
const STALE_MIN = 64;

/** Rows that were accepted, by key. */
export class GroupRows implements Group {
  readonly #rows = new Map<string, Row>();
  #order: Order | null = null;

  constructor(private readonly placeOf: PlaceOf | undefined) {}

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  values(): Iterable<Row> {
    return this.#rows.values();
  }

  /** Null takes the row away. */
  set(key: string, row: Row | null): void {
    const before = this.#rows.get(key);
    if (row === null) this.#rows.delete(key);
    else this.#rows.set(key, row);
    if (this.#order?.follows(key, this.place(before), this.place(row ?? undefined)) === false) this.#order = null;
  }

  *lastFirst(below: number): Generator<Row> {
    this.#order ??= new Order([...this.#rows.values()].map((row) => [row.key, this.place(row) ?? NOWHERE] as const));
    for (const [key, place] of this.#order.lastFirst(below)) {
      const row = this.#rows.get(key);
      if (row !== undefined && this.place(row) === place) yield row;
    }
  }

  /** Undefined where there is no row. */
  place(row: Row | undefined): number | undefined {
    return row === undefined ? undefined : (this.placeOf?.(row.doc) ?? NOWHERE);
  }
}

/** What a batch changed of a group, over the rows as they were accepted. */
export class ChangedRows implements Group {
  readonly #own: Map<string, Row | null>;

  constructor(
    readonly base: GroupRows,
    changes?: ChangedRows,
  ) {
    this.#own = new Map(changes === undefined ? [] : changes.#own);
  }

  get(key: string): Row | undefined {
    const own = this.#own.get(key);
    return own === undefined ? this.base.get(key) : (own ?? undefined);
  }

  *values(): Generator<Row> {
    for (const row of this.base.values()) {
      const own = this.#own.get(row.key);
      if (own === undefined) yield row;
      else if (own !== null) yield own;
    }
    for (const [key, own] of this.#own) if (own !== null && this.base.get(key) === undefined) yield own;
  }

  *lastFirst(below: number): Generator<Row> {
    const moved = this.#moved(below);
    let next = 0;
    for (const row of this.base.lastFirst(below)) {
      const place = this.base.place(row) ?? NOWHERE;
      for (let own = moved[next]; own !== undefined && own.place > place; own = moved[next]) {
        next += 1;
        yield own.row;
      }
      const own = this.#own.get(row.key);
      if (own === undefined) yield row;
      else if (own !== null && this.base.place(own) === place) yield own;
    }
    for (const { row } of moved.slice(next)) yield row;
  }

  /** Rows that have another place than before, or none before. */
  #moved(below: number): readonly { readonly row: Row; readonly place: number }[] {
    const moved: { row: Row; place: number }[] = [];
    for (const row of this.#own.values()) {
      if (row === null) continue;
      const place = this.base.place(row) ?? NOWHERE;
      if (place < below && place !== this.base.place(this.base.get(row.key))) moved.push({ row, place });
    }
    return moved.sort((a, b) => b.place - a.place);
  }

  /** What the batch made of a row: null when it took it away, undefined when it left it alone. */
  own(key: string): Row | null | undefined {
    return this.#own.get(key);
  }

  set(key: string, row: Row | null): void {
    this.#own.set(key, row);
  }

  /** Takes a change back. */
  restore(key: string, own: Row | null | undefined): void {
    if (own === undefined) this.#own.delete(key);
    else this.#own.set(key, own);
  }

  /** Puts the changes into rows: those they lie over, or the same rows that were loaded anew. */
  into(rows: GroupRows): void {
    for (const [key, row] of this.#own) rows.set(key, row);
  }
}

/** Keys by place, the first first. An entry whose row is elsewhere by now, or gone, stays until the order is made anew. */
class Order {
  readonly #keys: string[] = [];
  readonly #places: number[] = [];
  readonly #placeless = new Set<string>();
  #stale = 0;

  constructor(entries: readonly (readonly [string, number])[]) {
    for (const [key, place] of [...entries].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? 1 : -1)))
      this.#add(key, place);
  }

  /** Follows a change of a row from one place to another; false when the order has to be made anew. */
  follows(key: string, before: number | undefined, after: number | undefined): boolean {
    if (before === after) return true;
    if (before === NOWHERE) this.#placeless.delete(key);
    else if (before !== undefined) this.#stale += 1;
    if (this.#stale > Math.max(STALE_MIN, this.#keys.length / 2)) return false;
    if (after === undefined) return true;
    const last = this.#places[this.#places.length - 1] ?? NOWHERE;
    // A row that comes back to the place of an entry that was left behind would be found there twice.
    if (after !== NOWHERE && (after < last || (after === last && this.#stale > 0))) return false;
    this.#add(key, after);
    return true;
  }

  *lastFirst(below: number): Generator<readonly [string, number]> {
    for (let at = this.#placesBelow(below) - 1; at >= 0; at -= 1)
      yield [this.#keys[at] ?? '', this.#places[at] ?? NOWHERE];
    for (const key of this.#placeless) yield [key, NOWHERE];
  }

  #add(key: string, place: number): void {
    if (place === NOWHERE) this.#placeless.add(key);
    else this.#places[this.#keys.push(key) - 1] = place;
  }

  #placesBelow(below: number): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] ?? NOWHERE) < below) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Documents of rows. */
export function docsOf(rows: Iterable<Row>): readonly Doc[] {
  return Array.from(rows, ({ doc }) => doc);
}

// Which groups of rows a store may hold: a group that it cannot hold is empty, and the store need not be asked.
//
// Invariants
//   G3. It never denies a group that was added; it may affirm one that was not, and then the store is asked.
//   G4. Nothing is denied until every group of the store was added.
const FIRST_BITS = 2 ** 18;
/** Bits for each group: about one answer in five thousand is wrong then. A decision about hundreds of runs asks for hundreds, and one that is wrong has it made again. */
const BITS_PER_GROUP = 20;
const PROBES = 7;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Odd, so that steps of it reach every bit of a table whose size is a power of two. */
const STEP_SEED = 0x9e3779b1;

/** A Bloom filter that grows by tables, each twice as large as the one before. */
export class KnownGroups {
  #tables: Table[] = [new Table(FIRST_BITS)];
  #isWhole = false;

  /** True until it is known that no row of the group can be in the store. */
  mayHold(kind: string, group: string): boolean {
    if (!this.#isWhole) return true;
    const at = placeOf(kind, group);
    return this.#tables.some((table) => table.has(at));
  }

  add(kind: string, group: string): void {
    const at = placeOf(kind, group);
    if (this.#tables.some((table) => table.has(at))) return;
    let last = this.#tables[this.#tables.length - 1];
    if (last === undefined || last.isFull) {
      last = new Table((last?.size ?? FIRST_BITS / 2) * 2);
      this.#tables.push(last);
    }
    last.add(at);
  }

  /** Every group of the store was added. */
  complete(): void {
    this.#isWhole = true;
  }

  clear(): void {
    this.#tables = [new Table(FIRST_BITS)];
    this.#isWhole = false;
  }
}

interface Place {
  readonly first: number;
  readonly step: number;
}

class Table {
  readonly #words: Uint32Array;
  #count = 0;

  /** `size`: bits, a power of two. */
  constructor(readonly size: number) {
    this.#words = new Uint32Array(size / 32);
  }

  get isFull(): boolean {
    return this.#count * BITS_PER_GROUP >= this.size;
  }

  has({ first, step }: Place): boolean {
    for (let probe = 0, at = first; probe < PROBES; probe += 1, at = (at + step) >>> 0) {
      const bit = at & (this.size - 1);
      if (((this.#words[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  add({ first, step }: Place): void {
    for (let probe = 0, at = first; probe < PROBES; probe += 1, at = (at + step) >>> 0) {
      const bit = at & (this.size - 1);
      this.#words[bit >>> 5] = (this.#words[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
    this.#count += 1;
  }
}

/** Two hashes of an address: where its bits begin, and how far they are apart. */
function placeOf(kind: string, group: string): Place {
  let first = FNV_OFFSET;
  let step = STEP_SEED;
  for (const text of [kind, group]) {
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      first = Math.imul(first ^ unit, FNV_PRIME);
      step = Math.imul(step ^ (unit + (step >>> 15)), STEP_SEED);
    }
    first = Math.imul(first ^ 0xff, FNV_PRIME);
  }
  return { first: mixed(first), step: mixed(step) | 1 };
}

/** Spreads the upper bits of a product over the lower ones, which choose the place. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (half ^ (half >>> 13)) >>> 0;
}
