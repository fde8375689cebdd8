import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withCommonKinds } from '@recourse/event-log';
import {
  CONTRACT_KINDS,
  CONTRACT_LOG,
  describeStore,
  FIRST_HEAD as HEAD,
} from '../../../event-log/src/store.contract.js';
import { coded, createPool } from './postgres-connection.js';
import { PostgresDatabase } from './postgres-database.js';
import { asAdmin, HAS_STACK, urlOf } from './postgres.testing.js';

const LOGS = [{ log: CONTRACT_LOG, kinds: withCommonKinds(CONTRACT_KINDS) }];

(HAS_STACK ? describe : describe.skip)('on PostgreSQL', () => {
  const name = `store_contract_${String(process.pid)}`;
  let database: PostgresDatabase;

  beforeAll(async () => {
    await asAdmin(`CREATE DATABASE ${name}`);
    database = await PostgresDatabase.open({ url: urlOf(name) }, LOGS);
  });

  afterAll(async () => {
    await database.close();
    await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  describeStore({
    name: 'PostgreSQL',
    fresh: async () => {
      for (let partition = 0; partition < 20; partition += 1)
        await database.stores.partition(CONTRACT_LOG, partition).drop();
      return database.stores;
    },
  });

  it('keeps its rows when it is opened again, and by two at once', async () => {
    const store = database.stores.partition(CONTRACT_LOG, 30);
    await store.drop();
    await store.project(null, HEAD, [
      { op: 'put', row: { kind: 'mutation', group: 'g', key: 'k', dueAt: null, doc: {} } },
    ]);
    const again = await Promise.all([
      PostgresDatabase.open({ url: urlOf(name) }, LOGS),
      PostgresDatabase.open({ url: urlOf(name) }, LOGS),
    ]);
    expect(await again[0].stores.partition(CONTRACT_LOG, 30).all('mutation')).toHaveLength(1);
    await Promise.all(again.map((one) => one.close()));
  });

  it.each([
    ['one table', 'TRUNCATE mutations.mutation'],
    ['the heads', 'TRUNCATE mutations.heads'],
    ['several at once', 'TRUNCATE mutations.mutation, mutations.heads, mutations.parked'],
  ])('holds nothing, and no head, once somebody emptied %s: it is filled from the log again', async (_, statement) => {
    const stores = [31, 32].map((partition) => database.stores.partition(CONTRACT_LOG, partition));
    const rows = ['mutation', 'parked'] as const;
    for (const store of stores) {
      await store.drop();
      await store.project(
        null,
        HEAD,
        rows.map((kind) => ({ op: 'put', row: { kind, group: 'g', key: 'k', dueAt: null, doc: {} } })),
      );
    }
    await asAdmin(statement, name);
    for (const store of stores) {
      expect(await store.head()).toBeNull();
      for (const kind of rows) expect(await store.all(kind)).toEqual([]);
    }
  });

  it('is made anew when it was dropped while it is open, by two at once, and so are tables that were', async () => {
    const other = `${name}_dropped`;
    await asAdmin(`CREATE DATABASE ${other}`);
    const opened = await Promise.all([1, 2].map(() => PostgresDatabase.open({ url: urlOf(other) }, LOGS)));
    const stores = opened.map((one) => one.partition(CONTRACT_LOG, 0));
    const again = async <T>(work: () => Promise<T>): Promise<T> => {
      for (let turn = 0; turn < 50; turn += 1) {
        const done = await work().then(
          (value) => ({ value }),
          () => null,
        );
        if (done !== null) return done.value;
      }
      throw new Error('it was not made anew');
    };
    for (const drop of [
      async () => {
        await asAdmin(`DROP DATABASE ${other} WITH (FORCE)`);
        await asAdmin(`CREATE DATABASE ${other}`);
      },
      () => asAdmin('DROP SCHEMA mutations CASCADE', other),
    ]) {
      for (const store of stores) expect(await store.head()).toBeNull();
      expect(await stores[0]?.project(null, HEAD, [])).toBe('projected');
      await drop();
      const heads = await Promise.all(stores.map((store) => again(() => store.load([]))));
      expect(heads.map(({ headSeq }) => headSeq)).toEqual([null, null]);
    }
    await Promise.all(opened.map((one) => one.close()));
    await asAdmin(`DROP DATABASE ${other} WITH (FORCE)`);
  }, 60_000);

  it('starts empty when a kind changes shape or its rows their edition, and again when it changes back', async () => {
    const other = `${name}_shape`;
    await asAdmin(`CREATE DATABASE ${other}`);
    const shapes = [LOGS, [{ log: CONTRACT_LOG, kinds: withCommonKinds(CONTRACT_KINDS.slice(0, 1)) }], LOGS];
    shapes.push(...[2, 3].map((edition) => LOGS.map((one) => ({ ...one, edition }))), LOGS);
    for (const shape of shapes) {
      const opened = await PostgresDatabase.open({ url: urlOf(other) }, shape);
      const store = opened.stores.partition(CONTRACT_LOG, 0);
      expect(await store.head()).toBeNull();
      expect(
        await store.project(null, HEAD, [
          { op: 'put', row: { kind: 'mutation', group: 'g', key: 'k', dueAt: null, doc: {} } },
        ]),
      ).toBe('projected');
      await opened.close();
    }
    await asAdmin(`DROP DATABASE ${other} WITH (FORCE)`);
  });

  it('changes no row of the tables by which another edition replaced its own, and puts its own in their place at a start alone', async () => {
    const other = `${name}_rolling`;
    await asAdmin(`CREATE DATABASE ${other}`);
    const put = { op: 'put', row: { kind: 'mutation', group: 'g', key: 'k', dueAt: null, doc: {} } } as const;
    const next = { ...HEAD, seq: HEAD.seq + 1 };
    const older = await PostgresDatabase.open({ url: urlOf(other) }, LOGS);
    const before = older.partition(CONTRACT_LOG, 0);
    expect(await before.project(null, HEAD, [put])).toBe('projected');
    const newer = await PostgresDatabase.open(
      { url: urlOf(other) },
      LOGS.map((one) => ({ ...one, edition: 2 })),
    );
    const after = newer.partition(CONTRACT_LOG, 0);
    // As an instance that still holds the partition goes on; that begins it anew; that is given one which the newer had.
    expect(await before.project(HEAD, next, [put])).toBe('fenced');
    expect(await before.head()).toBeNull();
    await expect(before.project(null, HEAD, [put])).rejects.toMatchObject({ code: 'TABLES_REPLACED' });
    expect(await after.all('mutation')).toEqual([]);
    expect(await after.project(null, HEAD, [put])).toBe('projected');
    await expect(before.head()).rejects.toMatchObject({ code: 'TABLES_REPLACED' });
    await expect(before.project(HEAD, next, [put])).rejects.toMatchObject({ code: 'TABLES_REPLACED' });
    expect((await after.head())?.seq).toBe(HEAD.seq);
    // Nor does it make its own where the newer's are gone; who starts does.
    await asAdmin('DROP SCHEMA mutations CASCADE', other);
    await expect(before.head()).rejects.toMatchObject({ code: 'TABLES_REPLACED' });
    await expect(after.head()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(await after.head()).toBeNull();
    await (await PostgresDatabase.open({ url: urlOf(other) }, LOGS)).close();
    expect(await before.head()).toBeNull();
    await expect(after.project(null, HEAD, [])).rejects.toMatchObject({ code: 'TABLES_REPLACED' });
    await Promise.all([older.close(), newer.close()]);
    await asAdmin(`DROP DATABASE ${other} WITH (FORCE)`);
  });

  it('answers pages by columns, in order, without repeating a row', async () => {
    const store = database.stores.partition(CONTRACT_LOG, 31);
    await store.drop();
    const rows = Array.from(
      { length: 7 },
      (_, n) =>
        ({
          op: 'put',
          row: {
            kind: 'mutation',
            group: `paged-${String(n)}`,
            key: 'k',
            dueAt: null,
            doc: { tenant: n < 5 ? 'acme' : 'other', open: true },
          },
        }) as const,
    );
    await store.project(null, HEAD, rows);
    const query = { log: CONTRACT_LOG, kind: 'mutation', where: { tenant: 'acme', open: true }, limit: 3 };
    const first = await database.page(query);
    const second = await database.page({ ...query, after: first.next ?? undefined });
    expect([...first.rows, ...second.rows].map(({ group }) => group)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `paged-${String(n)}`),
    );
    expect(second.next).toBeNull();
  });

  it('finds the row of a command by its id alone', async () => {
    const store = database.stores.partition(CONTRACT_LOG, 32);
    await store.drop();
    await store.project(null, HEAD, [
      {
        op: 'put',
        row: {
          kind: 'command',
          group: 'cmd_1',
          key: 'cmd_1',
          dueAt: null,
          doc: { command_id: 'cmd_1', status: 'accepted' },
        },
      },
    ]);
    expect((await database.commandRow(CONTRACT_LOG, 'cmd_1'))?.doc).toEqual({
      command_id: 'cmd_1',
      status: 'accepted',
    });
    expect(await database.commandRow(CONTRACT_LOG, 'cmd_2')).toBeNull();
    const many = Array.from({ length: 2_000 }, (_, n) => database.commandRow(CONTRACT_LOG, `cmd_${String(n)}`));
    expect((await Promise.all(many)).map((row) => row?.group ?? null).filter((group) => group !== null)).toEqual([
      'cmd_1',
    ]);
  });

  it('says DATABASE_UNAVAILABLE when nobody answers', async () => {
    const pool = createPool({ url: 'postgres://nobody@127.0.0.1:1/none' });
    await expect(coded('ask', () => pool.query('SELECT 1'))).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await pool.end();
  });
});
