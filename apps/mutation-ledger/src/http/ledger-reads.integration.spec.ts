// Reads of the ledger over HTTP on a real PostgreSQL, for two tenants that use the same run id.
import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { rollbackIdOf } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import { createDatabase, dropDatabase, sharedTestStack } from '@recourse/dev-stack';
import type { DatabaseAddress, TestStack } from '@recourse/dev-stack';
import { withCommonKinds } from '@recourse/event-log';
import type { ServiceCore } from '@recourse/event-log';
import { deriveId } from '@recourse/kernel';
import { accessOf, createEdge, Limits, createPool, PostgresDatabase, ServiceModule } from '@recourse/service';
import type { Principal, ServiceContext } from '@recourse/service';
import { Metrics } from '@recourse/telemetry';
import type { ToolExecuted } from '@recourse/messages';
import { Client } from 'pg';
import {
  callFor,
  dispatchedOf,
  settledOf,
  triggerOf,
  executed,
  HOUR_MS,
  intent,
  ledger,
  planned,
  refund,
  REFUND_DIGEST,
} from '../core/ledger.testing.js';
import { mutationIdOf, mutationsCore } from '../core.js';
import { AGENT_EFFECTS_VIEW } from '../reads/agent-effects.view.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import { MUTATIONS_LOG, pageQuery } from '../reads/mutation-statements.js';
import { compensationIdOf } from '../rules/compensation/compensation.decider.js';
import { CommitsController } from './commits.controller.js';
import { CompensationsController } from './compensations.controller.js';
import { EffectsController } from './effects.controller.js';
import { AssumptionListsController, MutationListsController, MutationsController } from './mutations.controller.js';
import { LEDGER_VERBS } from './verbs.controllers.js';
import { ReportsController } from './reports.controller.js';
import { ResolveController } from './resolve.controller.js';

type Facts = Readonly<Record<string, unknown>>;
interface Reply {
  readonly status: number;
  readonly body: Facts;
}

const NAME = `ledger_reads_${String(process.pid)}`;
const LOGS = [{ log: MUTATIONS_LOG, kinds: withCommonKinds(mutationsCore().kinds), views: [AGENT_EFFECTS_VIEW] }];
const NOW = Date.now();
const RUN = 'run-1';
const COLUMNS = [
  'id',
  'run_id',
  'step_id',
  'tool_name',
  'effect_key',
  'idempotency_key',
  'arguments',
  'result',
  'external_ref',
  'status',
  'compensation_mode',
  'compensation_args',
  'compensation_attempts',
  'last_error',
  'created_at',
  'updated_at',
];
/** Rows that tell whether an index is used; 10 million on request (C23). */
const GENERATED = Number(process.env['RECOURSE_EFFECT_ROWS'] ?? 50_000);

const of = (tenant: string, effectKey: string, amount: number, more: Partial<ToolExecuted> = {}): ToolExecuted =>
  refund({
    event_id: `ev-${tenant}-${effectKey}`,
    tenant,
    effect_key: effectKey,
    idempotency_key: `key-${effectKey}`,
    committed_at: NOW - 1_000,
    args: plainPayload({ order_id: effectKey, amount_minor: amount, currency: 'INR' }),
    ...more,
  });
const HELD = of('acme', 'a-1', 4_200);
const UNDONE = of('acme', 'a-2', 1_000);
const WAITING = of('acme', 'a-3', 700);
const EARLIER = of('acme', 'a-4', 300, { run_id: 'run-2', committed_at: NOW - 600_000 });
const LOST = of('acme', 'a-5', 900, { outcome: 'uncertain', result: null, external_transaction_ref: null });
const PLANNED = intent({ event_id: 'plan', tenant: 'acme', effect_key: 'a-6', planned_at: NOW });
const THEIRS = of('other', 'b-1', 5_000);

const ids = (...events: readonly Pick<ToolExecuted, 'tenant' | 'run_id' | 'effect_key'>[]): readonly string[] =>
  events.map(mutationIdOf).sort();
