import { beforeEach, describe, expect, it } from '@jest/globals';
import { FirstMet } from './first-met.js';

const LOG = 'recourse.things';
const BEGAN = 1_000;

describe('a record that a process meets', () => {
  let met: FirstMet;
  const at = (offset: number, timestamp = BEGAN + offset) => ({ offset, timestamp });
  const count = (...records: readonly ReturnType<typeof at>[]): number => met.countOf(LOG, 0, records);

  beforeEach(() => {
    met = new FirstMet(BEGAN);
  });

  it('is news where it came since the process began', () => {
    expect(count(at(3, BEGAN - 1), at(4, BEGAN), at(5))).toBe(2);
  });

  it('is news once, also where it is met beside others that are', () => {
    expect([count(at(4), at(5)), count(at(4), at(5)), count(at(4), at(5), at(6)), count(at(5))]).toEqual([2, 0, 1, 0]);
  });

  it('is one of its partition, whatever others hold', () => {
    expect([count(at(7)), met.countOf(LOG, 1, [at(2)]), met.countOf('recourse.others', 0, [at(2)])]).toEqual([1, 1, 1]);
  });

  it('hides none that is older than those that were old already', () => {
    expect([count(at(9, BEGAN - 1)), count(at(8))]).toEqual([0, 1]);
  });
});
