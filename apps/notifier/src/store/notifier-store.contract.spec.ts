import { afterAll, beforeAll, describe } from '@jest/globals';
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

async function query(database: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: urlOf(database) });
  await client.connect();
  try {
    await client.query(statement);
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

  notifierStoreContract('PostgreSQL', async () => {
    await query(name, 'TRUNCATE read_positions, things, deliveries, endpoints_off');
    const [one, other] = stores;
    if (one === undefined || other === undefined) throw new Error('two stores were opened');
    return [one, other];
  });
});
