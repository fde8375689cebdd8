import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { BatchRun } from './batch.js';
import type { BatchContext } from './batch.js';
import { PARKED_KIND } from './fold.js';
import type { QueueItem } from './queue-item.js';
import { BatchSealer } from './own-log.js';
import { Overlay, RowCache } from './row-cache.js';
import { MemoryKeyStore } from './sealing/key-store.memory.js';
import { sealedUnder } from './sealing/sealing.js';
import { Vault } from './sealing/vault.js';
import { append } from './service-core.js';
import type { Doc, ServiceCore, TimerInput } from './service-core.js';

const TOPIC = 'spec.inputs';

/** Writes bodies as they are: what they look like in Avro is not looked at here. */
const CODECS = {
  encode: (_topic: string, _type: string, body: object): Buffer =>
    Buffer.concat([Buffer.alloc(5), Buffer.alloc(Number((body as Doc)['size'] ?? 0))]),
  fingerprintOf: (): Buffer => Buffer.alloc(32),
  asRead: (_topic: string, _type: string, body: object): Doc => body as Doc,
  decodeSync: () => ({ kind: 'unknown_schema', id: 0 }) as const,
};

const plain = (text: string): Doc => ({
  content_type: 'application/json',
  encoding: 'plain',
  key_id: null,
  body: Buffer.from(text),
  sha256: createHash('sha256').update(text).digest(),
});

function core(over: Partial<ServiceCore>): ServiceCore {
  return {
    log: 'spec.log',
    inputs: [],
    views: [],
    kinds: [{ kind: 'person', table: 'person', columns: [] }],
    keyOf: () => 'k',
    decide: (_, input) => append({ type: 'Told', body: input.source === 'timer' ? {} : input.body }),
    evolve: () => [],
    react: () => [],
    owed: () => false,
    ...over,
  };
}

function item(body: Doc, offset = 0): QueueItem {
  const cursor = { topic: TOPIC, partition: 0, offset: offset + 1, seq: offset + 1, hash: Buffer.alloc(32) };
  const at = { topic: TOPIC, partition: 0, offset, key: 'k' };
  const input = { source: 'log', ...at, type: 'Said', body, seq: 1, hash: Buffer.alloc(32) } as const;
  return {
    cursor,
    isMeaningful: true,
    what: { kind: 'record', input, raw: { offset, key: Buffer.from('k'), value: null, timestamp: 0, headers: {} } },
  };
}

function vaultOver(store: MemoryKeyStore): Vault {
  return new Vault({ store, windowMs: 1_000, now: () => 0, random: (bytes) => Buffer.alloc(bytes, 7) });
}

/** A batch over rows in memory. */
function batchOf(
  items: readonly QueueItem[],
  service: ServiceCore,
  over: {
    readonly cache?: RowCache;
    readonly vault?: Vault;
    readonly partItems?: number;
    readonly timers?: readonly TimerInput[];
  } = {},
) {
  const { cache = new RowCache(new Set([PARKED_KIND]), 100), vault = vaultOver(new MemoryKeyStore()) } = over;
  const { partItems = 16, timers = [] } = over;
  const context: BatchContext = {
    core: service,
    partition: 0,
    partitionCountOf: () => 1,
    owns: () => true,
    views: { view: () => ({ get: () => undefined, position: () => 0, partitionOf: () => 0 }) },
    now: 0,
    edgeKey: null,
    fullNameOf: (_, type) => type,
    sealing: { vault, batch: vault.batch(0) },
    reread: () => null,
    original: () => null,
  };
  const sealer = new BatchSealer({ codecs: CODECS, topic: 'spec.log' }, { seq: 0, hash: Buffer.alloc(32) }, 0);
  const material = { items, passed: [], timers, resends: [], reactedSeq: 0, partItems };
  const { batch } = context.sealing ?? { batch: vault.batch(0) };
  return { run: new BatchRun(context, material, new Overlay(cache), sealer), sealer, cache, batch };
}

