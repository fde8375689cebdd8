import { afterAll, beforeAll, describe } from '@jest/globals';
import { keyStoreContract } from '../../../event-log/src/sealing/key-store.contract.js';
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
