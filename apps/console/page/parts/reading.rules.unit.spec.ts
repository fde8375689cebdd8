// A screen whose reading fails says so, whatever it still shows.
import { describe, expect, it } from '@jest/globals';
import { standingOf } from './reading.rules.js';

describe('what was read', () => {
  it('is old once a later reading failed, also where it was nothing', () => {
    const error = new Error('READS_BUSY');
    expect([standingOf(['row'], error), standingOf([], error)]).toEqual(['old', 'old']);
  });

  it('is fresh while nothing failed, and waited for or failed where there is none', () => {
    expect([standingOf([], null), standingOf(undefined, null), standingOf(undefined, new Error())]).toEqual([
      'fresh',
      'waiting',
      'failed',
    ]);
  });
});
