import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
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
