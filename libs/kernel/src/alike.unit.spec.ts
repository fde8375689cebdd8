import { describe, expect, it } from '@jest/globals';
import { lookAlikes } from './alike.js';

describe('names that read alike', () => {
  it.each([
    [['olga', '0lga']],
    [['Olga', '01ga', 'o1ga']],
    [['mira', 'rnira']],
    [['will', 'vvill']],
    [['anna.maria', 'annamaria']],
    [['ines', '1nes']],
    [['dan', 'clan']],
    [['boss', '8o55']],
  ])('are grouped: %j', (names) => {
    expect(lookAlikes(['quinn', ...names, null])).toEqual([[...names].sort()]);
  });

  it.each([[['olga', 'Olga', 'user:olga']], [['olga', 'pia', null]], [[]]])(
    'are none in %j: one person, or others',
    (names) => {
      expect(lookAlikes(names)).toEqual([]);
    },
  );
});
