import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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

const claim = (id: string) => ({ id, attempt: 1, workerId: 'w' });
const directory = async (): Promise<string> => join(await mkdtemp(join(root, 'store-')), 'claims');

claimStoreContract('memory', () => {
  const store = new MemoryClaimStore();
  return Promise.resolve({ store, reopen: () => store });
});
claimStoreContract('file', async () => {
  const path = await directory();
  return { store: new FileClaimStore(path), reopen: () => new FileClaimStore(path) };
});

describe('a claim file store that cannot write', () => {
  it('throws, and grants nothing', async () => {
    const path = join(root, 'a-file');
    await writeFile(path, '');
    await expect(new FileClaimStore(path).claim(claim('s'))).rejects.toThrow();
  });

  it('grants nothing in a journal that was taken away, and begins another', async () => {
    const path = await directory();
    const store = new FileClaimStore(path);
    await store.claim(claim('kept'));
    await rm(path, { recursive: true });
    await expect(store.claim(claim('lost'))).rejects.toThrow();
    expect(await Promise.all(['kept', 'lost'].map((id) => store.claim(claim(id))))).toEqual(['taken', 'granted']);
    expect(await new FileClaimStore(path).claim(claim('lost'))).toBe('taken');
  });
});

describe('a journal of claims', () => {
  it('gives each claim to one of several stores that write side by side', async () => {
    const path = await directory();
    const stores = Array.from({ length: 4 }, () => new FileClaimStore(path));
    const ids = Array.from({ length: 100 }, (_, index) => `leg_${String(index)}`);
    const answers = await Promise.all(
      ids.map((id) => Promise.all(stores.map(async (store) => (await store.claim(claim(id))) === 'granted'))),
    );
    expect(answers.map((each) => each.filter((isGranted) => isGranted).length)).toEqual(ids.map(() => 1));
  });

  it('is written and forced to disk once for all that wait', async () => {
    const path = await directory();
    const store = new FileClaimStore(path);
    await Promise.all(Array.from({ length: 100 }, (_, index) => store.claim(claim(`leg_${String(index)}`))));
    const writes = (await readFile(join(path, 'claims.jsonl'), 'utf8')).split('\n\n').length;
    expect(writes).toBe(2);
  });

  it.each([
    ['a torn line', '["leg_9",1,"w","ma'],
    ['zeros', '\0\0\0\0'],
    ['something else', '{"leg":1}\n7\n[1]\n'],
  ])('with %s in it grants what is not in it, and nothing that is', async (_case, damage) => {
    const path = await directory();
    await new FileClaimStore(path).claim(claim('before'));
    await appendFile(join(path, 'claims.jsonl'), damage);
    const store = new FileClaimStore(path);
    expect(await Promise.all(['before', 'leg_9', 'after'].map((id) => store.claim(claim(id))))).toEqual([
      'taken',
      'granted',
      'granted',
    ]);
    expect(await new FileClaimStore(path).claim(claim('leg_9'))).toBe('taken');
  });

  it('that is longer than one read is read to its end', async () => {
    const path = await directory();
    const ids = Array.from({ length: 3 }, (_, index) => `${String(index)}${'x'.repeat(100_000)}`);
    for (const id of ids) await new FileClaimStore(path).claim(claim(id));
    const store = new FileClaimStore(path);
    expect(await Promise.all(ids.map((id) => store.claim(claim(id))))).toEqual(['taken', 'taken', 'taken']);
  });
});
