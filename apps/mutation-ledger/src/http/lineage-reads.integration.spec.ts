// Lineage over HTTP on a real PostgreSQL: three partitions, two tenants that use the same names, a cycle, and rows as the ledger makes them.
import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { plainPayload } from '@recourse/contract';
import { createDatabase, dropDatabase, sharedTestStack } from '@recourse/dev-stack';
import type { DatabaseAddress, TestStack } from '@recourse/dev-stack';
import { withCommonKinds } from '@recourse/event-log';
import type { Row, ServiceCore } from '@recourse/event-log';
import { EdgeLines, LineageGraph } from '@recourse/lineage';
import type { ToolExecuted } from '@recourse/messages';
import { accessOf, createEdge, Limits, createPool, PostgresDatabase, ServiceModule } from '@recourse/service';
import type { Principal, ServiceContext } from '@recourse/service';
import { Metrics } from '@recourse/telemetry';
import { fact } from '@recourse/testing';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { triggerOf, executed, ledger, refund } from '../core/ledger.testing.js';
import type { Ledger } from '../core/ledger.testing.js';
import { mutationIdOf, mutationsCore } from '../core.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import { LineageQueries } from '../reads/lineage-queries.js';
import { EDGES_COPY } from '../reads/lineage-statements.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { LIMITS_IN_FORCE } from './admission.controller.js';
import type { LimitsInForce } from './admission.controller.js';
import { DrillController } from './drill.controller.js';
import { LineageController, LineagePolicy } from './lineage.controller.js';

type Facts = Readonly<Record<string, unknown>>;
interface Reply {
  readonly status: number;
  readonly body: Facts;
}

const NAME = `lineage_reads_${String(process.pid)}`;
const KINDS = withCommonKinds(mutationsCore().kinds);
const NOW = Date.now();
const PARTITIONS = 3;

const made = (
  tenant: string,
  name: string,
  parents: readonly ToolExecuted[] = [],
  more: Partial<ToolExecuted> = {},
): ToolExecuted =>
  refund({
    event_id: `ev-${tenant}-${name}`,
    tenant,
    run_id: `run-${name}`,
    effect_key: name,
    idempotency_key: `key-${name}`,
    committed_at: NOW - 1_000,
    assumption_refs: [],
    args: plainPayload({ order_id: name, amount_minor: 100, currency: 'INR' }),
    derived_from: parents.map((parent) => ({ run_id: parent.run_id, commit_id: mutationIdOf(parent) })),
    ...more,
  });
const A = made('acme', 'a');
const B = made('acme', 'b', [A]);
const C = made('acme', 'c', [B, A]);
const D = made('acme', 'd', [C]);
/** Names what nobody recorded, A under a run it is not of, and A from another tenant. */
const LOST = made('acme', 'lost', [made('acme', 'never')]);
const MISNAMED = made('acme', 'misnamed', [], { derived_from: [{ run_id: 'run-b', commit_id: mutationIdOf(A) }] });
/** Rely on a ref, one of them of another tenant. */
const REF = 'order/1#not_shipped';
const RELIES = made('acme', 'relies', [], { assumption_refs: [REF] });
const BEHIND = made('acme', 'behind', [RELIES]);
const OTHERS = made('globex', 'others', [], { assumption_refs: [REF] });
const THEIRS = made('globex', 'theirs', [A]);
const id = mutationIdOf;

let stack: TestStack;
let address: DatabaseAddress;
let database: PostgresDatabase;
let app: NestFastifyApplication;
/** One ledger per partition; they share the notices, whose partition is that of the ledger that derived them. */
const first = ledger();
const parts: readonly Ledger[] = [first, ...[1, 2].map((partition) => ledger({ fallen: first.fallen, partition }))];
const homeOf = (event: ToolExecuted): Ledger =>
  parts[['a', 'd', 'lost', 'misnamed', 'theirs'].includes(event.effect_key) ? 0 : event.effect_key === 'b' ? 1 : 2]!;
let cursors = [9, 9, 9];

beforeAll(async () => {
  for (const event of [A, B, C, D, LOST, MISNAMED, RELIES, BEHIND, OTHERS, THEIRS])
    homeOf(event).run.when(executed(event), NOW);
  stack = await sharedTestStack();
  address = await createDatabase(stack, NAME, NAME, 'secret');
  database = await PostgresDatabase.open({ url: address.url }, [{ log: MUTATIONS_LOG, kinds: KINDS }]);
  app = await start();
}, 400_000);
afterAll(async () => {
  await app.close();
  await database.close();
  await dropDatabase(stack, NAME);
  await stack.stop();
}, 60_000);

