// What every store of the projection port promises; run once per adapter.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { Change, Doc, KindSpec, Row, RowAddress } from './service-core.js';
import type { PartitionStore, ProjectedHead, StoreFactory } from './store.port.js';

export const CONTRACT_LOG = 'recourse.mutations';
/** The head behind a first record. */
export const FIRST_HEAD = {
  seq: 1,
  hash: Buffer.alloc(32, 1),
  offset: 1,
  decidedAt: 1,
  cursors: [],
  reactedSeq: 0,
  reactedOffset: 0,
};

export const CONTRACT_KINDS: readonly KindSpec[] = [
  {
    kind: 'mutation',
    table: 'mutation',
    columns: [
      { name: 'tenant', type: 'text', of: ({ doc }) => (typeof doc['tenant'] === 'string' ? doc['tenant'] : null) },
      {
        name: 'amount_minor',
        type: 'bigint',
        of: ({ doc }) => (typeof doc['amount'] === 'number' ? doc['amount'] : null),
      },
      { name: 'open', type: 'boolean', of: ({ doc }) => doc['open'] === true },
      { name: 'digest', type: 'bytea', of: ({ doc }) => (Buffer.isBuffer(doc['digest']) ? doc['digest'] : null) },
    ],
    indexes: [['tenant', 'open']],
  },
  { kind: 'binding', table: 'binding', columns: [] },
  {
    kind: 'effect',
    table: 'effect',
    columns: [
      { name: 'tool', type: 'text', of: ({ doc }) => String(doc['tool']), isLasting: true },
      { name: 'state', type: 'text', of: ({ doc }) => String(doc['state']) },
    ],
    lasting: ['tool', 'terms'],
  },
];

/** Rows in one projection that make an adapter take its path for large batches. */
const MANY = 3_000;

export interface StoreUnderTest {
  readonly name: string;
  /** An empty database that knows CONTRACT_KINDS. */
  fresh(): Promise<StoreFactory>;
}

const hashOf = (seq: number): Buffer => Buffer.alloc(32, seq);
const headAt = (seq: number): ProjectedHead => ({
  seq,
  hash: hashOf(seq),
  offset: seq * 2,
  decidedAt: 1_700_000_000_000 + seq,
  reactedSeq: seq - 1,
  reactedOffset: seq,
  cursors: [{ topic: 'recourse.tool-executions', partition: 3, offset: seq * 7, seq: 0, hash: Buffer.alloc(32) }],
});
const at = (seq: number): { seq: number; hash: Buffer } => ({ seq, hash: hashOf(seq) });
const put = (kind: string, group: string, key: string, doc: Doc = {}, dueAt: number | null = null): Change => ({
  op: 'put',
  row: { kind, group, key, dueAt, doc },
});
const remove = (kind: string, group: string, key: string): Change => ({ op: 'delete', address: { kind, group, key } });
const addressOf = ({ kind, group, key }: RowAddress): string => `${kind}/${group}/${key}`;
const mutations = async (store: PartitionStore, ...groups: readonly string[]): Promise<readonly Row[]> =>
  (await store.load(groups.map((group) => ({ kind: 'mutation', group })))).rows;
const effectPut = (key: string, doc: Doc, isLasting: boolean): Change => ({
  op: 'put',
  row: { kind: 'effect', group: 'run', key, dueAt: null, doc },
  ...(isLasting ? { isLasting: true } : {}),
});
const docsIn = async (store: PartitionStore): Promise<readonly Doc[]> =>
  (await store.load([{ kind: 'effect', group: 'run' }])).rows.map(({ doc }) => doc);
const EFFECT = { tool: 'refund', terms: { digest: hashOf(7) }, state: 'open', extra: 1 };

/** Found once with the memory store; a change of it is a change of what operators compare. */
const KNOWN_STATE_HASH = '240498e7c3226e0a49e0232a3023016f45074ae2bf5335ecba76ade11fb696b6';

/** An empty database, and its first partition. */
interface Opened {
  readonly factory: StoreFactory;
  readonly store: PartitionStore;
}