const rollbackOf = (event: ToolExecuted): string => rollbackIdOf('acme', mutationIdOf(event));
const about = (event: ToolExecuted) => ({
  tenant: event.tenant,
  run_id: event.run_id,
  mutation_id: mutationIdOf(event),
  step_id: 's',
  recovery_id: 'r',
});
const fallen = (event: ToolExecuted) => triggerOf(event.run_id, mutationIdOf(event), event.tenant);
const verified = (event: ToolExecuted) =>
  settledOf(about(event), {
    attempt: 2,
    outcome: 'compensated',
    reason: 'VERIFIED',
    observations: [],
    call: callFor(mutationIdOf(event)),
  });
const dispatched = (event: ToolExecuted, attempt: number) => dispatchedOf(about(event), attempt);

/** The records of a day: what is held, undone at the second attempt, waiting to be undone, uncertain, planned, and another tenant's. */
function history() {
  const { run } = ledger();
  for (const event of [HELD, UNDONE, WAITING, EARLIER, LOST, THEIRS]) run.when(executed(event), NOW);
  run
    .when(planned(PLANNED), NOW)
    .when(fallen(UNDONE), NOW + 1)
    .when(fallen(WAITING), NOW + 2)
    .when(fallen(THEIRS), NOW + 3);
  return run
    .when(dispatched(UNDONE, 1), NOW + 4)
    .when(dispatched(UNDONE, 2), NOW + 5)
    .when(verified(UNDONE), NOW + 6);
}

let stack: TestStack;
let address: DatabaseAddress;
let database: PostgresDatabase;
let app: NestFastifyApplication;
let isReached = true;
type ToldOn = NonNullable<Parameters<ServiceContext['projection']['isReached']>[1]>;
/** Whether the rows hold what was told on a wire, by what is asked about. */
let isHeard: (told: ToldOn) => boolean = () => true;
const day = history();

beforeAll(async () => {
  stack = await sharedTestStack();
  address = await createDatabase(stack, NAME, NAME, 'secret');
  database = await PostgresDatabase.open({ url: address.url }, LOGS);
  const head = {
    seq: 1,
    hash: Buffer.alloc(32, 1),
    offset: 1,
    decidedAt: 1,
    cursors: [],
    reactedSeq: 0,
    reactedOffset: 0,
  };
  await database.stores.partition(MUTATIONS_LOG, 0).project(
    null,
    head,
    day.rows().map((row) => ({ op: 'put', row }) as const),
  );
  app = await start();
}, 400_000);

afterAll(async () => {
  await app.close();
  await database.close();
  await dropDatabase(stack, NAME);
  await stack.stop();
}, 60_000);

/** The ledger's controllers over the projection; a bearer token here is `tenant role`. */
async function start(): Promise<NestFastifyApplication> {
  const context = {
    definition: {
      name: 'mutation-ledger',
      cores: [{ log: MUTATIONS_LOG, kinds: withCommonKinds(mutationsCore().kinds) } as unknown as ServiceCore],
      commandTopic: 'recourse.ledger-commands',
      commandLog: MUTATIONS_LOG,
    },
    host: {
      page: (query) => database.page(query),
      commandRow: () => Promise.resolve(null),
      partition: (log, partition) => database.partition(log, partition),
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
    },
    edge: { submit: () => Promise.reject(new Error('reads submit nothing')), lookUp: () => Promise.resolve(null) },
    projection: { isReached: (_log, told) => Promise.resolve(told === undefined ? isReached : isHeard(told)) },
    metrics: new Metrics(),
    partitionCount: () => Promise.resolve(1),
    onError: () => undefined,
    keys: { destroy: () => Promise.resolve(0), destroyUnits: () => Promise.resolve(0) },
    shown: (docs) => Promise.resolve(docs),
    limits: new Limits(),
    access: accessOf('mutation-ledger'),
    authenticate: (authorization): Promise<Principal> => {
      const [tenant = '', role = ''] = (authorization ?? '').split(' ').slice(1);
      return Promise.resolve({ subject: 'dana', tenant, roles: [role] });
    },
  } satisfies ServiceContext;
  const queries = {
    provide: LedgerQueries,
    useFactory: () => new LedgerQueries(createPool({ url: address.url, connectionsMax: 2 })),
  };
  const made = await createEdge(
    'mutation-ledger',
    ServiceModule.forService(
      context,
      [
        CommitsController,
        MutationsController,
        MutationListsController,
        ...LEDGER_VERBS,
        AssumptionListsController,
        EffectsController,
        CompensationsController,
        ResolveController,
        ReportsController,
      ],
      [queries],
    ),
    { bodyBytesMax: 200_000, docs: 'token' },
  );
  await made.init();
  await made.getHttpAdapter().getInstance().ready();
  return made;
}