/** Rolls a mutation back, and announces it where those derived from it would read it. */
function fall(event: ToolExecuted): void {
  const { run } = homeOf(event);
  run.when(triggerOf(event.run_id, id(event)), NOW + 1);
  const notices = run.derived();
  if (notices.length === 0) throw new Error(`${event.effect_key} did not fall`);
  for (const { key, type, body } of notices) first.fallen.append(key, fact(type, body));
}

/** Writes the rows as they stand, each partition's from its ledger, anew. */
async function project(): Promise<void> {
  for (const [partition, { run }] of parts.entries()) {
    const store = database.partition(MUTATIONS_LOG, partition);
    await store.drop();
    const head = {
      seq: 1,
      hash: Buffer.alloc(32, 1),
      offset: 1,
      decidedAt: 1,
      reactedSeq: 0,
      reactedOffset: 0,
      cursors: [
        {
          topic: 'recourse.rollback-notifications',
          partition: 0,
          offset: 1,
          seq: cursors[partition]!,
          hash: Buffer.alloc(32),
        },
      ],
    };
    await store.project(
      null,
      head,
      run.rows().map((row: Row) => ({ op: 'put', row }) as const),
    );
  }
}

async function start(): Promise<NestFastifyApplication> {
  const context = {
    definition: {
      name: 'mutation-ledger',
      cores: [{ log: MUTATIONS_LOG, kinds: KINDS } as unknown as ServiceCore],
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
    projection: { isReached: () => Promise.resolve(true) },
    metrics: new Metrics(),
    partitionCount: () => Promise.resolve(PARTITIONS),
    onError: (error) => {
      process.stderr.write(`${String(error)}\n`);
    },
    keys: { destroy: () => Promise.resolve(0), destroyUnits: () => Promise.resolve(0) },
    shown: (docs) => Promise.resolve(docs),
    view: (name) => Promise.resolve(name === 'fallen' ? first.fallen : name === 'entries' ? first.entries : null),
    limits: new Limits(),
    access: accessOf('mutation-ledger'),
    authenticate: (authorization): Promise<Principal> =>
      Promise.resolve({ subject: 'dana', tenant: (authorization ?? '').split(' ')[1] ?? '', roles: ['operator'] }),
  } satisfies ServiceContext;
  const pool = () => createPool({ url: address.url, connectionsMax: 2 });
  const providers = [
    { provide: LedgerQueries, useFactory: () => new LedgerQueries(pool()) },
    { provide: LineageQueries, useFactory: () => new LineageQueries(pool()) },
    { provide: LIMITS_IN_FORCE, useValue: IN_FORCE },
    { provide: LineagePolicy, useValue: new LineagePolicy(null) },
  ];
  const app = await createEdge(
    'mutation-ledger',
    ServiceModule.forService(context, [LineageController, DrillController], providers),
    { bodyBytesMax: 200_000, docs: 'token' },
  );
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app;
}

/** A stranger weighs 500. */
const IN_FORCE: LimitsInForce = {
  limits: { trustThresholdPermille: 600, storm: null, closureMax: null, trend: null },
  boundMs: null,
};

const get = (path: string, tenant = 'acme'): Promise<Reply> => ask(`/v1/lineage/${path}`, tenant);

async function ask(url: string, tenant = 'acme'): Promise<Reply> {
  const answer = await app.inject({
    method: 'GET',
    url,
    headers: { authorization: `Bearer ${tenant}` },
  });
  return { status: answer.statusCode, body: answer.json<Facts>() };
}

const nodesOf = ({ body }: Reply): Readonly<Record<string, unknown>> =>
  Object.fromEntries((body['nodes'] as readonly Facts[]).map(({ id: of, state }) => [String(of), state])); // every graph has them

describe('lineage over three partitions', () => {
  it('reaches what rests on a commit and what it rests on, under its own tenant and run only', async () => {
    await project();
    const around = await get(id(B));
    expect([around.status, nodesOf(around)]).toEqual([
      200,
      Object.fromEntries([A, B, C, D].map((event) => [id(event), 'stands'])),
    ]);
    expect(
      (around.body['edges'] as readonly Facts[]).map(({ from, to }) => `${String(from)} ${String(to)}`).sort(),
    ).toEqual(
      [
        [A, B],
        [B, C],
        [A, C],
        [C, D],
      ]
        .map(([from, to]) => `${id(from!)} ${id(to!)}`)
        .sort(),
    );
    expect(nodesOf(await get(id(LOST)))).toEqual({ [id(LOST)]: 'stands', [id(made('acme', 'never'))]: 'unrecorded' });
  });

  it('shows nothing to another tenant, and knows no commit that is none', async () => {
    expect([
      (await get(id(A), 'globex')).status,
      (await get('mut_00000000000000000000000000000000')).body['code'],
    ]).toEqual([404, 'NOT_FOUND']);
    expect(nodesOf(await get(id(THEIRS), 'globex'))).toEqual({ [id(THEIRS)]: 'stands', [id(A)]: 'unrecorded' });
  });

  it('previews the closure: what would fall and for how much', async () => {
    expect((await get(`${id(A)}/preview`)).body).toMatchObject({
      falls: { commits: 4, with_effect: 4, without_effect: 0, runs: 4 },
      fallen_already: 0,
      consumers: [],
      beyond_bound: { commits: 0 },
      truncated: false,
      money: [{ currency: 'INR', amount_minor: 400, mutations: 4 }],
    });
    expect((await get(`${id(D)}/preview`)).body).toMatchObject({ falls: { commits: 1 } });
  });

  it('sums up by run what is around a commit, opens a run, and counts nothing of another tenant', async () => {
    const { status, body } = await get(`${id(B)}/boxes?open=run-c&find=run-d`);
    expect([status, body['commits'], body['runs'], body['found'], body['kind']]).toEqual([200, 4, 4, 1, 'mutation']);
    const boxes = body['boxes'] as readonly Facts[]; // as the ledger answers
    expect(boxes.map(({ id: of, found }) => [of, found])).toEqual([
      ['run:run-b', 0],
      ['run:run-d', 1],
      [id(C), 0],
      ['run:run-a', 0],
    ]);
    expect(boxes[2]).toMatchObject({
      label: C.capability,
      agents: [C.agent_id],
      states: [{ state: 'stands', commits: 1 }],
    });
    expect((body['arrows'] as readonly Facts[]).map(({ from, to }) => `${String(from)} ${String(to)}`).sort()).toEqual(
      [`run:run-a ${id(C)}`, 'run:run-a run:run-b', `run:run-b ${id(C)}`, `${id(C)} run:run-d`].sort(),
    );
    expect((await get(`${id(A)}/boxes`, 'globex')).status).toBe(404);
    expect((await get(`${id(THEIRS)}/boxes`, 'globex')).body).toMatchObject({ commits: 2 });
  });

  it('reads the same graph by COPY as by walking', async () => {
    const client = new Client({ connectionString: address.url });
    await client.connect();
    const graph = new LineageGraph();
    const lines = new EdgeLines(graph);
    for await (const chunk of client.query(copyTo(EDGES_COPY))) lines.take(chunk as Buffer); // the stream gives bytes
    await client.end();
    expect([...graph.closureOf([id(B)]).ids()].sort()).toEqual([C, D].map(id).sort());
  });
});

describe('a drill of a source', () => {
  const drill = (query: string): Promise<Reply> =>
    ask(`/v1/sources/drill?source=warehouse&ref=${encodeURIComponent(REF)}${query}`);

  it('walks from those of the tenant that rely on the ref, over all partitions, and says who is asked first', async () => {
    await project();
    expect(await drill('')).toMatchObject({
      status: 200,
      body: {
        relying: 1,
        falls: { commits: 2, runs: 2 },
        subjects: { first: ['behind', 'relies'] },
        weight_permille: 500,
        held: { reason: 'SOURCE_UNTRUSTED' },
      },
    });
    expect((await drill('&run_id=run-relies')).body).toMatchObject({ relying: 1 });
    expect((await drill('&run_id=run-behind')).body).toMatchObject({ relying: 0, falls: { commits: 0 } });
    expect((await drill('&tenant=globex')).status).toBe(403);
  });
});

describe('a fall', () => {
  it('is settled once everything that rests on it is marked and every partition has read past it', async () => {
    expect((await get(`${id(A)}/settled`)).body).toMatchObject({ settled: false, rollback_id: null });
    fall(A);
    await project();
    expect((await get(`${id(A)}/settled`)).body).toMatchObject({ settled: false, fallen: 1, unmarked: { count: 2 } });
    for (const event of [B, C, D]) fall(event);
    const end = first.fallen.position(0);
    cursors = [end, end - 1, end];
    await project();
    expect((await get(`${id(A)}/settled`)).body).toMatchObject({
      settled: false,
      fallen: 4,
      unmarked: { count: 0 },
      waiting_for: [{ partition: 1, of: 0, position: end - 1, needed: end }],
    });
    cursors = [end, end, end];
    await project();
    expect((await get(`${id(A)}/settled`)).body).toMatchObject({ settled: true, fallen: 4, waiting_for: [] });
    expect(
      nodesOf(await get(`${id(A)}?rollback=${String((await get(`${id(A)}/settled`)).body['rollback_id'])}`)),
    ).toMatchObject({ [id(A)]: 'rolled_back' });
    expect((await get(`${id(A)}/preview`)).body).toMatchObject({ falls: { commits: 0 }, fallen_already: 4 });
    const boxes = (await get(`${id(A)}/boxes`)).body['boxes'] as readonly Facts[]; // as above
    expect(boxes.map(({ states }) => states)).toEqual(boxes.map(() => [{ state: 'rolled_back', commits: 1 }]));
  });
});
