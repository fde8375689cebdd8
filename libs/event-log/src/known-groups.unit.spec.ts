import { describe, expect, it } from '@jest/globals';
import { KnownGroups } from './group-rows.js';

const GROUPS = 40_000;
const named = (index: number): string => `run_${String(index).padStart(8, '0')}`;

describe('what a store may hold', () => {
  it('is everything until all of it was read', () => {
    const known = new KnownGroups();
    expect(known.mayHold('thing', 'a')).toBe(true);
    known.complete();
    expect(known.mayHold('thing', 'a')).toBe(false);
    known.clear();
    expect(known.mayHold('thing', 'a')).toBe(true);
  });

  it('is never denied once it was added, however many there are', () => {
    const known = new KnownGroups();
    for (let index = 0; index < GROUPS; index += 1) known.add('thing', named(index));
    known.complete();
    const denied = Array.from({ length: GROUPS }, (_, index) => named(index)).filter(
      (group) => !known.mayHold('thing', group),
    );
    expect(denied).toEqual([]);
  });

  it('is affirmed by mistake once in thirty times at the most, and for another kind no more often', () => {
    const known = new KnownGroups();
    for (let index = 0; index < GROUPS; index += 1) known.add('thing', named(index));
    known.complete();
    const others = Array.from({ length: GROUPS }, (_, index) => named(index + GROUPS));
    expect(others.filter((group) => known.mayHold('thing', group)).length).toBeLessThan(GROUPS / 30);
    const same = others.map((_, index) => named(index));
    expect(same.filter((group) => known.mayHold('other', group)).length).toBeLessThan(GROUPS / 30);
  });
});
