// A page is held by the windows whose commands are on their way.
import { expect, it } from '@jest/globals';
import { Holds } from './holds.js';

it('a page is free once each window let go of it, however often one does', async () => {
  const holds = new Holds();
  const [one, other] = [holds.take(), holds.take()];
  let isFree = false;
  const free = holds.free().then(() => (isFree = true));
  one();
  one();
  await new Promise(setImmediate);
  expect(isFree).toBe(false);
  other();
  await free;
  await holds.free();
  expect(isFree).toBe(true);
});
