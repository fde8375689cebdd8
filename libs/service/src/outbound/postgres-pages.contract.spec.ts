// Pages for people on a real PostgreSQL: what happens while others read all the while.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withCommonKinds } from '@recourse/event-log';
import { Client } from 'pg';
import { CONTRACT_KINDS, CONTRACT_LOG, FIRST_HEAD } from '../../../event-log/src/store.contract.js';
import { PAGES } from './postgres-connection.js';
import { PostgresDatabase } from './postgres-database.js';
import { tableOf } from './postgres-schema.js';
import { asAdmin, HAS_STACK, urlOf } from './postgres.testing.js';

const LOGS = [{ log: CONTRACT_LOG, kinds: withCommonKinds(CONTRACT_KINDS) }];
const OF_MUTATIONS = { log: CONTRACT_LOG, kind: 'mutation', where: {}, limit: 1 };
const OF_COMMANDS = { log: CONTRACT_LOG, kind: 'command', where: { row_key: 'c' }, limit: 1 };

(HAS_STACK ? describe : describe.skip)('while lists have every connection they may take', () => {
  const name = `pages_${String(process.pid)}`;
  let database: PostgresDatabase;
  let holder: Client;
  let lists: Promise<unknown>;

  beforeAll(async () => {
    await asAdmin(`CREATE DATABASE ${name}`);
    database = await PostgresDatabase.open({ url: urlOf(name) }, LOGS);
    await database
      .partition(CONTRACT_LOG, 0)
      .project(null, FIRST_HEAD, [{ op: 'put', row: { kind: 'command', group: 'c', key: 'c', dueAt: null, doc: {} } }]);
    holder = new Client({ connectionString: urlOf(name) });
    await holder.connect();
    await holder.query(`BEGIN; LOCK TABLE ${tableOf(CONTRACT_LOG, 'mutation')} IN ACCESS EXCLUSIVE MODE`);
    lists = Promise.all(
      Array.from({ length: PAGES.connectionsMax }, () => database.page(OF_MUTATIONS).catch(() => null)),
    );
  });

  afterAll(async () => {
    await holder.end();
    await database.close();
    await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('a thing that somebody decides about is found all the same, and another list hears that others read', async () => {
    const found = database.page({ ...OF_COMMANDS, isOne: true });
    const another = database.page(OF_COMMANDS);
    await expect(found).resolves.toMatchObject({ rows: [{ key: 'c' }] });
    await expect(another).rejects.toMatchObject({ code: 'READS_BUSY' });
    await holder.query('ROLLBACK');
    await lists;
    expect((await database.page(OF_COMMANDS)).rows).toHaveLength(1);
  });
});
