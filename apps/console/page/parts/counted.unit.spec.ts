// One thing is one.
import { expect, it } from '@jest/globals';
import { counted } from './counted.js';

it.each([
  [0, '0 items are there'],
  [1, '1 item is there'],
  [1_200, '1,200 items are there'],
])('a count of %i is read as %s', (count, text) => {
  expect(counted(count, 'item is there', 'items are there')).toBe(text);
});
