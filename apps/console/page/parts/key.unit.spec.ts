// Over plain http a browser has only a part of crypto.
import { afterEach, expect, it, jest } from '@jest/globals';
import { newKey } from './key.js';

afterEach(() => {
  jest.restoreAllMocks();
});

it('a window has a key of its own, also over plain http', () => {
  jest.spyOn(crypto, 'randomUUID').mockImplementation(() => {
    throw new TypeError('crypto.randomUUID is not a function');
  });
  const keys = Array.from({ length: 100 }, newKey);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});
