// The search of an address takes any name that a service takes.
import { expect, it } from '@jest/globals';
import { LINEAGE_SEARCH } from '../screens/lineage.query.js';
import { NAME } from './addresses.js';

it('holds the longest name of a run, and none that is longer', () => {
  const longest = 'r'.repeat(512);
  expect(NAME.safeParse(longest).success).toBe(true);
  expect(LINEAGE_SEARCH.parse({ open: [longest] })).toEqual({ open: [longest] });
  expect(NAME.safeParse(`${longest}r`).success).toBe(false);
});
