// Merkle tree of RFC 6962 over the leaf hashes of accepted records; leaf number n is the record with seq n + 1.
//
// Grammar (MTH of RFC 6962 section 2.1, with leaves that are hashed already):
//   root(0 leaves) = SHA-256( "" )
//   root(1 leaf)   = leaf
//   root(n leaves) = SHA-256( %x01 root(first k) root(rest) )    ; k is the largest power of two below n
import { HASH_SIZE, sha256 } from './leaf.js';

const NODE_PREFIX = 0x01;
const pair = Buffer.concat([Buffer.from([NODE_PREFIX]), Buffer.alloc(2 * HASH_SIZE)]);

/** Hash of an inner node. */
export function nodeHash(left: Buffer, right: Buffer): Buffer {
  pair.set(left, 1);
  pair.set(right, 1 + HASH_SIZE);
  return sha256(pair);
}

/** Root of the tree over these leaf hashes. */
export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.append(leaf);
  return tree.root();
}

/** Tree that grows by one leaf at a time and keeps only the roots of its complete subtrees (at most 53). */
export class MerkleTree {
  #size = 0;
  /** Roots of complete subtrees, largest first: one per set bit of the size. */
  readonly #peaks: Buffer[] = [];

  get size(): number {
    return this.#size;
  }

  /** Roots of the complete subtrees, largest first: all that a tree needs to grow on. */
  get peaks(): readonly Buffer[] {
    return [...this.#peaks];
  }

  /**
   * The tree of a size whose complete subtrees have these roots.
   *
   * Errors: RangeError when there are more or fewer roots than the size has bits that are set.
   */
  static of(size: number, peaks: readonly Buffer[]): MerkleTree {
    if (peaks.length !== bitsOf(size)) throw new RangeError(`${peaks.length} roots for a tree of ${size}`);
    const tree = new MerkleTree();
    tree.#size = size;
    tree.#peaks.push(...peaks);
    return tree;
  }

  /** Another tree that grows on its own. */
  copy(): MerkleTree {
    return MerkleTree.of(this.#size, this.#peaks);
  }

  /** `onNode` is told the root of every subtree of 2^height leaves that this one completes. */
  append(leaf: Buffer, onNode?: (height: number, node: Buffer) => void): void {
    let node = leaf;
    let height = 0;
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = this.#peaks.pop();
      if (left === undefined) break;
      node = nodeHash(left, node);
      height += 1;
      if (onNode !== undefined) onNode(height, node);
    }
    this.#peaks.push(node);
    this.#size += 1;
  }

  root(): Buffer {
    const last = this.#peaks.at(-1);
    if (last === undefined) return sha256(Buffer.alloc(0));
    return this.#peaks.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
  }
}

/**
 * Audit path of one leaf, from the leaf up.
 *
 * Errors: RangeError when there is no such leaf.
 * Source: RFC 6962 section 2.1.1.
 */
export function inclusionProof(leaves: readonly Buffer[], index: number): readonly Buffer[] {
  if (!Number.isInteger(index) || index < 0 || index >= leaves.length)
    throw new RangeError(`no leaf ${index} in a tree of ${leaves.length}`);
  if (leaves.length === 1) return [];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...inclusionProof(left, index), merkleRoot(right)]
    : [...inclusionProof(right, index - split), merkleRoot(left)];
}

/** Root of a tree and the audit path of each of its leaves, with one hash for each inner node. Source: RFC 6962 section 2.1.1. */
export function inclusionProofs(leaves: readonly Buffer[]): {
  readonly root: Buffer;
  readonly paths: readonly (readonly Buffer[])[];
} {
  const paths: Buffer[][] = leaves.map(() => []);
  const rootOf = (from: number, to: number): Buffer => {
    const [only] = leaves.slice(from, from + 1);
    if (only === undefined) return sha256(Buffer.alloc(0));
    if (to - from === 1) return only;
    const middle = from + splitOf(to - from);
    const [left, right] = [rootOf(from, middle), rootOf(middle, to)];
    for (let at = from; at < to; at += 1) paths[at]?.push(at < middle ? right : left);
    return nodeHash(left, right);
  };
  return { root: rootOf(0, leaves.length), paths };
}

