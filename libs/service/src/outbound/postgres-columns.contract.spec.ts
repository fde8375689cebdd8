// Lists, filters and tenants go by columns: one that says another thing than its row is found by a comparison.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { withCommonKinds } from '@recourse/event-log';
import type { KindSpec } from '@recourse/event-log';
import { FIRST_HEAD as HEAD } from '../../../event-log/src/store.contract.js';
import { PostgresDatabase } from './postgres-database.js';
import { tableOf } from './postgres-schema.js';
import { openProjectedStates } from './postgres-state.js';
import type { ProjectedStates } from './postgres-state.js';
import { asAdmin, HAS_STACK, urlOf } from './postgres.testing.js';

const LOG = 'recourse.columns';
const THINGS: KindSpec = {
  kind: 'thing',
  table: 'thing',
  columns: [
    { name: 'tenant', type: 'text', of: ({ doc }) => doc['tenant'] as string | null },
    { name: 'amount', type: 'bigint', of: ({ doc }) => doc['amount'] as number },
    { name: 'open', type: 'boolean', of: ({ doc }) => doc['open'] as boolean },
    { name: 'digest', type: 'bytea', of: ({ doc }) => doc['digest'] as Buffer },
  ],
};
const LOGS = { log: LOG, kinds: withCommonKinds([THINGS]) };
const row = (key: string, tenant: string | null) => ({
  op: 'put' as const,
  row: {
    kind: 'thing',
    group: 'g',
    key,
    dueAt: null,
    doc: { tenant, amount: 7, open: true, digest: Buffer.from([1]) },
  },
});

(HAS_STACK ? describe : describe.skip)('the columns of rows', () => {
  const name = `columns_${String(process.pid)}`;
  let database: PostgresDatabase;
  let states: ProjectedStates;

  beforeAll(async () => {
    await asAdmin(`CREATE DATABASE ${name}`);
    database = await PostgresDatabase.open({ url: urlOf(name) }, [LOGS]);
    states = openProjectedStates({ url: urlOf(name) });
  });
  afterAll(async () => {
    await Promise.all([database.close(), states.close()]);
    await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
  });
  beforeEach(async () => {
    const store = database.stores.partition(LOG, 0);
    await store.drop();
    await store.project(null, HEAD, [row('k1', 'acme'), row('k2', null)]);
  });

  it('say what their rows say', async () => {
    expect((await states.read(LOGS, 0))?.strays).toEqual([]);
  });

  it.each([
    ['tenant', "'globex'"],
    ['amount', '8'],
    ['open', 'false'],
    ['digest', "'\\x02'::bytea"],
    ['tenant', 'NULL'],
  ])(
    'are told where %s was made %s behind the back of the service, which no hash of rows shows',
    async (column, value) => {
      const before = await states.read(LOGS, 0);
      await asAdmin(`UPDATE ${tableOf(LOG, 'thing')} SET ${column} = ${value} WHERE row_key = 'k1'`, name);
      const after = await states.read(LOGS, 0);
      expect(after).toMatchObject({
        stateHash: before?.stateHash,
        strays: [{ kind: 'thing', group: 'g', key: 'k1', column }],
      });
    },
  );
});
