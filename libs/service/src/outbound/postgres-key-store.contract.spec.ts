import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