/** The suite of the store port. */
export function describeStore({ name, fresh }: StoreUnderTest): void {
  describe(`the ${name} store`, () =>
    runCases(CASES, async () => {
      const factory = await fresh();
      return { factory, store: factory.partition(CONTRACT_LOG, 0) };
    }));
}

const CASES: Cases<Opened> = {
  'before the first projection': {
    'has no head, no rows, no timers, and knows the time': async ({ store }) => {
      const { now, rows } = await store.load([]);
      expect(await store.head()).toBeNull();
      expect(rows).toEqual([]);
      expect(Number.isSafeInteger(now) && now > 0).toBe(true);
      expect(await store.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    },

    'fences whoever thinks there is a head': async ({ store }) => {
      expect(await store.project(at(1), headAt(2), [put('mutation', 'run', 'a')])).toBe('fenced');
      expect(await store.head()).toBeNull();
      expect(await mutations(store, 'run')).toEqual([]);
    },
  },

  'a projection': {
    'keeps head, cursors and rows': async ({ store }) => {
      const doc = {
        tenant: 'acme',
        amount: 9_007_199_254_740_991,
        open: true,
        digest: Buffer.from([0, 255, 1]),
        nested: [{ bytes: Buffer.alloc(0) }, null, 'Zoë 😀'],
      };
      expect(await store.project(null, headAt(1), [put('mutation', 'run-1', 'a', doc, 5)])).toBe('projected');
      expect(await store.head()).toEqual(headAt(1));
      expect(await mutations(store, 'run-1')).toEqual([{ kind: 'mutation', group: 'run-1', key: 'a', dueAt: 5, doc }]);
    },

    'keeps text that SQL, JSON and the codec could trip over': async ({ store }) => {
      const doc = {
        tenant: 'a\0b',
        quote: `'"\\\n\t{},NULL`,
        $b: 'mine',
        like: { $b: 'not bytes' },
        more: { $$b: 1 },
        ['__proto__x']: 'x',
        empty: '',
      };
      await store.project(null, headAt(1), [put('mutation', `run'{"\\,}`, 'NULL', doc)]);
      expect(await mutations(store, `run'{"\\,}`)).toEqual([
        { kind: 'mutation', group: `run'{"\\,}`, key: 'NULL', dueAt: null, doc },
      ]);
    },

    'takes the last change of an address': async ({ store }) => {
      await store.project(null, headAt(1), [
        put('mutation', 'run', 'a', { n: 1 }),
        put('mutation', 'run', 'a', { n: 2 }, 9),
        put('mutation', 'run', 'b', { n: 1 }),
        remove('mutation', 'run', 'b'),
        remove('mutation', 'run', 'c'),
        put('mutation', 'run', 'c', { n: 3 }),
      ]);
      expect((await mutations(store, 'run')).map(({ key, dueAt, doc }) => [key, dueAt, doc])).toEqual([
        ['a', 9, { n: 2 }],
        ['c', null, { n: 3 }],
      ]);
    },

    'replaces and deletes rows of earlier ones': async ({ store }) => {
      await store.project(null, headAt(1), [put('mutation', 'run', 'a', { n: 1 }, 5), put('mutation', 'run', 'b')]);
      await store.project(at(1), headAt(2), [put('mutation', 'run', 'a', { n: 2 }), remove('mutation', 'run', 'b')]);
      expect((await mutations(store, 'run')).map(({ key, dueAt, doc }) => [key, dueAt, doc])).toEqual([
        ['a', null, { n: 2 }],
      ]);
      expect(await store.due(10, 10)).toEqual([]);
    },

    'may have no changes': async ({ store }) => {
      expect(await store.project(null, headAt(1), [])).toBe('projected');
      expect(await store.project(at(1), headAt(2), [])).toBe('projected');
      expect((await store.head())?.seq).toBe(2);
    },

    'of many rows ends as one of few does, whether rows are new or not': async ({ store }) => {
      const rows = Array.from({ length: MANY }, (_, n) =>
        put(
          'mutation',
          `run-${String(n % 100)}`,
          `m-${String(n)}`,
          { tenant: 'acme', amount: n, digest: hashOf(n % 256) },
          n % 3 ? null : n,
        ),
      );
      const again = rows.map((change, n) =>
        n % 2 ? change : put('mutation', `run-${String(n % 100)}`, `m-${String(n)}`, { n }),
      );
      await store.project(null, headAt(1), rows);
      expect(await store.all('mutation')).toHaveLength(MANY);
      await store.project(at(1), headAt(2), [...again, put('binding', 'x', 'y'), remove('mutation', 'run-1', 'm-1')]);
      const after = await store.all('mutation');
      expect(after).toHaveLength(MANY - 1);
      expect(after.filter(({ doc }) => 'n' in doc)).toHaveLength(MANY / 2);
      expect(await store.all('binding')).toHaveLength(1);
    },
  },

  'a row with lasting members': {
    'comes back whole, and keeps them when the others are written': async ({ store }) => {
      await store.project(null, headAt(1), [effectPut('a', EFFECT, false)]);
      expect(await docsIn(store)).toEqual([EFFECT]);
      await store.project(at(1), headAt(2), [effectPut('a', { tool: 'unwritten', state: 'closed' }, true)]);
      expect(await docsIn(store)).toEqual([{ tool: 'refund', terms: { digest: hashOf(7) }, state: 'closed' }]);
      expect((await store.all('effect'))[0]?.doc).toEqual((await docsIn(store))[0]);
    },

    'is written whole where one projection makes it and changes it': async ({ store }) => {
      await store.project(null, headAt(1), [
        effectPut('a', EFFECT, false),
        effectPut('a', { ...EFFECT, state: 'closed' }, true),
      ]);
      expect(await docsIn(store)).toEqual([{ ...EFFECT, state: 'closed' }]);
    },

    'has other ones when it is put whole again': async ({ store }) => {
      await store.project(null, headAt(1), [effectPut('a', EFFECT, false)]);
      const other = { tool: 'void', state: 'open' };
      await store.project(at(1), headAt(2), [effectPut('a', other, false)]);
      expect(await docsIn(store)).toEqual([other]);
    },

    'hashes as one that was put whole': async ({ factory, store }) => {
      await store.project(null, headAt(1), [effectPut('a', EFFECT, false)]);
      await store.project(at(1), headAt(2), [effectPut('a', { ...EFFECT, state: 'closed' }, true)]);
      const second = factory.partition(CONTRACT_LOG, 1);
      await second.project(null, headAt(1), [effectPut('a', { ...EFFECT, state: 'closed' }, false)]);
      expect(await second.stateHash()).toBe(await store.stateHash());
    },

    'is one of many': async ({ store }) => {
      const keys = Array.from({ length: MANY }, (_, n) => `e-${String(n)}`);
      await store.project(
        null,
        headAt(1),
        keys.map((key) => effectPut(key, { ...EFFECT, key }, false)),
      );
      await store.project(
        at(1),
        headAt(2),
        keys.map((key) => effectPut(key, { ...EFFECT, key, state: 'closed' }, true)),
      );
      const after = await docsIn(store);
      expect(after).toHaveLength(MANY);
      expect(after.every((doc) => doc['state'] === 'closed' && doc['tool'] === 'refund')).toBe(true);
      const last = { ...EFFECT, state: 'shut' };
      expect(await store.project(at(1), headAt(2), [effectPut('e-0', last, true)])).toBe('fenced');
      expect((await docsIn(store)).some((doc) => doc['state'] === 'shut')).toBe(false);
    },
  },

  'the fence': {
    'refuses an old head, another hash, and a second first projection, and applies nothing': async ({ store }) => {
      await store.project(null, headAt(1), [put('mutation', 'run', 'a', { n: 1 })]);
      await store.project(at(1), headAt(2), []);
      const late = [put('mutation', 'run', 'a', { n: 'late' }), put('mutation', 'run', 'late')];
      expect(await store.project(at(1), headAt(2), late)).toBe('fenced');
      expect(await store.project({ seq: 2, hash: hashOf(9) }, headAt(3), late)).toBe('fenced');
      expect(await store.project(null, headAt(1), late)).toBe('fenced');
      expect((await mutations(store, 'run')).map(({ doc }) => doc)).toEqual([{ n: 1 }]);
      expect((await store.head())?.seq).toBe(2);
    },

    'lets one of two owners win a race, again and again': async ({ factory, store }) => {
      await store.project(null, headAt(1), []);
      const other = factory.partition(CONTRACT_LOG, 0);
      for (let seq = 1; seq <= 20; seq += 1) {
        const [left, right] = await Promise.all([
          store.project(at(seq), headAt(seq + 1), [
            put('mutation', 'run', `left-${String(seq)}`),
            remove('mutation', 'run', `right-${String(seq - 1)}`),
          ]),
          other.project(at(seq), headAt(seq + 1), [
            put('mutation', 'run', `right-${String(seq)}`),
            remove('mutation', 'run', `left-${String(seq - 1)}`),
          ]),
        ]);
        expect([left, right].sort()).toEqual(['fenced', 'projected']);
        expect(
          (await mutations(store, 'run')).some(
            ({ key }) => key === `${left === 'projected' ? 'left' : 'right'}-${String(seq)}`,
          ),
        ).toBe(true);
        expect(
          (await mutations(store, 'run')).some(
            ({ key }) => key === `${left === 'projected' ? 'right' : 'left'}-${String(seq)}`,
          ),
        ).toBe(false);
      }
    },

    'lets one of two first projections win, also with many rows': async ({ factory, store }) => {
      const rows = (side: string): Change[] =>
        Array.from({ length: MANY }, (_, n) => put('mutation', 'run', `${side}-${String(n)}`));
      const results = await Promise.all([
        store.project(null, headAt(1), rows('left')),
        factory.partition(CONTRACT_LOG, 0).project(null, headAt(1), rows('right')),
      ]);
      expect([...results].sort()).toEqual(['fenced', 'projected']);
      expect(await mutations(store, 'run')).toHaveLength(MANY);
    },

    'keeps partitions apart': async ({ factory, store }) => {
      const second = factory.partition(CONTRACT_LOG, 1);
      await store.project(null, headAt(1), [put('mutation', 'run', 'a')]);
      expect(await second.head()).toBeNull();
      expect(await mutations(second, 'run')).toEqual([]);
      await second.project(null, headAt(1), [put('mutation', 'run', 'a', { second: true }, 1)]);
      await second.drop();
      expect(await second.head()).toBeNull();
      expect(await second.due(10, 10)).toEqual([]);
      expect(await mutations(store, 'run')).toHaveLength(1);
    },
  },

  'a load': {
    'brings whole groups of several kinds, each once, keys in order of code points': async ({ store }) => {
      await store.project(null, headAt(1), [
        put('mutation', 'one', '\u{1F600}'),
        put('mutation', 'one', '\uFF5E'),
        put('mutation', 'one', 'a'),
        put('mutation', 'one', 'B'),
        put('mutation', 'two', 'x'),
        put('binding', 'one', 'y'),
        put('mutation', 'other', 'z'),
      ]);
      const { rows } = await store.load([
        { kind: 'mutation', group: 'one' },
        { kind: 'binding', group: 'one' },
        { kind: 'mutation', group: 'one' },
        { kind: 'mutation', group: 'gone' },
      ]);
      expect(rows.filter(({ kind }) => kind === 'mutation').map(({ key }) => key)).toEqual([
        'B',
        'a',
        '\uFF5E',
        '\u{1F600}',
      ]);
      expect(rows.map(addressOf).sort()).toEqual(
        ['binding/one/y', 'mutation/one/B', 'mutation/one/a', 'mutation/one/\uFF5E', 'mutation/one/\u{1F600}'].sort(),
      );
    },

    'tells which groups of a kind have rows, each once, a page at a time': async ({ factory, store }) => {
      await store.project(null, headAt(1), [
        ...['one', '\u{1F600}', '\uFF5E', 'B', 'gone'].map((group) => put('mutation', group, 'a')),
        put('mutation', 'one', 'b'),
        put('binding', 'other', 'a'),
      ]);
      await store.project(at(1), headAt(2), [remove('mutation', 'gone', 'a')]);
      expect(await store.groups('mutation', null, 10)).toEqual({
        headSeq: 2,
        groups: ['B', 'one', '\uFF5E', '\u{1F600}'],
      });
      expect((await store.groups('mutation', null, 2)).groups).toEqual(['B', 'one']);
      expect((await store.groups('mutation', 'one', 2)).groups).toEqual(['\uFF5E', '\u{1F600}']);
      expect(await store.groups('mutation', '\u{1F600}', 2)).toEqual({ headSeq: 2, groups: [] });
      expect(await factory.partition(CONTRACT_LOG, 1).groups('mutation', null, 2)).toEqual({
        headSeq: null,
        groups: [],
      });
    },

    'of a whole kind is ordered by group and key': async ({ store }) => {
      await store.project(null, headAt(1), [
        put('mutation', 'b', '1'),
        put('mutation', 'a', '2'),
        put('mutation', 'a', '1'),
        put('binding', 'a', '0'),
      ]);
      expect((await store.all('mutation')).map(addressOf)).toEqual(['mutation/a/1', 'mutation/a/2', 'mutation/b/1']);
    },
  },

  timers: {
    'come earliest EFFECT, ties by address, up to the limit and never early': async ({ store }) => {
      await store.project(null, headAt(1), [
        put('mutation', 'b', '1', {}, 20),
        put('mutation', 'a', '9', {}, 20),
        put('binding', 'z', '1', {}, 20),
        put('mutation', 'a', '1', {}, 10),
        put('mutation', 'c', '1', {}, 21),
        put('mutation', 'd', '1'),
      ]);
      const due = await store.due(20, 10);
      expect(due.map(({ address }) => addressOf(address))).toEqual([
        'mutation/a/1',
        'binding/z/1',
        'mutation/a/9',
        'mutation/b/1',
      ]);
      expect(due.map(({ dueAt }) => dueAt)).toEqual([10, 20, 20, 20]);
      expect(await store.due(20, 2)).toHaveLength(2);
      expect(await store.due(9.999, 10)).toEqual([]);
      expect(await store.due(10.001, 10)).toHaveLength(1);
    },
  },

  'the state hash': {
    'speaks of rows only: not of their history, of heads, or of how members were ordered': async ({
      factory,
      store,
    }) => {
      await store.project(null, headAt(1), [
        put('mutation', 'run', 'a', { x: 1, y: Buffer.from('y') }),
        put('mutation', 'run', 'gone'),
        put('binding', 'g', 'k', {}, 7),
      ]);
      await store.project(at(1), headAt(2), [remove('mutation', 'run', 'gone')]);
      const second = factory.partition(CONTRACT_LOG, 1);
      await second.project(null, headAt(5), [
        put('binding', 'g', 'k', {}, 7),
        put('mutation', 'run', 'a', { y: Buffer.from('y'), x: 1 }),
      ]);
      expect(await second.stateHash()).toBe(await store.stateHash());
    },

    'changes with a doc, a timer, a key': async ({ factory }) => {
      const hashes = new Set<string>();
      const changes = [
        put('mutation', 'r', 'a', { n: 1 }),
        put('mutation', 'r', 'a', { n: 2 }),
        put('mutation', 'r', 'a', { n: 2 }, 1),
        put('mutation', 'r', 'b', { n: 2 }, 1),
      ];
      for (const [partition, change] of changes.entries()) {
        const one = factory.partition(CONTRACT_LOG, partition + 10);
        await one.project(null, headAt(1), [change]);
        hashes.add(await one.stateHash());
      }
      expect(hashes.size).toBe(changes.length);
    },

    'is the same for the same rows in every adapter': async ({ store }) => {
      await store.project(null, headAt(1), [
        put('mutation', '\uFF5E', 'a', { text: 'é\u2028', n: -5, list: [true, null, 1.5] }),
        put('mutation', '\u{1F600}', 'b', { bytes: Buffer.from([1, 2, 3]) }, 1_700_000_000_000),
        put('binding', 'a', 'a'),
      ]);
      expect(await store.stateHash()).toBe(KNOWN_STATE_HASH);
    },

    'of nothing is that of nothing': async ({ store }) => {
      expect(await store.stateHash()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    },
  },
};
