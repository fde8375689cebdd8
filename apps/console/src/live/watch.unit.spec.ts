// How often services are looked at.
import { describe, expect, it } from '@jest/globals';
import { pauseAfter } from './watch.js';

describe('the pause between two looks', () => {
  it('is as long as is set, and as long as a look took where services are slow', () => {
    expect([pauseAfter(5, 100), pauseAfter(1_500, 100)]).toEqual([100, 1_500]);
  });
});
