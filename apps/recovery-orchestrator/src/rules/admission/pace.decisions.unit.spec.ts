import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { burstOf, freeAt, intervalOf, NO_RATES, placeIn, schedulesOf, sharedRates } from './pace.decisions.js';

/** Instants at which steps that come at these instants begin, one after the other through one schedule. */
function begun(perMinute: number, arrivals: readonly number[]): readonly number[] {
  let nextAt = 0;
  return [...arrivals]
    .sort((a, b) => a - b)
    .map((now) => {
      const { goAt, paced } = placeIn([{ scope: 'tenant', name: 'acme', perMinute, calls: 1, nextAt }], now);
      nextAt = paced[0]?.next_at ?? 0;
      return goAt;
    });
}

describe('a rate', () => {
  it('lets no more begin in any minute than its limit and a burst, however many come (R1)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.array(fc.nat(300_000), { minLength: 1, maxLength: 120 }),
        (perMinute, arrivals) => {
          const starts = begun(perMinute, arrivals);
          for (const from of starts)
            expect(starts.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(
              perMinute + burstOf(perMinute),
            );
        },
      ),
    );
  });

  it('lets no more calls begin in any minute than that and the further calls of one step (R1, R4)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.array(fc.tuple(fc.nat(300_000), fc.integer({ min: 1, max: 8 })), { minLength: 1, maxLength: 60 }),
        (perMinute, steps) => {
          let nextAt = 0;
          const begins = steps
            .toSorted(([a], [b]) => a - b)
            .map(([now, calls]) => {
              const { goAt, paced } = placeIn([{ scope: 'tenant', name: 'acme', perMinute, calls, nextAt }], now);
              nextAt = paced[0]?.next_at ?? 0;
              return { goAt, calls };
            });
          for (const { goAt: from } of begins) {
            const within = begins.filter(({ goAt }) => goAt >= from && goAt < from + 60_000);
            const counted = within.reduce((sum, { calls }) => sum + calls, 0);
            const further = Math.max(...within.map(({ calls }) => calls)) - 1;
            expect(counted).toBeLessThanOrEqual(perMinute + burstOf(perMinute) + further);
          }
        },
      ),
    );
  });

  it('lets nobody begin before they came, and keeps their order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.array(fc.nat(300_000), { minLength: 1, maxLength: 60 }),
        (perMinute, arrivals) => {
          const sorted = [...arrivals].sort((a, b) => a - b);
          const starts = begun(perMinute, sorted);
          expect(starts.every((at, place) => at >= (sorted[place] ?? 0) && at >= (starts[place - 1] ?? 0))).toBe(true);
        },
      ),
    );
  });

  it('lets all begin at once that come slower than it', () => {
    expect(begun(60, [0, 1_000, 2_000, 3_000])).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it.each([
    [1, [0, 60_000, 120_000]],
    [6, [0, 10_000, 20_000]],
    [20, [0, 0, 3_000]],
    [600, [0, 0, 0]],
  ] as const)('of %i a minute gives three that come at once these places', (perMinute, expected) => {
    expect(begun(perMinute, [0, 0, 0])).toEqual(expected);
  });

  it('that is the slower of two decides', () => {
    const place = placeIn(
      [
        { scope: 'tenant', name: 'acme', perMinute: 60, calls: 1, nextAt: 0 },
        { scope: 'capability', name: 'p.x', perMinute: 1, calls: 1, nextAt: 90_000 },
      ],
      50_000,
    );
    expect(place).toEqual({
      goAt: 90_000,
      paced: [
        { scope: 'tenant', name: 'acme', next_at: 51_000 },
        { scope: 'capability', name: 'p.x', next_at: 150_000 },
      ],
    });
    expect(freeAt({ perMinute: 1, nextAt: 90_000 })).toBe(90_000);
  });

  it('that is not set asks nothing and takes no place', () => {
    expect(
      placeIn(
        schedulesOf(NO_RATES, 'acme', ['p.x'], () => 1e12),
        7,
      ),
    ).toEqual({ goAt: 7, paced: [] });
    expect(sharedRates({ tenantPerMinute: 10, capabilityPerMinute: null }, 4)).toEqual({
      tenantPerMinute: 2,
      capabilityPerMinute: null,
    });
    expect(intervalOf(7)).toBe(8_572);
  });
});
