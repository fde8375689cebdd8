// Names that are shown short can still be told apart.
import { expect, it } from '@jest/globals';
import { shortOf } from './short.js';

it('names that differ at their end alone read differently where they are shown short', () => {
  const names = ['nightly-refunds-2026-11-01', 'nightly-refunds-2026-11-02'];
  expect(names.map(shortOf)).toEqual(['nightly-…26-11-01', 'nightly-…26-11-02']);
  expect(shortOf('run_0123456789ab')).toBe('run_0123456789ab');
  expect(shortOf(`${'x'.repeat(20)}\u{1F600}`)).toBe('xxxxxxxx…xxxxxxx\u{1F600}');
});
