import { describe, expect, it } from '@jest/globals';
import { diceOf } from '../random.js';
import { fallenOf, toldGraph } from './told-graph.decisions.js';

const plan = (seed: number) => ({
  tenant: 'demo',
  commits: 1_000,
  rollbacks: 60,
  batches: 20,
  at: 1_760_000_000_000,
  dice: diceOf(seed),
});

describe("what the consumers' crash runs tell", () => {
  it('is the same for the same seed, and as much as was asked for', () => {
    const graph = toldGraph(plan(7));
    expect(toldGraph(plan(7))).toEqual(graph);
    expect(new Set(graph.commits.map(({ commitId }) => commitId)).size).toBe(1_000);
    expect(graph.fallen.size).toBeGreaterThanOrEqual(60);
    expect(graph.fallen.size).toBeLessThan(200);
  });

  it('has falls that reach other runs, and words that come before what relies on them', () => {
    const { commits, falls, fallen } = toldGraph(plan(7));
    const refs = new Set(falls.map(({ ref }) => ref));
    const overLineage = commits.filter(
      ({ commitId, checkpoint }) => fallen.has(commitId) && !checkpoint.assumption_refs.some((ref) => refs.has(ref)),
    );
    expect(
      overLineage.some(({ checkpoint }) =>
        checkpoint.parents.some(({ run_id, commit_id }) => run_id !== checkpoint.run_id && fallen.has(commit_id)),
      ),
    ).toBe(true);
    const place = (ref: string): number =>
      commits.findIndex(({ checkpoint }) => checkpoint.assumption_refs.includes(ref));
    expect(falls.some(({ ref, batch }) => place(ref) > (batch + 1) * 50)).toBe(true);
  });

  it('falls with what it was made from, however long the way, and alone', () => {
    const { commits } = toldGraph(plan(3));
    const root = commits[0]?.commitId ?? '';
    const leaning = commits
      .filter(({ checkpoint }) => checkpoint.parents.some(({ commit_id }) => commit_id === root))
      .map(({ commitId }) => commitId);
    const ref = 'stock/of-the-root#counted';
    const relying = commits.map((one) =>
      one.commitId === root ? { ...one, checkpoint: { ...one.checkpoint, assumption_refs: [ref] } } : one,
    );
    const fallen = fallenOf(relying, new Set([ref]));
    expect(leaning.every((id) => fallen.has(id))).toBe(true);
    expect(
      [...fallen].every(
        (id) =>
          id === root ||
          commits
            .find(({ commitId }) => commitId === id)
            ?.checkpoint.parents.some(({ commit_id }) => fallen.has(commit_id)) === true,
      ),
    ).toBe(true);
  });

  it('refuses more falls than commits can fall', () => {
    expect(() => toldGraph({ ...plan(7), rollbacks: 1_000 })).toThrow('were asked for');
  });
});
