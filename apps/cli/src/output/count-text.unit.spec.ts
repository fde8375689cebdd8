import { describe, expect, it } from '@jest/globals';
import { countText } from './count-text.js';

describe('a count', () => {
  it.each([
    [0, '0 lines'],
    [1, '1 line'],
    [2, '2 lines'],
  ])('of %i has the word of its number', (count, text) => {
    expect(countText(count, 'line')).toBe(text);
  });

  it('has a word of its own where that is no s', () => {
    expect([countText(1, 'entry is', 'entries are'), countText(3, 'entry is', 'entries are')]).toEqual([
      '1 entry is',
      '3 entries are',
    ]);
  });
});
