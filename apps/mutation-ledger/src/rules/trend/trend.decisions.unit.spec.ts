import { describe, expect, it } from '@jest/globals';
import { accepted, counted, riseOf, rolledTo, sharedTrend } from './trend.decisions.js';
import type { TrendDoc } from './trend.messages.js';

const LIMITS = { windowMs: 1_000, min: 10, factor: 3 };
const OF = { scope: 'agent', tenant: 'acme', name: 'agent-1' } as const;
const many = (count: number, windows: number): readonly number[] => Array.from({ length: windows }, () => count);

describe('a steady rise of rollbacks (E47)', () => {
  it.each([
    ['three times the usual, three windows on end', [...many(5, 9), 15, 16, 17], true],
    ['a jump that stays', [...many(4, 20), 40, 40, 40], true],
    ['a slow climb that did not become usual meanwhile', many(0, 24).map((_, at) => 2 + at), true],
    ['where there was next to nothing', [...many(0, 6), 10, 11, 12], true],
    ['a storm: one window, however full', [...many(5, 11), 900], false],
    ['a storm that is over', [...many(5, 9), 900, 5, 5], false],
    ['two windows only', [...many(5, 10), 40, 40], false],
    ['a rise that fell back', [...many(5, 8), 40, 40, 40, 6], false],
    ['a steady rate, however high', many(1_000, 24), false],
    ['a falling rate', [...many(50, 9), 20, 18, 16], false],
    ['a little above the usual', [...many(20, 9), 40, 41, 42], false],
    ['fewer than anybody asks for', [...many(0, 21), 9, 9, 9], false],
    ['as many as chance brings', [...many(1, 9), 3, 3, 3], false],
    ['nothing to compare with', [40, 40, 40], false],
    ['too little to compare with', [0, 0, 40, 40, 40], false],
    ['nothing at all', [], false],
  ] as const)('%s', (_how, counts, isRise) => {
    expect(riseOf(counts, LIMITS) !== null).toBe(isRise);
  });

  it('is above chance also where the least of a window is low', () => {
    expect(riseOf([...many(4, 6), 9, 9, 9], { min: 3, factor: 2 })).toBeNull();
    expect(riseOf([...many(4, 6), 10, 10, 10], { min: 3, factor: 2 })).toEqual({ recent: [10, 10, 10], usual: 4 });
  });

  it('shares its least among partitions, and asks about none with next to nothing', () => {
    expect([1, 2, 8, 100].map((partitions) => sharedTrend({ ...LIMITS, min: 30 }, partitions).min)).toEqual([
      30, 15, 3, 3,
    ]);
  });
});

describe('the counts of a trend', () => {
  const after = (at: number, eventId: string, doc: TrendDoc | null = null, windowMs = 1_000): TrendDoc =>
    counted(doc, { of: OF, eventId, windowMs }, at);

  it('are by windows of fixed length; one that brought nothing counts, and an event counts once', () => {
    const doc = after(4_100, 'e4', after(1_900, 'e1', after(1_500, 'e2', after(1_000, 'e1'))));
    expect(doc).toMatchObject({ window: 4, count: 1, counts: [2, 0, 0], phase: 'usual' });
  });

  it('go back a day of hours at the most, however long nothing fell', () => {
    expect(rolledTo(after(1_000, 'e1'), 1_000_000_000).counts).toEqual(many(0, 24));
  });

  it('begin anew when windows have another length, and leave the alert with whoever has it', () => {
    const alert = { phase: 'rising', trend_id: 'trd_1', run_id: 'r', owner: 'role:operator', deadline_at: 9 } as const;
    const doc = after(8_000, 'e1', { ...after(1_000, 'e1'), ...alert, raised_at: 1 }, 2_000);
    expect(doc).toMatchObject({ window_ms: 2_000, window: 4, count: 1, counts: [], ...alert });
  });

  it('are the usual ones once a person has looked', () => {
    const before = { ...after(20_000, 'e1'), counts: [...many(2, 9), 20, 21, 22] };
    const doc = accepted(before, 20_500);
    expect(doc).toMatchObject({ phase: 'usual', trend_id: null, deadline_at: null, counts: many(21, 24) });
    expect(riseOf([...doc.counts, 25, 26, 27].slice(-24), LIMITS)).toBeNull();
    expect(riseOf([...doc.counts, 65, 66, 67].slice(-24), LIMITS)).not.toBeNull();
  });
});
