import { describe, expect, it } from '@jest/globals';
import { announced, named, reliances } from './lineage-view.testing.js';
import { settledOf } from './settled.decisions.js';
import type { SettledAsked } from './settled.decisions.js';

/** A fell with B and C; D rests on C and was left to a person; E stands on its own. */
const ALL = { A: [0, 10], B: [1, 4], C: [0, 12], D: [1, 7, true] } as const;
const asked = (changes: Partial<SettledAsked> & { readonly fell?: readonly string[] } = {}): SettledAsked => {
  const { fell = ['A', 'B', 'C'], ...more } = changes;
  return {
    commit: named('A'),
    rollbackOf: ({ id }) => (fell.includes(id) ? `rb-${id}` : null),
    reliances: reliances('B<A', 'C<A', 'D<C', 'A<B'),
    announcedOf: announced(ALL),
    partitions: 2,
    truncated: false,
    cursors: [
      { partition: 0, of: 0, position: 12 },
      { partition: 0, of: 1, position: 7 },
      { partition: 1, of: 0, position: 15 },
      { partition: 1, of: 1, position: 9 },
    ],
    ...more,
  };
};

describe('a fall', () => {
  it('is settled once every partition has read past the last announcement and nothing is unmarked', () => {
    expect(settledOf(asked())).toEqual({
      commit: 'A',
      rollback_id: 'rb-A',
      settled: true,
      fallen: 3,
      beyond: 1,
      unannounced: { count: 0, first: [] },
      unmarked: { count: 0, first: [] },
      waiting_for: [],
      truncated: false,
    });
  });

  it('waits for a partition that has not read it, and says where that stands', () => {
    const cursors = [
      { partition: 0, of: 0, position: 11 },
      { partition: 0, of: 1, position: 7 },
      { partition: 1, of: 1, position: 9 },
    ];
    expect(settledOf(asked({ cursors }))).toMatchObject({
      settled: false,
      waiting_for: [
        { partition: 0, of: 0, position: 11, needed: 12 },
        { partition: 1, of: 0, position: 0, needed: 12 },
      ],
    });
  });

  it('waits for a partition that has read nothing at all', () => {
    expect(settledOf(asked({ partitions: 3 })).waiting_for.map(({ partition, of }) => [partition, of])).toEqual(
      expect.arrayContaining([
        [2, 0],
        [2, 1],
      ]),
    );
  });

  it('waits for what rests on it and is neither marked nor reattached', () => {
    expect(settledOf(asked({ fell: ['A', 'B'], announcedOf: announced({ A: [0, 10], B: [1, 4] }) }))).toMatchObject({
      settled: false,
      unmarked: { count: 1, first: ['C'] },
    });
  });

  it('looks behind what is beyond the bound: what was made of it later has to fall', () => {
    expect(settledOf(asked({ reliances: reliances('B<A', 'C<A', 'D<C', 'E<D') }))).toMatchObject({
      settled: false,
      unmarked: { count: 1, first: ['E'] },
    });
  });

  it('waits for the announcement of what is marked', () => {
    expect(settledOf(asked({ announcedOf: announced({ A: [0, 10], C: [0, 12], D: [1, 7, true] }) }))).toMatchObject({
      settled: false,
      unannounced: { count: 1, first: ['B'] },
    });
  });

  it('waits for the second announcement of what a person rolled back after all', () => {
    expect(settledOf(asked({ fell: ['A', 'B', 'C', 'D'] }))).toMatchObject({
      settled: false,
      unannounced: { count: 1, first: ['D'] },
    });
  });

  it('is never settled of a commit that stands, nor where not everything was looked at', () => {
    expect(settledOf(asked({ fell: [], announcedOf: () => null }))).toMatchObject({
      settled: false,
      rollback_id: null,
      fallen: 0,
    });
    expect(settledOf(asked({ truncated: true })).settled).toBe(false);
  });
});
