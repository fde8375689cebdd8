import { describe, it, expect } from '@jest/globals';
import { MemoryDatabase } from './memory-store.js';
import { CONTRACT_KINDS, CONTRACT_LOG, describeStore, FIRST_HEAD as HEAD } from './store.contract.js';

const row = (key: string) =>
  ({ op: 'put', row: { kind: 'mutation', group: 'run', key, dueAt: null, doc: { n: 1 } } }) as const;

describeStore({
  name: 'memory',
  fresh: () => Promise.resolve(new MemoryDatabase({ kinds: CONTRACT_KINDS, now: () => 1_000 })),
});

describe('a memory database', () => {
  it('goes back to an older copy, which stays usable', async () => {
    const database = new MemoryDatabase({ kinds: CONTRACT_KINDS, now: () => 1_000 });
    const store = database.partition(CONTRACT_LOG, 0);
    await store.project(null, HEAD, [row('a')]);
    const copy = database.snapshot();
    for (let turn = 0; turn < 2; turn += 1) {
      await store.project({ seq: 1, hash: HEAD.hash }, { ...HEAD, seq: 2, hash: Buffer.alloc(32, 2) }, [row('b')]);
      expect(await store.all('mutation')).toHaveLength(2);
      database.restore(copy);
      expect((await store.all('mutation')).map(({ key }) => key)).toEqual(['a']);
      expect((await store.head())?.seq).toBe(1);
    }
  });

  it('is empty when wiped', async () => {
    const database = new MemoryDatabase({ kinds: CONTRACT_KINDS, now: () => 1_000 });
    const store = database.partition(CONTRACT_LOG, 0);
    await store.project(null, HEAD, [row('a')]);
    database.wipe();
    expect(await store.head()).toBeNull();
    expect(await store.all('mutation')).toEqual([]);
  });

  it('asks its gate before every call, by name, and applies nothing that the gate refuses', async () => {
    const heard: string[] = [];
    const database = new MemoryDatabase({
      kinds: CONTRACT_KINDS,
      now: () => 1_000,
      gate: ({ kind, actor }) => {
        heard.push(`${actor} ${kind}`);
        return kind === 'project' ? Promise.reject(new Error('gone')) : Promise.resolve();
      },
    });
    const store = database.forActor('zombie').partition(CONTRACT_LOG, 0);
    await expect(store.project(null, HEAD, [row('a')])).rejects.toThrow('gone');
    expect(await store.head()).toBeNull();
    expect(heard).toEqual(['zombie project', 'zombie head']);
  });

  it('hands out copies', async () => {
    const store = new MemoryDatabase({ kinds: CONTRACT_KINDS, now: () => 1_000 }).partition(CONTRACT_LOG, 0);
    await store.project(null, HEAD, [row('a')]);
    const [first] = await store.all('mutation');
    Object.assign(first?.doc ?? {}, { n: 'changed' });
    expect((await store.all('mutation'))[0]?.doc).toEqual({ n: 1 });
  });
});