/**
 * Proof that the tree of the first `first` leaves is a prefix of the whole.
 *
 * Errors: RangeError unless 1 <= first <= number of leaves.
 * Source: RFC 6962 section 2.1.2.
 */
export function consistencyProof(leaves: readonly Buffer[], first: number): readonly Buffer[] {
  if (!Number.isInteger(first) || first < 1 || first > leaves.length)
    throw new RangeError(`no tree of ${first} in one of ${leaves.length}`);
  return subProof(leaves, first, true);
}

function subProof(leaves: readonly Buffer[], first: number, isWhole: boolean): readonly Buffer[] {
  if (first === leaves.length) return isWhole ? [] : [merkleRoot(leaves)];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return first <= split
    ? [...subProof(left, first, isWhole), merkleRoot(right)]
    : [...subProof(right, first - split, false), merkleRoot(left)];
}

/** What an inclusion proof is about. */
export interface InclusionClaim {
  readonly leaf: Buffer;
  readonly index: number;
  readonly size: number;
  readonly root: Buffer;
}

/**
 * Whether a leaf is the `index`-th of the tree with this size and root.
 *
 * Source: RFC 9162 section 2.1.3.2.
 */
export function isIncluded({ root, ...place }: InclusionClaim, proof: readonly Buffer[]): boolean {
  return rootFrom(place, proof)?.equals(root) ?? false;
}

/** Root of the tree of this size whose `index`-th leaf has this audit path; null when no such tree has a path of that length. */
export function rootFrom({ leaf, index, size }: Omit<InclusionClaim, 'root'>, proof: readonly Buffer[]): Buffer | null {
  if (!Number.isInteger(index) || index < 0 || index >= size) return null;
  let [node, last, hash] = [index, size - 1, leaf];
  for (const step of proof) {
    if (last === 0) return null;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(step, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = nodeHash(hash, step);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 ? hash : null;
}

/** An older and a newer tree head of one log. */
export interface ConsistencyClaim {
  readonly firstSize: number;
  readonly firstRoot: Buffer;
  readonly secondSize: number;
  readonly secondRoot: Buffer;
}

/**
 * Whether the newer tree only appended to the older one.
 *
 * Source: RFC 9162 section 2.1.4.2.
 */
export function isConsistent(claim: ConsistencyClaim, proof: readonly Buffer[]): boolean {
  const { firstSize, firstRoot, secondSize, secondRoot } = claim;
  if (firstSize < 1 || firstSize > secondSize) return false;
  if (firstSize === secondSize) return proof.length === 0 && firstRoot.equals(secondRoot);
  const path = isPowerOfTwo(firstSize) ? [firstRoot, ...proof] : proof;
  const [start, ...steps] = path;
  if (start === undefined) return false;
  let [node, last] = [firstSize - 1, secondSize - 1];
  while (node % 2 === 1) [node, last] = [half(node), half(last)];
  let [older, newer] = [start, start];
  for (const step of steps) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      [older, newer] = [nodeHash(step, older), nodeHash(step, newer)];
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      newer = nodeHash(newer, step);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && older.equals(firstRoot) && newer.equals(secondRoot);
}

/** Largest power of two below n (n > 1). */
export function splitOf(n: number): number {
  let split = 1;
  while (split * 2 < n) split *= 2;
  return split;
}

/** Bits of a number that are set. */
function bitsOf(n: number): number {
  let count = 0;
  for (let rest = n; rest > 0; rest = half(rest)) count += rest % 2;
  return count;
}

const half = (n: number): number => Math.floor(n / 2);
const isPowerOfTwo = (n: number): boolean => splitOf(n + 1) === n;
