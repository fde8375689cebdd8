import { afterAll, beforeAll, describe } from '@jest/globals';
import { presenceContract } from '../../../event-log/src/presence.contract.js';
import { PostgresPresence } from './postgres-presence.js';
import { asAdmin, HAS_STACK, urlOf } from './postgres.testing.js';

(HAS_STACK ? describe : describe.skip)('on PostgreSQL', () => {
  const name = `presence_contract_${String(process.pid)}`;
  const opened: PostgresPresence[] = [];
  const open = (): PostgresPresence => {
    const presence = new PostgresPresence(urlOf(name));
    opened.push(presence);
    return presence;
  };
  /** What a killed process leaves: a connection that ended without a word. */
  const cut = (whose: 'newest' | 'oldest'): Promise<unknown> =>
    asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = '${name}' AND application_name LIKE 'recourse-here/%'
             ORDER BY backend_start ${whose === 'newest' ? 'DESC' : 'ASC'} LIMIT 1`);

  /** A connection that was closed may be listed a moment longer, as the oldest. */
  const END_LEFT = `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`;

  beforeAll(() => asAdmin(`CREATE DATABASE ${name}`));
  afterAll(async () => {
    await Promise.all(opened.map((presence) => presence.close()));
    await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  presenceContract('PostgreSQL', async () => {
    await Promise.all(opened.splice(0).map((presence) => presence.close()));
    await asAdmin(END_LEFT);
    return {
      one: open(),
      other: open(),
      die: async () => {
        await cut('newest');
      },
      cutOff: async () => {
        await cut('oldest');
        await new Promise((resolve) => {
          setTimeout(resolve, 100);
        });
      },
      reconnect: () => Promise.resolve(),
    };
  });
});
