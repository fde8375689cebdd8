// When windows closed, against when they ended.
import { describe, expect, it } from '@jest/globals';
import { ExpiryTimes, lagsOf } from './expiry-times.js';

const ENDS = new Map([
  ['m1', 1_000],
  ['m2', 2_000],
]);
const at = (ms: number) => ({ decidedAt: ms, loggedAt: ms + 10 });

describe('the times of an expiry', () => {
  it('are counted from the end of each window', () => {
    const times = new ExpiryTimes(ENDS);
    times.close('m1', at(1_100));
    times.close('m2', at(2_300));
    expect(times.summary()).toEqual({
      closed: 2,
      stray: 0,
      early: 0,
      decided: { p50: 300, p99: 300, max: 300 },
      logged: { p50: 310, p99: 310, max: 310 },
    });
  });

  it('tell a window that closed twice, or that nobody opened', () => {
    const times = new ExpiryTimes(ENDS);
    for (const id of ['m1', 'm1', 'm3']) times.close(id, at(1_100));
    expect(times.summary()).toMatchObject({ closed: 1, stray: 2 });
  });

  it('tell a window that closed before its end', () => {
    const times = new ExpiryTimes(ENDS);
    times.close('m1', at(999));
    times.close('m2', at(2_000));
    expect(times.summary()).toMatchObject({ closed: 2, early: 1 });
  });

  it('are not a number when nothing closed', () => {
    expect(lagsOf([])).toEqual({ p50: NaN, p99: NaN, max: NaN });
  });
});
