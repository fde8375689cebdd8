// The loop's decisions: what an append was, what to do with a batch, when a Progress alone is due, what time it is.
import { describe, expect, it } from '@jest/globals';
import type { FetchedBatch, FetchedRecord } from '@recourse/kafka';
import fc from 'fast-check';
import {
  backoffMs,
  clockAgeMs,
  inputsBeside,
  judgeAppend,
  judgeClock,
  judgeDelivery,
  judgeStore,
  progressAloneIsDue,
} from './loop.decisions.js';

type Delivered = Pick<FetchedBatch, 'fetchedOffset' | 'nextOffset' | 'records'>;

describe('the outcome of an append', () => {
  it('is accepted only at the expected base offset', () => {
    expect(judgeAppend(7, { kind: 'landed', baseOffset: 7 })).toBe('accepted');
  });
  it('is to be read from the tail when somebody wrote in between, or nothing is known', () => {
    expect(judgeAppend(7, { kind: 'landed', baseOffset: 8 })).toBe('reread');
    expect(judgeAppend(7, { kind: 'unknown', cause: new Error('time-out') })).toBe('reread');
  });
  it('below the expected base offset means that the log lost acknowledged records', () => {
    expect(judgeAppend(7, { kind: 'landed', baseOffset: 6 })).toBe('log_cut');
  });
});

describe('a fetched batch', () => {
  const recordAt = (offset: number): FetchedRecord => ({ offset, key: null, value: null, timestamp: 0, headers: {} });
  const batchOf = (fetchedOffset: number, offsets: readonly number[], nextOffset: number): Delivered => ({
    fetchedOffset,
    nextOffset,
    records: offsets.map(recordAt),
  });
  const from = (offset: number, count: number): Delivered =>
    batchOf(
      offset,
      Array.from({ length: count }, (_, index) => offset + index),
      offset + count,
    );
  it('is taken where it continues, without what is below the position', () => {
    expect(judgeDelivery(5, from(5, 3))).toEqual({ kind: 'take', skip: 0 });
    expect(judgeDelivery(7, from(5, 3))).toEqual({ kind: 'take', skip: 2 });
  });
  it('is dropped when all of it is below the position, and sought again when it starts above', () => {
    expect(judgeDelivery(8, from(5, 3))).toEqual({ kind: 'drop' });
    expect(judgeDelivery(4, from(5, 3))).toEqual({ kind: 'seek' });
    expect(judgeDelivery(4, from(4, 0))).toEqual({ kind: 'drop' });
  });
  it('may have gaps, before, between and behind its records: each is passed once', () => {
    expect(judgeDelivery(5, batchOf(5, [], 8))).toEqual({ kind: 'take', skip: 0 });
    expect(judgeDelivery(5, batchOf(5, [7, 9], 11))).toEqual({ kind: 'take', skip: 0 });
    expect(judgeDelivery(8, batchOf(5, [5, 7, 9], 11))).toEqual({ kind: 'take', skip: 2 });
    expect(judgeDelivery(10, batchOf(5, [5, 7, 9], 11))).toEqual({ kind: 'take', skip: 3 });
    expect(judgeDelivery(4, batchOf(5, [7], 8))).toEqual({ kind: 'seek' });
  });
  it('never lets a record through twice or a gap open, whatever batches arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 8 })), { maxLength: 60 }), (batches) => {
        let expected = 0;
        for (const [start, count] of batches) {
          const batch = from(start, count);
          const delivery = judgeDelivery(expected, batch);
          if (delivery.kind !== 'take') continue;
          const taken = batch.records.slice(delivery.skip);
          expect(taken[0]?.offset).toBe(expected);
          expected += taken.length;
        }
      }),
    );
  });
});

describe('a batch of Progress alone', () => {
  it('waits, and is never due when only Progress was passed', () => {
    expect(progressAloneIsDue({ meaningful: 0, sinceMs: 1e9 }, 1_000)).toBe(false);
    expect(progressAloneIsDue({ meaningful: 1, sinceMs: 999 }, 1_000)).toBe(false);
    expect(progressAloneIsDue({ meaningful: 1, sinceMs: 1_000 }, 1_000)).toBe(true);
    expect(progressAloneIsDue({ meaningful: 10_000, sinceMs: 0 }, 1_000)).toBe(true);
  });
});

describe('the time of a decision', () => {
  const bounds = { headDecidedAt: 4_000, ownNow: 4_000, marginMs: 2_000, aheadMaxMs: 60_000, stood: null };
  it('is database time, and never below the head of the chain', () => {
    expect(judgeClock(5_000, bounds)).toEqual({ kind: 'decide_at', now: 5_000 });
    expect(judgeClock(3_000, bounds)).toEqual({ kind: 'decide_at', now: 4_000 });
    expect(judgeClock(2_000, bounds)).toEqual({ kind: 'decide_at', now: 4_000 });
  });
  it('is none while the clock is behind by more than the margin', () => {
    expect(judgeClock(1_999, bounds)).toEqual({ kind: 'behind', byMs: 2_001 });
  });
  it('is none while the clock is further ahead of the own one than it may be', () => {
    expect(judgeClock(64_000, bounds)).toEqual({ kind: 'decide_at', now: 64_000 });
    expect(judgeClock(64_001, bounds)).toEqual({ kind: 'ahead', byMs: 60_001 });
  });
});

describe('the database clock', () => {
  it('is asked the more often the nearer the next timer is', () => {
    expect([100, 2_000, 8_000, 20_000, 3_600_000].map(clockAgeMs)).toEqual([1_000, 1_000, 4_000, 10_000, 10_000]);
  });
});

describe('a projection', () => {
  it('that is ahead of the log says that the log was cut', () => {
    expect(judgeStore(9, 10)).toBe('log_cut');
    expect(judgeStore(10, 10)).toBe('follows');
    expect(judgeStore(11, 10)).toBe('follows');
  });
});

describe('back-off', () => {
  it('grows and is bounded', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 20].map(backoffMs);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(Math.max(...waits)).toBe(2_000);
  });
});

describe('inputs beside timers', () => {
  it.each([
    { timers: 0, itemsMax: 500, inputs: 500 },
    { timers: 200, itemsMax: 500, inputs: 300 },
    { timers: 400, itemsMax: 500, inputs: 125 },
    { timers: 600, itemsMax: 500, inputs: 125 },
    { timers: 600, itemsMax: 40, inputs: 10 },
  ])('are $inputs of $itemsMax beside $timers timers', ({ timers, itemsMax, inputs }) => {
    expect(inputsBeside(timers, itemsMax)).toBe(inputs);
  });
});
