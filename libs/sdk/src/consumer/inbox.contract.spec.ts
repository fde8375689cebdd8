import { afterAll, beforeAll, describe } from '@jest/globals';
import { createPool } from '@recourse/service';
import { inboxContract } from './inbox.contract.js';
import { MemoryInbox } from './inbox.memory.js';
import type { MemoryRows } from './inbox.memory.js';
import { PostgresInbox } from './inbox.postgres.js';

inboxContract<MemoryRows>('memory', () => {
  const inbox = new MemoryInbox();
  return Promise.resolve({
    inbox,
    reopen: () => inbox,
    other: new MemoryInbox(),
    write: (tx, key, value) => {
      tx.rows.set(key, value);
      return Promise.resolve();
    },
    read: (tx, key) => Promise.resolve(tx.rows.get(key) ?? null),
  });
});

interface TestStack {
  readonly postgres: { readonly host: string; readonly port: number; readonly user: string; readonly password: string };
}
const stack = process.env['RECOURSE_TEST_STACK'];

function poolOf(database: string): ReturnType<typeof createPool> {
  // The stack's launcher wrote it.
  const { host, port, user, password } = (JSON.parse(stack ?? '{}') as TestStack).postgres;
  return createPool({
    url: `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${String(port)}/${database}`,
    connectionsMax: 4,
  });
}

(stack ? describe : describe.skip)('on PostgreSQL', () => {
  const name = `inbox_contract_${String(process.pid)}`;
  const pools: ReturnType<typeof createPool>[] = [];
  const query = async (database: string, statement: string): Promise<void> => {
    const pool = poolOf(database);
    try {
      await pool.query(statement);
    } finally {
      await pool.end();
    }
  };

  beforeAll(() => query('postgres', `CREATE DATABASE ${name}`));
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await query('postgres', `DROP DATABASE ${name} WITH (FORCE)`);
  });

  let made = 0;
  inboxContract('PostgreSQL', async () => {
    const pool = poolOf(name);
    pools.push(pool);
    made += 1;
    const consumer = `consumer-${String(made)}`;
    const inbox = new PostgresInbox(pool, consumer);
    await Promise.all([inbox.prepare(), new PostgresInbox(pool, consumer).prepare()]);
    await pool.query('CREATE TABLE IF NOT EXISTS own_row (consumer text, key text, value text)');
    return {
      inbox,
      reopen: () => new PostgresInbox(pool, consumer),
      other: new PostgresInbox(pool, 'another'),
      write: async (tx, key, value) => {
        await tx.query('INSERT INTO own_row VALUES ($1, $2, $3)', [consumer, key, value]);
      },
      read: async (tx, key) =>
        (await tx.query('SELECT value FROM own_row WHERE consumer = $1 AND key = $2', [consumer, key])).rows.map(
          (row) => (row as { readonly value: string }).value,
        )[0] ?? null, // the statement names the column
    };
  });
});
