// The stored tree: the same roots and proofs as RFC 6962 says, in memory and in files, also after a kill.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { consistencyProof, HASH_SIZE, inclusionProof, merkleRoot } from '@recourse/chain';
import { HashTree, NodeFiles, NodeList } from './index.js';
import type { WriteAt } from './node-store.js';

const SIZE = 1_500;
const leaves = Array.from({ length: SIZE }, (_, n) => createHash('sha256').update(String(n)).digest());
const folder = mkdtempSync(join(tmpdir(), 'recourse-tree-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function grown(tree: HashTree, count = SIZE): HashTree {
  for (const leaf of leaves.slice(tree.count, count)) tree.append(leaf);
  return tree;
}
const tree = grown(new HashTree(new NodeList()));
const sizes = fc.integer({ min: 1, max: SIZE });

describe('a stored tree', () => {
  it('has the root of every older tree', () => {
    fc.assert(
      fc.property(sizes, (size) => tree.rootAt(size).equals(merkleRoot(leaves.slice(0, size)))),
      { numRuns: 40 },
    );
    expect(tree.rootAt(0).equals(merkleRoot([]))).toBe(true);
  });

  it('gives the inclusion proofs of RFC 6962', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (size, pick) => {
        expect(tree.inclusion(pick % size, size)).toEqual(inclusionProof(leaves.slice(0, size), pick % size));
      }),
      { numRuns: 40 },
    );
  });

  it('gives the consistency proofs of RFC 6962', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (size, pick) => {
        const first = 1 + (pick % size);
        expect(tree.consistency(first, size)).toEqual(consistencyProof(leaves.slice(0, size), first));
      }),
      { numRuns: 40 },
    );
  });

  it('refuses what it does not hold', () => {
    expect(() => tree.inclusion(SIZE, SIZE)).toThrow(RangeError);
    expect(() => tree.consistency(0, SIZE)).toThrow(RangeError);
    expect(() => tree.rootAt(SIZE + 1)).toThrow(RangeError);
  });
});

describe('a tree in files', () => {
  it('is the same after it was closed, and grows on', () => {
    grown(new HashTree(new NodeFiles(folder, 'a')), 700).close();
    const again = grown(new HashTree(new NodeFiles(folder, 'a')));
    expect(again.rootAt(SIZE).equals(tree.rootAt(SIZE))).toBe(true);
    again.close();
  });

  it('is made whole from its leaves when a kill left half of it', () => {
    grown(new HashTree(new NodeFiles(folder, 'b'))).close();
    truncateSync(join(folder, 'b.t1'), 33);
    truncateSync(join(folder, 'b.t0'), 32 * 1_400 + 5);
    const again = new HashTree(new NodeFiles(folder, 'b'));
    expect(again.count).toBe(1_400);
    expect(again.rootAt(1_400).equals(tree.rootAt(1_400))).toBe(true);
    again.close();
  });

  it('forgets what comes behind a size', () => {
    const cut = grown(new HashTree(new NodeFiles(folder, 'c')));
    cut.truncate(300);
    expect(cut.tree.root().equals(tree.rootAt(300))).toBe(true);
    expect(grown(cut).rootAt(SIZE).equals(tree.rootAt(SIZE))).toBe(true);
    cut.close();
  });

  it('is whole where the disk takes less than it was given, and where it was full and is so no more', () => {
    let isFull = true;
    const write: WriteAt = (file, bytes, position) => {
      if (bytes.length > HASH_SIZE * 2_000 && isFull) {
        isFull = false;
        throw new Error('ENOSPC');
      }
      return writeSync(file, bytes, 0, Math.min(bytes.length, 4_096), position);
    };
    const [kept, right] = [new HashTree(new NodeFiles(folder, 'd', write)), new HashTree(new NodeList())];
    for (let n = 0; n < 2_500; n += 1) {
      const leaf = leaves[n % SIZE] ?? Buffer.alloc(HASH_SIZE);
      right.append(leaf);
      try {
        kept.append(leaf);
      } catch {
        kept.append(leaf);
      }
    }
    expect([isFull, kept.count]).toEqual([false, 2_500]);
    kept.close();
    const again = new HashTree(new NodeFiles(folder, 'd'));
    expect(again.rootAt(2_500).equals(right.rootAt(2_500))).toBe(true);
    again.close();
  });
});
