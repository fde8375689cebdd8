import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { notifierStoreContract } from './notifier-store.contract.js';
import { MemoryNotifierStore } from './notifier-store.memory.js';
import { PostgresNotifierStore } from './notifier-store.postgres.js';

interface TestStack {
  readonly postgres: { readonly host: string; readonly port: number; readonly user: string; readonly password: string };
}

const stack = process.env['RECOURSE_TEST_STACK'];

function urlOf(database: string): string {
  // The stack's launcher wrote it.
  const { host, port, user, password } = (JSON.parse(stack ?? '{}') as TestStack).postgres;
  return `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${String(port)}/${database}`;
}

async function query(database: string, statement: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: urlOf(database) });
  await client.connect();
  try {
    return (await client.query<object>(statement)).rows;
  } finally {
    await client.end();
  }
}

notifierStoreContract('memory', () => {
  const store = new MemoryNotifierStore();
  return Promise.resolve([store, store]);
});

(stack ? describe : describe.skip)('on PostgreSQL', () => {
  const name = `notifier_contract_${String(process.pid)}`;
  const stores: PostgresNotifierStore[] = [];

  beforeAll(async () => {
    await query('postgres', `CREATE DATABASE ${name}`);
    // Two that start together migrate one after the other.
    stores.push(
      ...(await Promise.all([PostgresNotifierStore.open(urlOf(name)), PostgresNotifierStore.open(urlOf(name))])),
    );
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await query('postgres', `DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('gives breakers that an earlier version kept the names of their runs, and so the notices about them', async () => {
    const breaker = JSON.stringify({ thing: 'breaker', id: 'brk-1', runId: 'run-1', item: null });
    await query(name, "DELETE FROM migrations WHERE name LIKE 'BreakersByRun%'");
    await query(name, `INSERT INTO things VALUES ('breaker:brk-1', '${breaker}'), ('task:t-1', '{"thing":"task"}')`);
    await query(
      name,
      "INSERT INTO deliveries (id, endpoint, tenant, thing_key, opening, occasion, notice, state, attempts, due_at, next_at, updated_at) VALUES ('d-1', 'desk', 'acme', 'breaker:brk-1', 'log/0/1', 'opened', '{}', 'queued', 0, 1, 1, 1)",
    );
    const store = await PostgresNotifierStore.open(urlOf(name));
    await store.close();
    const rows = await query(
      name,
      'SELECT thing_key FROM things UNION ALL SELECT thing_key FROM deliveries ORDER BY thing_key',
    );
    expect(rows).toEqual(
      ['breaker:brk-1:run-1', 'breaker:brk-1:run-1', 'task:t-1'].map((thing_key) => ({ thing_key })),
    );
  });

  it('knows of no accepted loss, nor that there was none, in a position that an earlier version kept', async () => {
    await query(name, "DELETE FROM migrations WHERE name LIKE 'KnownCuts%'");
    await query(name, 'ALTER TABLE read_positions DROP COLUMN cuts');
    await query(name, "INSERT INTO read_positions VALUES ('recourse.budgets', 0, 7, '\\x07', 9)");
    const store = await PostgresNotifierStore.open(urlOf(name));
    const position = await store.position('recourse.budgets', 0);
    await store.close();
    expect(position).toEqual({ seq: 7, hash: Buffer.of(7), offset: 9, cuts: null });
  });

  it.each([
    ['all of them', 'read_positions, things, deliveries, endpoints_off, migrations', []],
    ['one of them', 'things', ['d-9']],
  ])(
    'has its tables again when they were dropped while it is open, to be read anew, and keeps notices that stand: %s',
    async (_which, tables, kept) => {
      const [one, other] = stores;
      if (one === undefined || other === undefined) throw new Error('two stores were opened');
      await query(name, "INSERT INTO read_positions VALUES ('recourse.dropped', 0, 7, '\\x07', 9)");
      await query(
        name,
        "INSERT INTO deliveries (id, endpoint, tenant, occasion, notice, state, attempts, due_at, next_at, updated_at) VALUES ('d-9', 'desk', 'acme', 'told', '{}', 'queued', 0, 1, 1, 1)",
      );
      await query(name, `DROP TABLE ${tables}`);
      const missed = await Promise.allSettled([one.things(['task:t-1']), other.things(['task:t-1'])]);
      expect(missed).toMatchObject(
        [0, 1].map(() => ({ status: 'rejected', reason: { code: 'DATABASE_UNAVAILABLE' } })),
      );
      expect(await one.things(['task:t-1'])).toEqual([]);
      expect(await one.keptSeqs()).toEqual(new Map());
      expect(await one.queuedOnce(['d-9'])).toEqual(kept);
    },
  );

  notifierStoreContract('PostgreSQL', async () => {
    await query(name, 'TRUNCATE read_positions, things, deliveries, endpoints_off');
    const [one, other] = stores;
    if (one === undefined || other === undefined) throw new Error('two stores were opened');
    return [one, other];
  });
});
