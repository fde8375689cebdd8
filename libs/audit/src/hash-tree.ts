// A Merkle tree of RFC 6962 that keeps its nodes, so that any proof takes milliseconds however large it is.
//
// Invariants
//   H1. Only roots of complete subtrees are kept: they never change.
//   H2. What a crash left of the upper tiers is completed from the leaves, so leaves alone decide what the tree is.
import { HASH_SIZE, MerkleTree, nodeHash, splitOf } from '@recourse/chain';
import type { LeafStore } from '@recourse/chain';
import type { NodeStore } from './node-store.js';

/** Levels of a tier: every 8th is kept. */
const TIER_LEVELS = 8;
const TIER_WIDTH = 2 ** TIER_LEVELS;
/** 256^6 leaves are more than a number can count. */
const TIERS = 6;

export class HashTree implements LeafStore {
  #tree: MerkleTree;
  readonly #keep = (height: number, node: Buffer): void => {
    if (height % TIER_LEVELS === 0) this.nodes.append(height / TIER_LEVELS, node);
  };

  constructor(private readonly nodes: NodeStore) {
    this.#completeTiers();
    this.#tree = this.#grown();
  }

  get count(): number {
    return this.#tree.size;
  }

  /** The tree as it grows: its root and its peaks. */
  get tree(): MerkleTree {
    return this.#tree;
  }

  append(leaf: Buffer): void {
    this.nodes.append(0, leaf);
    this.#tree.append(leaf, this.#keep);
  }

  at(index: number): Buffer | null {
    return index < 0 || index >= this.count ? null : this.nodes.read(0, index, 1);
  }

  /** Forgets all leaves behind a size. */
  truncate(size: number): void {
    for (let tier = 0; tier < TIERS; tier += 1)
      this.nodes.truncate(tier, Math.min(this.nodes.count(tier), Math.floor(size / TIER_WIDTH ** tier)));
    this.#tree = this.#grown();
  }

  /** Root over the first `size` leaves. Errors: RangeError when there are not so many. */
  rootAt(size: number): Buffer {
    this.#demand(size);
    return size === 0 ? new MerkleTree().root() : this.#rangeRoot(0, size);
  }

  /**
   * Audit path of a leaf in the tree of the first `size` leaves, from the leaf up.
   *
   * Errors: RangeError when there is no such leaf.
   * Source: RFC 6962 section 2.1.1.
   */
  inclusion(index: number, size: number): readonly Buffer[] {
    this.#demand(size);
    if (!Number.isInteger(index) || index < 0 || index >= size)
      throw new RangeError(`no leaf ${index} in a tree of ${size}`);
    const path: Buffer[] = [];
    for (let [low, high] = [0, size]; high - low > 1;) {
      const split = low + splitOf(high - low);
      path.push(index < split ? this.#rangeRoot(split, high) : this.#rangeRoot(low, split));
      if (index < split) high = split;
      else low = split;
    }
    return path.reverse();
  }

  /**
   * Proof that the tree of the first `first` leaves is a prefix of that of the first `size`.
   *
   * Errors: RangeError unless 1 <= first <= size <= leaves.
   * Source: RFC 6962 section 2.1.2.
   */
  consistency(first: number, size: number): readonly Buffer[] {
    this.#demand(size);
    if (!Number.isInteger(first) || first < 1 || first > size)
      throw new RangeError(`no tree of ${first} in one of ${size}`);
    const path: Buffer[] = [];
    let [low, high] = [0, size];
    while (first < high) {
      const split = low + splitOf(high - low);
      if (first <= split) {
        path.push(this.#rangeRoot(split, high));
        high = split;
      } else {
        path.push(this.#rangeRoot(low, split));
        low = split;
      }
    }
    return (low === 0 ? path : [...path, this.#rangeRoot(low, high)]).reverse();
  }

  close(): void {
    this.nodes.close();
  }

  #demand(size: number): void {
    if (!Number.isInteger(size) || size < 0 || size > this.count)
      throw new RangeError(`no tree of ${size} in one of ${this.count}`);
  }

  /** Root over the leaves from `low` to before `high`, where `low` is aligned as RFC 6962 splits. */
  #rangeRoot(low: number, high: number): Buffer {
    const width = high - low;
    const split = splitOf(width + 1);
    if (split === width) return this.#subtree(low, width);
    return nodeHash(this.#subtree(low, split), this.#rangeRoot(low + split, high));
  }

  /** Root of a complete subtree, from the nearest tier below it. */
  #subtree(low: number, width: number): Buffer {
    let [tier, unit] = [0, 1];
    while (unit * TIER_WIDTH <= width) [tier, unit] = [tier + 1, unit * TIER_WIDTH];
    const bytes = this.nodes.read(tier, low / unit, width / unit);
    return reduced(bytes);
  }

  /** The tree of all leaves, by its complete subtrees. */
  #grown(): MerkleTree {
    const size = this.nodes.count(0);
    const peaks: Buffer[] = [];
    for (let low = 0; low < size;) {
      const width = splitOf(size - low + 1);
      peaks.push(this.#subtree(low, width));
      low += width;
    }
    return MerkleTree.of(size, peaks);
  }

  #completeTiers(): void {
    for (let tier = 1; tier < TIERS; tier += 1) {
      const whole = Math.floor(this.nodes.count(tier - 1) / TIER_WIDTH);
      if (this.nodes.count(tier) > whole) this.nodes.truncate(tier, whole);
      for (let index = this.nodes.count(tier); index < whole; index += 1)
        this.nodes.append(tier, reduced(this.nodes.read(tier - 1, index * TIER_WIDTH, TIER_WIDTH)));
      if (whole === 0) return;
    }
  }
}

/** Root over nodes that lie one behind the other, as many as a power of two. */
function reduced(bytes: Buffer): Buffer {
  let level = bytes;
  while (level.length > HASH_SIZE) {
    const next = Buffer.alloc(level.length / 2);
    for (let at = 0; at < next.length; at += HASH_SIZE)
      next.set(
        nodeHash(
          level.subarray(2 * at, 2 * at + HASH_SIZE),
          level.subarray(2 * at + HASH_SIZE, 2 * at + 2 * HASH_SIZE),
        ),
        at,
      );
    level = next;
  }
  return level;
}
