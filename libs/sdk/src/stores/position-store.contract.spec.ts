import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { positionStoreContract } from './position-store.contract.js';
import { FilePositionStore } from './position-store.file.js';
import { MemoryPositionStore } from './position-store.memory.js';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'positions-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

positionStoreContract('memory', () => {
  const store = new MemoryPositionStore();
  return Promise.resolve({ store, reopen: () => store });
});
positionStoreContract('file', async () => {
  const directory = join(await mkdtemp(join(root, 'store-')), 'positions');
  return { store: new FilePositionStore(directory), reopen: () => new FilePositionStore(directory) };
});

describe('a file of a position', () => {
  it.each([
    ['is empty', ''],
    ['was cut', '{"offset":12'],
    ['is another', '{}'],
    ['says no offset', '{"offset":-1,"seq":0,"hash":""}'],
  ])('is named where it %s', async (_case, text) => {
    const directory = await mkdtemp(join(root, 'spoiled-'));
    const path = join(directory, 't-0.json');
    await writeFile(path, text);
    await expect(new FilePositionStore(directory).load('t', 0)).rejects.toMatchObject({
      code: 'POSITION_UNREADABLE',
      message: `${path} holds no position. Put it back from a copy, or remove it: reading goes on from the start then, and what was heard comes again`,
    });
  });

  it('gives the place of the head where it was kept', async () => {
    const directory = await mkdtemp(join(root, 'kept-'));
    const position = { offset: 5, seq: 4, hash: 'ab', record: 4 };
    await new FilePositionStore(directory).save('t', 0, position);
    expect(await new FilePositionStore(directory).load('t', 0)).toEqual(position);
  });
});
