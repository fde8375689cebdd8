import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { keyStoreContract } from '../../../event-log/src/sealing/key-store.contract.js';
import { SECRET_BYTES } from '../../../event-log/src/sealing/keys.js';
import { PostgresKeyStore } from './postgres-key-store.js';
import { asAdmin, HAS_STACK, urlOf } from './postgres.testing.js';

(HAS_STACK ? describe : describe.skip)('on PostgreSQL', () => {
  const name = `key_store_contract_${String(process.pid)}`;
  const stores: PostgresKeyStore[] = [];

  beforeAll(() => asAdmin(`CREATE DATABASE ${name}`));
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('makes no table where it is only asked, and finds the keys that are there', async () => {
    const [asked, making] = [
      new PostgresKeyStore({ url: urlOf(name), isAskedOnly: true }),
      new PostgresKeyStore({ url: urlOf(name) }),
    ];
    stores.push(asked, making);
    await asAdmin('DROP TABLE IF EXISTS sealing_key', name);
    await expect(asked.find(['key'])).rejects.toMatchObject({ code: 'KEY_STORE_UNAVAILABLE' });
    const scope = { tenant: 'acme', subject: 'order', windowStart: 0, windowEnd: 1 };
    const [made] = await making.ensure([{ scope, candidate: Buffer.alloc(SECRET_BYTES, 3) }]);
    expect(await asked.find([made?.keyId ?? ''])).toEqual([made]);
  });

  it('waits for nobody who reads a table that is whole, such as a copy of it, and gives an old one what it lacks', async () => {
    const scope = { tenant: 'acme', subject: 'order', windowStart: 0, windowEnd: 1 };
    const made = async (): Promise<unknown> => {
      const store = new PostgresKeyStore({ url: urlOf(name) });
      stores.push(store);
      return (await store.ensure([{ scope, candidate: Buffer.alloc(SECRET_BYTES, 3) }]))[0]?.keyId;
    };
    await asAdmin('DROP TABLE IF EXISTS sealing_key', name);
    const id = await made();
    await asAdmin('ALTER TABLE sealing_key DROP COLUMN unit', name);
    expect(await made()).toBe(id);
    const copying = new Client({ connectionString: urlOf(name) });
    await copying.connect();
    try {
      await copying.query('BEGIN');
      await copying.query('SELECT count(*) FROM sealing_key');
      expect(await made()).toBe(id);
    } finally {
      await copying.end();
    }
  });

  it('gives a key that is made where another was lost another id, and the one that was lost its own', async () => {
    await asAdmin('DROP TABLE IF EXISTS sealing_key', name);
    const store = new PostgresKeyStore({ url: urlOf(name) });
    stores.push(store);
    const scope = { tenant: 'acme', subject: 'order', windowStart: 0, windowEnd: 1 };
    const made = async (fill: number): Promise<string> => {
      const [key] = await store.ensure([{ scope, candidate: Buffer.alloc(SECRET_BYTES, fill) }]);
      return key?.keyId ?? '';
    };
    const first = await made(3);
    await asAdmin('TRUNCATE sealing_key', name);
    const second = await made(4);
    expect(second).not.toBe(first);
    expect(await store.find([first])).toEqual([]);
    await asAdmin('TRUNCATE sealing_key', name);
    expect(await made(3)).toBe(first);
  });

  keyStoreContract({
    name: 'PostgreSQL',
    fresh: async () => {
      await asAdmin('DROP TABLE IF EXISTS sealing_key', name);
      const pair = [new PostgresKeyStore({ url: urlOf(name) }), new PostgresKeyStore({ url: urlOf(name) })] as const;
      stores.push(...pair);
      return pair;
    },
  });
});