async function get(path: string, token = 'acme operator'): Promise<Reply> {
  const answer = await app.inject({ method: 'GET', url: `/v1/${path}`, headers: { authorization: `Bearer ${token}` } });
  return { status: answer.statusCode, body: answer.json<Facts>() };
}

const items = ({ body }: Reply): readonly Facts[] => body['items'] as readonly Facts[]; // every list answer has them
const listed = async (path: string, token?: string): Promise<readonly unknown[]> =>
  items(await get(path, token))
    .map((item) => item['mutation_id'] ?? item['id'])
    .sort();

/** Items of every page, one a page. */
async function walk(path: string): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await get(
      `${path}${path.includes('?') ? '&' : '?'}limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    seen.push(...items(page).map((item) => item['mutation_id'] ?? item['id']));
    cursor = page.body['next_cursor'] as string | null; // every list answer has one
  }
  return seen;
}

async function sql(text: string): Promise<readonly Facts[]> {
  const client = new Client({ connectionString: address.url });
  await client.connect();
  try {
    return (await client.query<Facts>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Inserts many rows and then makes the indexes anew as they were: less work than keeping them up. */
async function withoutIndexes(insert: string): Promise<void> {
  const indexes = await sql(
    `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'mutations' AND tablename = 'mutation' AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
  );
  const drops = indexes.map(({ indexname }) => `DROP INDEX mutations."${String(indexname)}"`);
  const makes = indexes.map(({ indexdef }) => String(indexdef));
  await sql(
    ['SET synchronous_commit = off', "SET maintenance_work_mem = '512MB'", ...drops, insert, ...makes].join(';'),
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

describe('the list of mutations', () => {
  it.each([
    ['mutations', ids(HELD, UNDONE, WAITING, EARLIER, LOST, PLANNED)],
    [`mutations?run_id=${EARLIER.run_id}`, ids(EARLIER)],
    ['mutations?state=compensated', ids(UNDONE)],
    ['mutations?execution=uncertain', ids(LOST)],
    ['mutations?subject=a-3', ids(WAITING)],
    ['mutations?capability=payments.issue_refund&state=reversal_available&run_id=run-1', ids(HELD, WAITING)],
    ['mutations?capability=payments.other', []],
  ])('answers %s', async (path, expected) => {
    expect(await listed(path)).toEqual(expected);
  });

  it.each(['mutations', 'effects', 'agent-effects', 'agent-effects?status=succeeded', 'horizon'])(
    'shows each row of %s once, page by page',
    async (path) => {
      const whole = items(await get(path)).map((item) => item['mutation_id'] ?? item['id']);
      expect(whole.length).toBeGreaterThan(1);
      expect(await walk(path)).toEqual(whole);
    },
  );

  it('is of its tenant alone, and of the run that is named, where the newest are asked for', async () => {
    const told = items(await get('effects'));
    expect(told.map((item) => item['mutation_id']).sort()).toEqual(ids(HELD, UNDONE, WAITING, EARLIER, LOST, PLANNED));
    expect(await listed('effects', 'other operator')).toEqual(ids(THEIRS));
    expect(await listed(`effects?run_id=${EARLIER.run_id}`)).toEqual(ids(EARLIER));
  });

  const theirs = Buffer.from(JSON.stringify(['updated', 1, 'x'])).toString('base64url');
  it.each(
    ['mutations', 'effects', 'agent-effects', 'horizon'].flatMap((path) =>
      [
        'rubbish',
        theirs,
        Buffer.from('["expiry",-1,"x"]').toString('base64url'),
        Buffer.from('["expiry",1,"\\u0000"]').toString('base64url'),
      ].map((cursor) => [path, cursor] as const),
    ),
  )('of %s refuses the cursor %s', async (path, cursor) => {
    expect(await get(`${path}?cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { code: 'INPUT_INVALID', problems: [{ code: 'CURSOR_INVALID', path: '/cursor' }] },
    });
  });

  it.each([
    'mutations?limit=0',
    'mutations?limit=501',
    'agent-effects?limit=0',
    'horizon?limit=501',
    'horizon?within_ms=0',
    'mutations?state=nothing',
    'agent-effects?status=done',
    'mutations?wish=1',
  ])('refuses %s', async (path) => {
    expect(await get(path)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } });
  });
});

describe('one mutation', () => {
  it('comes with its place in the log and the hashes that prove what was bound', async () => {
    const record = day
      .records()
      .find(({ type, body }) => type === 'MutationRecorded' && body['mutation_id'] === mutationIdOf(HELD));
    const { status, body } = await get(`mutations/${mutationIdOf(HELD)}`);
    const ref = body['ref'] as Facts; // an execution that was accepted has one
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        run_id: RUN,
        status: 'succeeded',
        ref: { mutation_id: mutationIdOf(HELD), reversal_capability: 'payments.reverse_refund' },
      },
    });
    expect(body['proof']).toMatchObject({
      log: MUTATIONS_LOG,
      partition: 0,
      seq: record?.seq,
      recorded_hash: record?.hash.toString('hex'),
      contract_digest: REFUND_DIGEST.toString('hex'),
      bound_args_sha256: (ref['reversal_args'] as Facts)['sha256'],
    });
  });

  it('that is only planned proves nothing yet', async () => {
    expect(await get(`mutations/${mutationIdOf(PLANNED)}`)).toMatchObject({
      status: 200,
      body: { status: 'planned', proof: null },
    });
  });
});

describe('the effects of agents', () => {
  it('are sixteen columns, the same in SQL as over HTTP', async () => {
    const rows = await sql(
      `SELECT * FROM mutations.agent_effects WHERE run_id = '${RUN}' AND id = '${mutationIdOf(UNDONE)}'`,
    );
    expect(Object.keys(rows[0] ?? {})).toEqual(COLUMNS);
    const told = items(await get(`agent-effects?run_id=${RUN}&status=compensated`));
    expect(Object.keys(told[0] ?? {})).toEqual(COLUMNS);
    expect(told).toMatchObject([
      {
        id: mutationIdOf(UNDONE),
        tool_name: 'payments.issue_refund',
        step_id: 'refund',
        external_ref: 're_1',
        status: 'compensated',
        compensation_attempts: 2,
        last_error: null,
      },
    ]);
    const payload = ({ body }: Facts): Buffer => Buffer.from(JSON.stringify(body));
    const bytes = (value: unknown): unknown =>
      Buffer.isBuffer(value)
        ? JSON.parse(value.toString('utf8'))
        : typeof value === 'string' && /^\d{13}$/.test(value)
          ? Number(value)
          : value;
    const asTold = Object.fromEntries(
      Object.entries(told[0] ?? {}).map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null ? bytes(payload(value as Facts)) : value,
      ]),
    );
    expect(Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, bytes(value)]))).toEqual(
      asTold,
    );
  });

  it.each([
    ['succeeded', [...ids(HELD, EARLIER), compensationIdOf('acme', RUN, mutationIdOf(UNDONE))].sort()],
    ['compensation_pending', ids(WAITING)],
    ['compensated', ids(UNDONE)],
    ['uncertain', ids(LOST)],
    ['planned', ids(PLANNED)],
    ['manual_review', []],
  ])('of status %s are found', async (status, expected) => {
    expect(await listed(`agent-effects?status=${status}`)).toEqual(expected);
  });

  it('hold what was executed to undo one, alike in SQL and over HTTP (A62)', async () => {
    const id = compensationIdOf('acme', RUN, mutationIdOf(UNDONE));
    const [told] = items(await get('agent-effects?status=succeeded')).filter((item) => item['id'] === id);
    expect(told).toMatchObject({
      tool_name: 'payments.reverse_refund',
      effect_key: `rev_${mutationIdOf(UNDONE)}`,
      status: 'succeeded',
      compensation_mode: null,
      last_error: null,
    });
    expect(await sql(`SELECT id, run_id, tool_name, status FROM mutations.agent_effects WHERE id = '${id}'`)).toEqual([
      { id, run_id: RUN, tool_name: 'payments.reverse_refund', status: 'succeeded' },
    ]);
    const listed = items(await get(`compensations?run_id=${RUN}&mutation_id=${mutationIdOf(UNDONE)}`));
    expect(listed).toMatchObject([{ compensation_id: id, reverses_mutation_id: mutationIdOf(UNDONE) }]);
    expect(await get(`compensations/${id}`)).toMatchObject({ status: 200, body: { execution_state: 'succeeded' } });
    expect((await get(`mutations/${mutationIdOf(UNDONE)}`)).body['compensations']).toMatchObject([
      { compensation_id: id },
    ]);
    expect((await get(`mutations/${mutationIdOf(HELD)}`)).body['compensations']).toEqual([]);
  });

  it('say what went wrong, and whether anything undoes them', async () => {
    expect(items(await get('agent-effects?status=uncertain'))).toMatchObject([
      { last_error: 'EXECUTION_UNCERTAIN', compensation_args: null, result: null, compensation_attempts: 0 },
    ]);
    expect(items(await get('agent-effects?status=succeeded'))).toMatchObject([
      { compensation_mode: 'approval_required', last_error: null },
      {},
      {},
    ]);
  });

  it('never show text that the database cannot hold as a failure', async () => {
    const doc = JSON.stringify({
      capability: 'a\0b',
      effect_key: 'k',
      execution: { args: { body: { $b: '' } } },
      terms: null,
      compensation_attempts: 0,
    });
    await sql(
      `INSERT INTO mutations.mutation (log_partition, group_key, row_key, doc, lasting) VALUES (7, 'nul', 'nul', convert_to('${doc}', 'UTF8'), convert_to('${doc}', 'UTF8'))`,
    );
    expect(await sql(`SELECT tool_name, compensation_mode FROM mutations.agent_effects WHERE id = 'nul'`)).toEqual([
      { tool_name: 'a\ufffdb', compensation_mode: null },
    ]);
  });

  it(`are found by status and age through their index, among ${String(GENERATED)} rows`, async () => {
    const insertedMs = await timed(() =>
      withoutIndexes(`INSERT INTO mutations.mutation (log_partition, group_key, row_key, tenant, status, created_at, updated_at, doc, lasting)
      SELECT 8, 'g' || n / 12, 'm' || n, CASE WHEN n % 2 = 0 THEN 'bulk' ELSE 'more' END, CASE WHEN n % 50 = 0 THEN 'compensation_pending' ELSE 'succeeded' END, n, n, '{}', '{}' FROM generate_series(1, ${String(GENERATED)}) n`),
    );
    await sql('ANALYZE mutations.mutation');
    const plan = await sql(
      `EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM mutations.agent_effects WHERE status = 'compensation_pending' ORDER BY updated_at LIMIT 100`,
    );
    const [index] =
      await sql(`SELECT indexname, pg_size_pretty(pg_relation_size(format('%I.%I', schemaname, indexname)::regclass)) AS size, pg_size_pretty(pg_total_relation_size('mutations.mutation')) AS whole
      FROM pg_indexes WHERE tablename = 'mutation' AND indexdef LIKE '%(status, updated_at)'`);
    const text = plan.map((line) => String(line['QUERY PLAN'])).join('\n');
    if (process.env['RECOURSE_EFFECT_ROWS'] !== undefined)
      process.stderr.write(
        `${String(GENERATED)} rows in ${insertedMs.toFixed(0)} ms, index ${String(index?.['size'])}, table with its indexes ${String(index?.['whole'])}\n${text}\n`,
      );
    expect(text).toContain(`Index Scan using ${String(index?.['indexname'])}`);
    expect(text).not.toMatch(/-> +Sort /u);
  }, 3_600_000);

  it('come newest first where that is asked for, through an index and not sorted whole', async () => {
    const { text, values } = pageQuery({ filter: { tenant: 'bulk' }, order: 'newest', limit: 100 });
    const asked = values.reduce<string>(
      (filled, value, at) =>
        filled.replace(`$${String(at + 1)}`, typeof value === 'number' ? String(value) : `'${String(value)}'`),
      text,
    );
    const at = (await sql(asked)).map((row) => Number(row['created_at']));
    expect(at).toEqual(Array.from({ length: 101 }, (_, n) => 2 * Math.floor(GENERATED / 2) - 2 * n));
    const plan = (await sql(`EXPLAIN ${asked}`)).map((line) => String(line['QUERY PLAN'])).join('\n');
    const [index] = await sql("SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%(tenant, created_at)'");
    expect(plan).toContain(`Index Scan Backward using ${String(index?.['indexname'])}`);
    expect(plan).not.toMatch(/-> +Sort /u);
  });
});

describe('the horizon', () => {
  it('tells what closes next, and the money at stake', async () => {
    const { body, status } = await get('horizon');
    expect([
      status,
      items({ status, body })
        .map((item) => item['mutation_id'])
        .slice(0, 1),
    ]).toEqual([200, ids(EARLIER)]);
    expect(
      items({ status, body })
        .map((item) => item['mutation_id'])
        .sort(),
    ).toEqual(ids(HELD, WAITING, EARLIER));
    expect(body['at_stake']).toEqual([
      { tenant: 'acme', currency: 'INR', amount_minor: 5_200, mutations: 3, closes_first_at: NOW - 600_000 + HOUR_MS },
    ]);
  });

  it('ends where it is told to', async () => {
    const { body } = await get(`horizon?within_ms=${String(HOUR_MS - 300_000)}`);
    expect(body).toMatchObject({
      items: [{ mutation_id: mutationIdOf(EARLIER), value: { amount_minor: 300, currency: 'INR' } }],
      at_stake: [{ amount_minor: 300, mutations: 1 }],
    });
  });

  it('sums over everything and not over a page, once', async () => {
    const first = await get('horizon?limit=1');
    expect(first.body['at_stake']).toMatchObject([{ amount_minor: 5_200 }]);
    expect((await get(`horizon?limit=1&cursor=${String(first.body['next_cursor'])}`)).body['at_stake']).toBeNull();
  });

  it('is told per tenant to who sees all of them', async () => {
    expect((await get('horizon', '* auditor')).body['at_stake']).toMatchObject([
      { tenant: 'acme', amount_minor: 5_200 },
      { tenant: 'other', amount_minor: 5_000 },
    ]);
  });
});

describe('the report of exposure', () => {
  const EXPOSED = {
    tenant: 'acme',
    capability: 'payments.issue_refund',
    contract_digest: REFUND_DIGEST.toString('hex'),
    currency: 'INR',
    open: 3,
    open_minor: 5_200,
    recovering: 0,
    recovering_minor: null,
    beyond: 0,
    beyond_minor: null,
    expired: 0,
    uncertain: 1,
    uncertain_minor: 900,
    settled: 1,
    happened: 4,
    contradicted: 2,
    closes_first_at: NOW - 600_000 + HOUR_MS,
  };

  it('tells what is open and what nobody knows, with the money, the contract, and the part that fell (A4)', async () => {
    expect(await get('reports/exposure')).toMatchObject({
      status: 200,
      body: { as_of: expect.any(Number), items: [EXPOSED], more: false },
    });
  });

  it('tells what stands beyond reversal, whatever took it there, and leaves out what was settled or never happened', async () => {
    const row = (
      key: string,
      execution: string,
      recoverability: string,
      more: { readonly reason?: string; readonly expiresAt?: number } = {},
    ): string =>
      `(9, 'g', '${key}', 'spent', 'mail.send', '${execution}', '${recoverability}', ${more.reason === undefined ? 'NULL' : `'${more.reason}'`}, ${String(more.expiresAt ?? 'NULL')}, 10, 'EUR', '{}', '{}')`;
    const rows = [
      row('swept', 'succeeded', 'reversal_expired', { expiresAt: 1 }),
      row('lapsed', 'succeeded', 'reversal_available', { expiresAt: 1 }),
      row('none', 'succeeded', 'committed'),
      row('person', 'succeeded', 'manual_resolution_required'),
      row('accepted', 'succeeded', 'manual_resolution_required', { reason: 'RESOLVED:accepted' }),
      row('repaired', 'succeeded', 'manual_resolution_required', { reason: 'RESOLVED:repaired' }),
      row('undone', 'succeeded', 'compensated'),
      row('under-way', 'succeeded', 'compensating'),
      row('failed', 'failed', 'planned'),
      row('intended', 'planned', 'planned'),
      row('asked', 'executing', 'planned'),
    ];
    await sql(
      `INSERT INTO mutations.mutation (log_partition, group_key, row_key, tenant, capability, execution_state, recoverability, reason, expires_at, value_minor, value_currency, doc, lasting) VALUES ${rows.join(', ')}`,
    );
    expect((await get('reports/exposure?tenant=spent', '* auditor')).body['items']).toEqual([
      {
        tenant: 'spent',
        capability: 'mail.send',
        contract_digest: null,
        currency: 'EUR',
        open: 0,
        open_minor: null,
        recovering: 1,
        recovering_minor: 10,
        beyond: 5,
        beyond_minor: 50,
        expired: 2,
        uncertain: 1,
        uncertain_minor: 10,
        settled: 2,
        happened: 8,
        contradicted: 0,
        closes_first_at: null,
      },
    ]);
  });

  it('is of one tool when asked, and says when there is more', async () => {
    expect((await get('reports/exposure?capability=payments.other')).body['items']).toEqual([]);
    expect((await get('reports/exposure?limit=1', '* auditor')).body).toMatchObject({
      items: [{ tenant: 'acme' }],
      more: true,
    });
  });
});

describe('the report of manual reasons', () => {
  const asked = (key: string, because: string | null, execution = 'succeeded', reason: string | null = null): string =>
    `(9, 'g', 'asked-${key}', 'puzzled', 'mail.send', '${execution}', 'committed', ${quoted(reason)}, ${quoted(because)}, '{}', '{}')`;
  const quoted = (text: string | null): string => (text === null ? 'NULL' : `'${text}'`);

  it('ranks tools by why people were asked about what agents did, and points out those that often cannot be proven (C72)', async () => {
    const rows = [
      ...[1, 2, 3].map((n) => asked(`lost-${String(n)}`, 'OUTCOME_UNKNOWN')),
      asked('planned-and-lost', 'OUTCOME_UNKNOWN', 'planned'),
      asked('bare', 'REVERSAL_ARGS_INCOMPLETE:refund_id'),
      asked('given', 'ESCALATED:policy', 'failed'),
      asked('well', null),
      asked('under-way', null, 'planned'),
      asked('read', null, 'succeeded', 'READ_ONLY'),
    ];
    await sql(
      `INSERT INTO mutations.mutation (log_partition, group_key, row_key, tenant, capability, execution_state, recoverability, reason, asked_because, doc, lasting) VALUES ${rows.join(', ')}`,
    );
    const told = { tenant: 'puzzled', capability: 'mail.send', ended: 7 };
    expect(await get('reports/manual-reasons?tenant=puzzled', '* auditor')).toEqual({
      status: 200,
      body: {
        items: [
          { ...told, reason: 'OUTCOME_UNKNOWN', times: 4, share: 0.5714, is_unprovable: true },
          { ...told, reason: 'ESCALATED:policy', times: 1, share: 0.1429, is_unprovable: false },
          { ...told, reason: 'REVERSAL_ARGS_INCOMPLETE:refund_id', times: 1, share: 0.1429, is_unprovable: true },
        ],
        more: false,
        pointed_out: [{ ...told, unprovable: 5, share: 0.7143 }],
      },
    });
    expect((await get('reports/manual-reasons', 'other operator')).body['items']).toEqual([]);
  });
});

it('a preview of an undo is of the run that the query names, where no path can name it', async () => {
  const inPath = await listed(`runs/${RUN}/undo-preview`);
  expect(inPath).toContain(mutationIdOf(UNDONE));
  expect(await listed(`runs/in-query/undo-preview?run_id=${RUN}`)).toEqual(inPath);
  expect((await get('runs/in-query/undo-preview?run_id=..')).body).toMatchObject({ run_id: '..', items: [] });
});

describe('an id', () => {
  it.each([
    [
      mutationIdOf(UNDONE),
      {
        names: 'mutation',
        run_id: RUN,
        mutation_id: mutationIdOf(UNDONE),
        rollback_id: rollbackOf(UNDONE),
        ref: { mutation_id: mutationIdOf(UNDONE) },
      },
    ],
    [
      rollbackOf(UNDONE),
      { names: 'rollback', run_id: RUN, mutation_id: mutationIdOf(UNDONE), ref: { mutation_id: mutationIdOf(UNDONE) } },
    ],
    [deriveId('rec', 'acme', RUN), { names: 'recovery', run_id: RUN, mutation_id: null }],
    [RUN, { names: 'run', tenant: 'acme', run_id: RUN }],
  ])('%s resolves', async (id, expected) => {
    expect(await get(`resolve/${id}`)).toMatchObject({ status: 200, body: { id, tenant: 'acme', ...expected } });
  });

  it('that names nothing is refused, and is never called nothing while rows are behind', async () => {
    expect(await get('resolve/mut_none')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    isReached = false;
    expect(await get('resolve/mut_none')).toMatchObject({ status: 503, body: { code: 'PROJECTION_BEHIND' } });
    isReached = true;
  });

  it('of a run of which nothing is on record lets it begin anew, and not while rows are behind', async () => {
    expect(await get('runs/run-none/resume')).toMatchObject({ status: 404, body: { code: 'RUN_UNKNOWN' } });
    isReached = false;
    expect(await get('runs/run-none/resume')).toMatchObject({ status: 503, body: { code: 'PROJECTION_BEHIND' } });
    isReached = true;
    expect(await get(`runs/${RUN}/resume`)).toMatchObject({ status: 200, body: { run_id: RUN, checkpoint: null } });
    const inQuery = await get(`runs/in-query/resume?run_id=${RUN}`);
    expect(inQuery).toMatchObject({ status: 200, body: { run_id: RUN, checkpoint: null } });
  });

  it('of a run says where it goes on only once what was told of it is on record', async () => {
    const asked: ToldOn[] = [];
    isHeard = (told) => asked.push(told) === 0;
    for (const run of [RUN, 'run-none'])
      expect(await get(`runs/${run}/resume`)).toMatchObject({ status: 503, body: { code: 'PROJECTION_BEHIND' } });
    expect(asked).toEqual([RUN, 'run-none'].map((key) => ({ wire: 'recourse.tool-executions', key })));
    isHeard = () => true;
  });
});

describe('another tenant', () => {
  const theirs = ids(THEIRS);

  it.each([
    'mutations',
    'mutations?run_id=run-1',
    'mutations?state=reversal_available',
    'mutations?capability=payments.issue_refund',
    'agent-effects',
    `agent-effects?run_id=${RUN}`,
    'horizon',
  ])('sees only its own in %s', async (path) => {
    expect(await listed(path, 'other operator')).toEqual(theirs);
  });

  it.each([
    'mutations?subject=a-1',
    `mutations?run_id=${EARLIER.run_id}`,
    'agent-effects?status=compensated',
    `agent-effects?run_id=${EARLIER.run_id}`,
  ])('sees nothing in %s', async (path) => {
    expect(await listed(path, 'other operator')).toEqual([]);
  });

  it.each(['mutations', 'agent-effects', 'horizon', `mutations/${mutationIdOf(HELD)}`, `resolve/${RUN}`])(
    'may not ask for %s of somebody else',
    async (path) => {
      expect(await get(`${path}?tenant=acme`, 'other operator')).toMatchObject({
        status: 403,
        body: { code: 'TENANT_FOREIGN' },
      });
    },
  );

  it.each([
    `mutations/${mutationIdOf(HELD)}`,
    `resolve/${mutationIdOf(UNDONE)}`,
    `resolve/${rollbackOf(UNDONE)}`,
    `resolve/${deriveId('rec', 'acme', RUN)}`,
    `resolve/${EARLIER.run_id}`,
  ])('does not learn that there is %s', async (path) => {
    expect(await get(path, 'other operator')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it('is told nothing of others by a cursor of theirs', async () => {
    for (const path of ['mutations', 'agent-effects', 'horizon']) {
      const cursor = String((await get(`${path}?limit=1`)).body['next_cursor']);
      expect(await get(`${path}?cursor=${cursor}`, 'other operator')).toMatchObject({
        status: 400,
        body: { problems: [{ code: 'CURSOR_INVALID' }] },
      });
    }
  });

  it('counts no money of others', async () => {
    expect((await get('horizon', 'other operator')).body['at_stake']).toMatchObject([
      { tenant: 'other', amount_minor: 5_000, mutations: 1 },
    ]);
  });

  it('is told of no exposure but its own', async () => {
    expect((await get('reports/exposure', 'other operator')).body['items']).toMatchObject([
      { tenant: 'other', open: 1, open_minor: 5_000, contradicted: 1 },
    ]);
    expect(await get('reports/exposure?tenant=acme', 'other operator')).toMatchObject({
      status: 403,
      body: { code: 'TENANT_FOREIGN' },
    });
  });

  it('resolves the run id that both use to its own', async () => {
    expect(await get(`resolve/${RUN}`, 'other operator')).toMatchObject({ status: 200, body: { tenant: 'other' } });
  });
});
