// Leaf hashes of a log in the order of their places, 32 octets each.
import { HASH_SIZE } from './leaf.js';
import type { MerkleTree } from './merkle.js';

/** Where leaf hashes are kept. */
export interface LeafStore {
  readonly count: number;
  append(leaf: Buffer): void;
  /** The leaf at an index from 0; null when there is none. The bytes are the caller's to read, not to keep. */
  at(index: number): Buffer | null;
  /** The tree over the leaves, where the store grows one. */
  readonly tree?: MerkleTree;
}

const CHUNK_LEAVES = 4_096;

/** Leaf hashes in memory, outside the heap. */
export class LeafList implements LeafStore {
  #count = 0;
  readonly #chunks: Buffer[] = [];

  get count(): number {
    return this.#count;
  }

  append(leaf: Buffer): void {
    const at = this.#count % CHUNK_LEAVES;
    if (at === 0) this.#chunks.push(Buffer.alloc(CHUNK_LEAVES * HASH_SIZE));
    this.#chunks.at(-1)?.set(leaf, at * HASH_SIZE);
    this.#count += 1;
  }

  at(index: number): Buffer | null {
    if (index < 0 || index >= this.#count) return null;
    const at = (index % CHUNK_LEAVES) * HASH_SIZE;
    return this.#chunks[Math.floor(index / CHUNK_LEAVES)]?.subarray(at, at + HASH_SIZE) ?? null;
  }
}
