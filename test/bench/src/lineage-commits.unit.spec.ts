// Commits that the lineage benches tell.
import { describe, expect, it } from '@jest/globals';
import { commitIdOf } from '@recourse/lineage';
import { chainCommits, fanOf, parentsIn, treeCommits } from './lineage-commits.js';

const tree = [...treeCommits({ name: 'tree', descendants: 2_000, depth: 6, bystanders: 200 })];
const falling = tree.filter(({ falls }) => falls).map(({ commit }) => commit);

/** How far each commit is from one without parents, the longest way. */
function depths(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const {
    commit: { commitId, checkpoint },
  } of tree)
    found.set(
      commitId,
      Math.max(0, ...checkpoint.parents.map(({ commit_id }) => (found.get(commit_id) ?? Infinity) + 1)),
    );
  return found;
}

describe('the tree of a bench', () => {
  it('has as many descendants as are asked for, none deeper than its depth and some as deep', () => {
    const all = depths();
    expect(falling).toHaveLength(2_001);
    expect(Math.max(...falling.map(({ commitId }) => all.get(commitId) ?? NaN))).toBe(6);
    expect([fanOf(2_000, 6), fanOf(100_000, 6), fanOf(6, 6)]).toEqual([4, 7, 1]);
  });

  it('tells each commit after those it rests on, each under the hash of what it says', () => {
    expect([...depths().values()].every(Number.isFinite)).toBe(true);
    expect(tree.every(({ commit: { commitId, checkpoint } }) => commitId === commitIdOf(checkpoint))).toBe(true);
    expect(new Set(tree.map(({ commit: { commitId } }) => commitId)).size).toBe(tree.length);
  });

  it('reaches all that fall from its root, and nothing beside it', () => {
    const reached = new Set([falling[0]?.commitId]);
    for (const {
      commit: { commitId, checkpoint },
    } of tree)
      if (checkpoint.parents.some(({ commit_id }) => reached.has(commit_id))) reached.add(commitId);
    expect(reached).toEqual(new Set(falling.map(({ commitId }) => commitId)));
    const runs = new Set(falling.map(({ checkpoint }) => checkpoint.run_id));
    const beside = tree.filter(({ falls }) => !falls);
    expect([beside.length, beside.every(({ commit: { checkpoint } }) => runs.has(checkpoint.run_id))]).toEqual([
      182,
      true,
    ]);
  });

  it('joins: some commits rest on two', () => {
    expect([parentsIn(0, 4), parentsIn(3, 4), parentsIn(10, 4), parentsIn(12, 4)]).toEqual([[], [0], [2], [2, 1]]);
  });
});

describe('the chain of a bench', () => {
  it('changes its run with every commit', () => {
    const chain = chainCommits(['a', 'b', 'c'], 7);
    expect(chain.map(({ checkpoint }) => checkpoint.run_id).join('')).toBe('abcabca');
    expect(chain.map(({ checkpoint }) => checkpoint.parents[0]?.commit_id)).toEqual([
      undefined,
      ...chain.slice(0, -1).map(({ commitId }) => commitId),
    ]);
  });
});
