// Rows of a long list that are drawn.
import { describe, expect, it } from '@jest/globals';
import { drawnRows, topShowing } from './window.js';

const SIGHT = { heightPx: 500, rowPx: 50, count: 10_000 };

describe('the rows that are drawn', () => {
  it('are those in sight and a few on either side, wherever the list stands', () => {
    expect(drawnRows(0, SIGHT)).toEqual({ from: 0, to: 13 });
    expect(drawnRows(25_010, SIGHT)).toEqual({ from: 497, to: 514 });
    expect(drawnRows(499_500, SIGHT)).toEqual({ from: 9_987, to: 10_000 });
  });

  it('are all of a short list, and none of an empty one', () => {
    expect(drawnRows(0, { ...SIGHT, count: 4 })).toEqual({ from: 0, to: 4 });
    expect(drawnRows(0, { ...SIGHT, count: 0 })).toEqual({ from: 0, to: 0 });
  });

  it('are none beyond the end where the list became shorter under the reader', () => {
    expect(drawnRows(499_500, { ...SIGHT, count: 10 })).toEqual({ from: 10, to: 10 });
  });
});

describe('a row that is gone to', () => {
  it.each([
    [0, 500, 0],
    [9, 0, 0],
    [10, 0, 50],
    [30, 1_000, 1_050],
  ])('is brought into sight, and moves nothing that is in sight: row %i from %i', (at, top, then) => {
    expect(topShowing(at, top, SIGHT)).toBe(then);
  });
});
