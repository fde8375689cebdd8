import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { claimStoreContract } from './claim-store.contract.js';
import { FileClaimStore } from './claim-store.file.js';
import { MemoryClaimStore } from './claim-store.memory.js';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'claims-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

claimStoreContract('memory', () => {
  const store = new MemoryClaimStore();
  return Promise.resolve({ store, reopen: () => store });
});
claimStoreContract('file', async () => {
  const directory = join(await mkdtemp(join(root, 'store-')), 'claims');
  return { store: new FileClaimStore(directory), reopen: () => new FileClaimStore(directory) };
});

describe('a claim file store that cannot write', () => {
  it('throws, and grants nothing', async () => {
    const path = join(root, 'a-file');
    await writeFile(path, '');
    await expect(new FileClaimStore(path).claim({ stepId: 's', attempt: 1, workerId: 'w' })).rejects.toThrow();
  });
});
