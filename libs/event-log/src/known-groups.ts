// Which groups of rows a store may hold: a group that it cannot hold is empty, and the store need not be asked.
//
// Invariants
//   G1. It never denies a group that was added; it may affirm one that was not, and then the store is asked.
//   G2. Nothing is denied until every group of the store was added.
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