describe('a record about several members', () => {
  const service = core({
    sealScope: (_, state, member) => {
      const id = typeof member?.['person'] === 'string' ? member['person'] : 'all';
      if (member !== null) state.get('person', id, id);
      return { tenant: 'acme', subject: id };
    },
  });
  const said = item({
    note: plain('0'),
    members: [
      { person: 'a', args: plain('1') },
      { person: 'b', args: plain('1') },
    ],
  });

  it('has the payloads of each sealed under the scope of that member', () => {
    const cache = new RowCache(new Set([PARKED_KIND]), 100);
    cache.fill(
      ['a', 'b'].map((group) => ({ kind: 'person', group })),
      [],
    );
    const { run, sealer } = batchOf([said], service, { cache });
    expect(run.run().kind).toBe('batch');
    expect(new Set(sealedUnder(sealer.accepted[1]?.body)).size).toBe(3);
  });

  it('lacks at once what the scopes of all its members, and of the records behind it, read', () => {
    const other = item({ members: [{ person: 'c', args: plain('1') }, { person: 'd' }] }, 1);
    const result = batchOf([said, other], service).run.run();
    expect(result.kind === 'lacks' && result.lacks.rows.map(({ group }) => group)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a decision over a payload whose key is not here', () => {
  const carefree = core({
    decide: (_, input) => {
      const body = input.source === 'timer' ? {} : input.body;
      const { encoding } = body['args'] as { readonly encoding: string };
      return append({ type: 'Told', body: { encoding } });
    },
  });

  it('is made anew once the key is, also by a decider that takes what is sealed for erased; others are asked for with it', async () => {
    const store = new MemoryKeyStore();
    const theirs = vaultOver(store);
    const batch = theirs.batch(0);
    const bodies = ['a', 'b'].map((subject) => batch.seal({ args: plain('1') }, () => ({ tenant: 'acme', subject })));
    await batch.settle();
    const vault = vaultOver(store);
    const { run, sealer } = batchOf(
      bodies.map((body, index) => item(body, index)),
      carefree,
      { vault },
    );
    const first = run.run();
    expect(first.kind === 'lacks' && first.lacks.keys).toEqual(bodies.flatMap(sealedUnder));
    await vault.load(bodies.flatMap(sealedUnder));
    expect(run.run().kind).toBe('batch');
    expect(sealer.accepted.slice(1).map(({ body }) => body['encoding'])).toEqual(['plain', 'plain']);
  });
});

describe('a batch that gets full', () => {
  const sized = (count: number, size: number): readonly QueueItem[] =>
    Array.from({ length: count }, (_, index) => item({ at: index, size }, index));
  const offsetsOf = ({ accepted }: BatchSealer): readonly unknown[] =>
    accepted.map(({ type, body }) =>
      type === 'Progress' ? (body['cursors'] as readonly Doc[]).map(({ offset }) => offset) : body['at'],
    );

  it('keeps its parts that fit: each Progress names what is decided behind it, and nothing that is not', () => {
    const decided: unknown[] = [];
    const counting = core({
      decide: (_, input) => {
        if (input.source !== 'timer') decided.push(input.body['at']);
        return append({ type: 'Told', body: input.source === 'timer' ? {} : input.body });
      },
    });
    const { run, sealer } = batchOf(sized(9, 150_000), counting, { partItems: 2 });
    expect(run.run()).toMatchObject({ kind: 'batch', taken: 4, decided: 4, ends: { length: 6 } });
    expect(offsetsOf(sealer)).toEqual([[2], 0, 1, [4], 2, 3]);
    expect(decided).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('is to be smaller when its first part does not fit', () => {
    const { run } = batchOf(sized(9, 150_000), core({}), { partItems: 9 });
    expect(run.run()).toEqual({ kind: 'overfull', take: 5 });
  });

  it('says how many of its timers fit when they alone are too much', () => {
    const due = Array.from({ length: 9 }, (_, index) => ({ kind: 'person', group: `p${index}`, key: 'p', dueAt: 1 }));
    const cache = new RowCache(new Set([PARKED_KIND]), 100);
    cache.fill(
      due,
      due.map((row) => ({ ...row, doc: {} })),
    );
    const timers = due.map(({ dueAt, ...address }) => ({ source: 'timer', address, dueAt }) as const);
    const flooding = core({ decide: () => append({ type: 'Told', body: { size: 150_000 } }) });
    const { run } = batchOf(sized(2, 1), flooding, { cache, timers });
    expect(run.run()).toEqual({ kind: 'overfull', take: 0, timers: 5 });
  });
});

describe('a batch whose rows are not here', () => {
  const service = core({
    decide: ({ state }, input) => {
      state.get('person', 'cold', 'cold');
      return append({ type: 'Told', body: input.source === 'timer' ? {} : input.body });
    },
    sealScope: ({ body }, state) => {
      if (body['is'] === 'told by its row') state.get('person', 'row', 'row');
      return { tenant: 'acme', subject: String(body['is']) };
    },
  });

  it('has the keys made meanwhile that its records tell of, and none that only its rows tell of', async () => {
    const store = new MemoryKeyStore();
    const asked: (readonly string[])[] = [];
    const ensure = store.ensure.bind(store);
    store.ensure = (wanted) => {
      asked.push(wanted.map(({ scope }) => scope.subject));
      return ensure(wanted);
    };
    const items = ['told by itself', 'told by its row'].map((is, at) => item({ is, args: plain('1') }, at));
    const { run, batch, cache } = batchOf(items, service, { vault: vaultOver(store) });
    const first = run.run();
    await batch.prepare();
    expect(asked).toEqual([['told by itself']]);
    cache.fill(first.kind === 'lacks' ? first.lacks.rows : [], []);
    expect(run.run().kind).toBe('batch');
    expect(await batch.settle()).toBe(true);
    expect(asked).toEqual([['told by itself'], ['told by its row']]);
  });
});
