// Whether there is a time to accept, as the command line judges it (L1).
import { describe, expect, it } from '@jest/globals';
import { judgeTime, stoodAfter } from './time.decisions.js';

const BOUNDS = { marginMs: 2_000, apartMaxMs: 60_000 };
const NOW = 1_800_000_000_000;
const LEAD = 7_200_000;
const ahead = { headDecidedAt: NOW + LEAD, databaseNow: NOW, ownNow: NOW, stood: null };

describe('a log beside the time of its database', () => {
  it('is ahead by what its last decision is, and nothing is ahead within the margin', () => {
    expect(judgeTime(ahead, BOUNDS)).toEqual({ kind: 'ahead', leadMs: LEAD });
    expect(judgeTime({ ...ahead, headDecidedAt: NOW + 2_000 }, BOUNDS)).toEqual({ kind: 'nothing_ahead' });
    expect(judgeTime({ ...ahead, headDecidedAt: NOW - 1 }, BOUNDS)).toEqual({ kind: 'nothing_ahead' });
  });

  it('is not judged while the clock of the database and the own one differ, whichever is ahead', () => {
    expect(judgeTime({ ...ahead, ownNow: NOW + LEAD }, BOUNDS)).toEqual({ kind: 'clocks_differ', byMs: -LEAD });
    expect(judgeTime({ ...ahead, ownNow: NOW - LEAD }, BOUNDS)).toEqual({ kind: 'clocks_differ', byMs: LEAD });
  });

  it('is accepted once, and a later jump again', () => {
    const stood = stoodAfter(ahead);
    expect(stood).toEqual({ standsAt: NOW + LEAD + 1, trueNow: NOW });
    expect(judgeTime({ ...ahead, headDecidedAt: stood.standsAt, stood }, BOUNDS)).toEqual({ kind: 'nothing_ahead' });
    expect(judgeTime({ ...ahead, headDecidedAt: stood.standsAt + 1, stood }, BOUNDS).kind).toBe('ahead');
  });
});
