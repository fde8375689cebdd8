// Closed-loop load, and what is planned for it.
import { describe, expect, it } from '@jest/globals';
import { cellName, cellPlans, runsFor } from './cells.js';
import { closedLoop, rateIn } from './closed-loop.js';

describe('a closed loop', () => {
  it('ends when the runs made ready are used up, and names each once', async () => {
    const seen: string[] = [];
    const loaded = await closedLoop({ callers: 4, ms: 60_000, prefix: 'p', runsMax: 10 }, (run) => {
      seen.push(run);
      return Promise.resolve();
    });
    expect(new Set(seen)).toEqual(new Set(Array.from({ length: 10 }, (_, index) => `p-${String(index)}`)));
    expect(loaded).toMatchObject({ started: 10, errors: 0, firstError: null, isShort: true });
    expect(loaded.times).toHaveLength(10);
  });

  it('counts what failed, and keeps the first reason', async () => {
    const loaded = await closedLoop({ callers: 1, ms: 60_000, prefix: 'p', runsMax: 3 }, (run) =>
      run === 'p-1' ? Promise.reject(new Error('no')) : Promise.resolve(),
    );
    expect(loaded).toMatchObject({ started: 3, errors: 1, firstError: 'no' });
    expect(loaded.times).toHaveLength(2);
  });

  it('has the rate of its window, or of the whole where most ended after it', () => {
    expect(rateIn([100, 200, 300, 400], 0, 400)).toBe(10);
    expect(rateIn([100, 1_000, 1_100, 1_200], 0, 400)).toBeCloseTo(4 / 1.2);
    expect(rateIn([], 0, 400)).toBe(0);
    expect(rateIn([250, 500], 0, null)).toBe(4);
  });
});

describe('the cells of an engine', () => {
  it('are both workloads at all levels, recoveries in both places', () => {
    const names = cellPlans(/./).map(cellName);
    expect(names).toHaveLength(12);
    expect(names).toEqual(expect.arrayContaining(['recover:http:1', 'recover:memory:128', 'saga:http:64']));
    expect(cellPlans(/^recover:http:(1|16)$/).map(({ callers }) => callers)).toEqual([1, 16]);
  });

  it('get more runs than the cell before suggests', () => {
    expect(runsFor({ callers: 16, ms: 10_000 }, { callers: 1, perS: 10 })).toBe(16 + 600);
    expect(runsFor({ callers: 1, ms: 1_000 }, { callers: 16, perS: 100 })).toBe(1 + 150);
    expect(runsFor({ callers: 1, ms: 1_000 }, null)).toBeGreaterThan(1);
    expect(runsFor({ callers: 64, ms: 60_000 }, { callers: 16, perS: 900 })).toBe(20_000);
  });
});
