import { describe, expect, it } from '@jest/globals';
import { isoOf, NO_INSTANT } from './instant.js';

describe('an instant of a row', () => {
  it('is shown for whatever number it is: a page does not fall over one that no calendar has', () => {
    expect([8.64e15, 8.64e15 + 1, -9e15, NaN].map(isoOf)).toEqual([
      '+275760-09-13T00:00:00.000Z',
      NO_INSTANT,
      NO_INSTANT,
      NO_INSTANT,
    ]);
  });
});
