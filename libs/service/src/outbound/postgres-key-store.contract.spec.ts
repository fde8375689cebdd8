import { afterAll, beforeAll, describe } from '@jest/globals';
import { Client } from 'pg';
import { keyStoreContract } from '../../../event-log/src/sealing/key-store.contract.js';
import { PostgresKeyStore } from './postgres-key-store.js';

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

(stack ? describe : describe.skip)('on PostgreSQL', () => {
  const name = `key_store_contract_${String(process.pid)}`;
  const stores: PostgresKeyStore[] = [];

  beforeAll(() => query('postgres', `CREATE DATABASE ${name}`));
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await query('postgres', `DROP DATABASE ${name} WITH (FORCE)`);
  });

  keyStoreContract({
    name: 'PostgreSQL',
    fresh: async () => {
      await query(name, 'DROP TABLE IF EXISTS sealing_key');
      const pair = [new PostgresKeyStore({ url: urlOf(name) }), new PostgresKeyStore({ url: urlOf(name) })] as const;
      stores.push(...pair);
      return pair;
    },
  });
});
