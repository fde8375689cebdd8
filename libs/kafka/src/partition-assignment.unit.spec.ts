import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { assignPartitions } from './partition-assignment.decisions.js';
import type { GroupMember } from './partition-assignment.decisions.js';

const member = (memberId: string, ...held: number[]): GroupMember => ({ memberId, held });
const owners = (members: readonly GroupMember[], count: number): Record<string, readonly number[]> =>
  Object.fromEntries(
    Object.entries(assignPartitions(members, { a: count, b: count }, { c: 2 })).map(([id, { partitions }]) => [
      id,
      partitions,
    ]),
  );

describe('the partitions of a group', () => {
  it('all go to a member that is alone', () => {
    expect(assignPartitions([member('one')], { a: 3, b: 3 }, { c: 2 })).toEqual({
      one: { partitions: [0, 1, 2], topics: { a: [0, 1, 2], b: [0, 1, 2], c: [0, 1] } },
    });
  });

  it('are kept by whoever held them, as far as the share allows', () => {
    expect(owners([member('one', 0, 1, 2, 3, 4, 5), member('two')], 6)).toEqual({ one: [0, 1, 2], two: [3, 4, 5] });
  });

  it('stay where they are when nothing changes', () => {
    expect(owners([member('one', 4, 5), member('two', 0, 2), member('three', 1, 3)], 6)).toEqual({
      one: [4, 5],
      two: [0, 2],
      three: [1, 3],
    });
  });

  it('of a lost member are shared out, and the others keep theirs', () => {
    expect(owners([member('one', 0, 1), member('three', 4, 5)], 6)).toEqual({ one: [0, 1, 2], three: [3, 4, 5] });
  });

  it('have one owner each, in shares that differ by one at most, whatever members claim', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.array(fc.integer({ min: -2, max: 14 }), { maxLength: 14 }), { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 0, max: 12 }),
        (ids, claims, count) => {
          const shares = Object.values(
            owners(
              ids.map((id, index) => member(`m${id}`, ...(claims[index] ?? []))),
              count,
            ),
          );
          const sizes = shares.map(({ length }) => length);
          expect(shares.flat().sort((a, b) => a - b)).toEqual(
            Array.from({ length: count }, (_, partition) => partition),
          );
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('go to nobody while the counts of aligned topics differ', () => {
    expect(assignPartitions([member('one', 1)], { a: 3, b: 4 }, { c: 2 })).toEqual({
      one: { partitions: [], topics: {} },
    });
  });

  it('of a broadcast topic go to everybody, also to a member without aligned ones', () => {
    const shares = assignPartitions([member('one'), member('two')], { a: 1 }, { c: 2 });
    expect(shares).toEqual({
      one: { partitions: [0], topics: { a: [0], c: [0, 1] } },
      two: { partitions: [], topics: { c: [0, 1] } },
    });
  });
});
