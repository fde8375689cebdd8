// What was met of a tree spares hashing, and changes no answer: each record is judged by its own path (RFC 6962).
import { describe, expect, it } from '@jest/globals';
import { inclusionProofs, rootFrom, sha256 } from '@recourse/chain';
import { MetTrees } from './met-trees.js';

const leafAt = (index: number): Buffer => sha256(Buffer.from(`leaf ${String(index)}`));
const SIGNATURE = Buffer.from('over the root');
const OTHER = leafAt(1_000);

interface Tree {
  readonly size: number;
  readonly root: Buffer;
  readonly paths: readonly (readonly Buffer[])[];
}
function treeOf(size: number): Tree {
  return { size, ...inclusionProofs(Array.from({ length: size }, (_, index) => leafAt(index))) };
}

/** The root by what was met, which has to be the one that its path leads to. */
function judged(
  trees: MetTrees,
  size: number,
  index: number,
  path: readonly Buffer[],
  leaf = leafAt(index),
): Buffer | null {
  const found = trees.rootOf(SIGNATURE, { leaf, index, size, path: Buffer.concat(path) });
  expect(found).toEqual(rootFrom({ leaf, index, size }, path));
  return found;
}

const ORDERS: readonly (readonly [string, (size: number) => readonly number[]])[] = [
  ['in their order', (size) => Array.from({ length: size }, (_, at) => at)],
  ['the last first', (size) => Array.from({ length: size }, (_, at) => size - 1 - at)],
  [
    'every third, then the others',
    (size) => [0, 1, 2].flatMap((from) => ORDERS[0]?.[1](size).filter((at) => at % 3 === from) ?? []),
  ],
];

describe('records of one tree', () => {
  it.each(ORDERS)('have the root of their own path, whoever came before: %s', (_, order) => {
    for (let size = 1; size <= 70; size += 1) {
      const { root, paths } = treeOf(size);
      const trees = new MetTrees();
      for (const index of order(size)) expect(judged(trees, size, index, paths[index] ?? [])).toEqual(root);
    }
  });

  it.each<readonly [string, (path: readonly Buffer[]) => readonly Buffer[]]>([
    ['another sibling', ([, ...above]) => [OTHER, ...above]],
    ['another hash above', (path) => [...path.slice(0, -1), OTHER]],
    ['a hash more', (path) => [...path, OTHER]],
    ['a hash less', (path) => path.slice(0, -1)],
    ['its hashes the other way round', (path) => [...path].reverse()],
  ])('lead nowhere with %s, though all of the tree was met', (_, forged) => {
    for (let size = 3; size <= 40; size += 1) {
      const { root, paths } = treeOf(size);
      const trees = new MetTrees();
      for (const [index, path] of paths.entries()) judged(trees, size, index, path);
      for (const [index, path] of paths.entries()) {
        const other = forged(path);
        if (!Buffer.concat(other).equals(Buffer.concat(path)))
          expect(judged(trees, size, index, other)).not.toEqual(root);
      }
    }
  });

  it('lead nowhere in another place, with another leaf or in a tree of another size', () => {
    const { root, paths } = treeOf(21);
    const trees = new MetTrees();
    for (const [index, path] of paths.entries()) judged(trees, 21, index, path);
    for (const [index, path] of paths.entries()) {
      expect(judged(trees, 21, (index + 1) % 21, path)).not.toEqual(root);
      expect(judged(trees, 21, index, path, OTHER)).not.toEqual(root);
      judged(trees, 22, index, path);
      judged(trees, 300, index, path);
    }
    for (const index of [-1, 21, 1.5, Number.NaN]) expect(judged(trees, 21, index, paths[0] ?? [])).toBeNull();
  });
});
