// The Merkle tree: known roots of RFC 6962's test data, and proofs that hold for what is so and for nothing else.
import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  consistencyProof,
  inclusionProof,
  inclusionProofs,
  isConsistent,
  isIncluded,
  merkleRoot,
  MerkleTree,
} from './index.js';

/** Leaf inputs of the RFC 6962 reference implementation's test tree. */
const RFC_INPUTS = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
/** Roots of its first 1, 2, 3 … leaves. */
const RFC_ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const rfcLeaves = RFC_INPUTS.map((input) =>
  createHash('sha256')
    .update(Buffer.from(`00${input}`, 'hex'))
    .digest(),
);
const leavesOf = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => createHash('sha256').update(String(n)).digest());
const sizes = fc.integer({ min: 1, max: 70 });

describe('the tree', () => {
  it('has the roots of the RFC test tree', () => {
    expect(RFC_ROOTS.map((_, n) => merkleRoot(rfcLeaves.slice(0, n + 1)).toString('hex'))).toEqual(RFC_ROOTS);
  });

  it('has the root of the empty string when empty', () => {
    expect(merkleRoot([]).equals(createHash('sha256').digest())).toBe(true);
  });

  it('grows one leaf at a time to the root of all', () => {
    const tree = new MerkleTree();
    for (const [n, leaf] of leavesOf(130).entries()) {
      tree.append(leaf);
      expect(tree.size).toBe(n + 1);
    }
    expect(tree.root().equals(merkleRoot(leavesOf(130)))).toBe(true);
  });
});

describe('an inclusion proof', () => {
  it('is the same for all leaves at once', () => {
    for (let size = 0; size <= 70; size += 1) {
      const leaves = leavesOf(size);
      const { root, paths } = inclusionProofs(leaves);
      expect(root).toEqual(merkleRoot(leaves));
      expect(paths).toEqual(leaves.map((_, index) => inclusionProof(leaves, index)));
    }
  });

  it('holds for its leaf and for no other position, leaf or root', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (size, pick) => {
        const leaves = leavesOf(size);
        const index = pick % size;
        const proof = inclusionProof(leaves, index);
        const claim = { leaf: leaves[index] ?? Buffer.alloc(0), index, size, root: merkleRoot(leaves) };
        expect(isIncluded(claim, proof)).toBe(true);
        expect(isIncluded({ ...claim, leaf: Buffer.alloc(32) }, proof)).toBe(false);
        expect(isIncluded({ ...claim, root: Buffer.alloc(32) }, proof)).toBe(false);
        expect(isIncluded({ ...claim, index: size }, proof)).toBe(false);
        if (size > 1) expect(isIncluded({ ...claim, index: (index + 1) % size }, proof)).toBe(false);
        expect(isIncluded(claim, [...proof, Buffer.alloc(32)])).toBe(false);
      }),
    );
  });

  it('is refused for a leaf that is not there', () => {
    expect(() => inclusionProof(leavesOf(3), 3)).toThrow(RangeError);
  });
});

describe('a consistency proof', () => {
  it('holds for every older tree and for no altered one', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (size, pick) => {
        const leaves = leavesOf(size);
        const firstSize = 1 + (pick % size);
        const proof = consistencyProof(leaves, firstSize);
        const claim = {
          firstSize,
          firstRoot: merkleRoot(leaves.slice(0, firstSize)),
          secondSize: size,
          secondRoot: merkleRoot(leaves),
        };
        expect(isConsistent(claim, proof)).toBe(true);
        expect(isConsistent({ ...claim, firstRoot: Buffer.alloc(32) }, proof)).toBe(false);
        expect(isConsistent({ ...claim, secondRoot: Buffer.alloc(32) }, proof)).toBe(false);
        expect(isConsistent(claim, [...proof, Buffer.alloc(32)])).toBe(false);
      }),
    );
  });

  it('is refused for an empty or a larger older tree', () => {
    expect(() => consistencyProof(leavesOf(3), 0)).toThrow(RangeError);
    expect(() => consistencyProof(leavesOf(3), 4)).toThrow(RangeError);
  });
});
