// Reports of the orchestrator and lists in the order of their time, over HTTP on a real PostgreSQL, for two tenants.
import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createDatabase, dropDatabase, sharedTestStack } from '@recourse/dev-stack';
import type { DatabaseAddress, TestStack } from '@recourse/dev-stack';
import { withCommonKinds } from '@recourse/event-log';
import type { ServiceCore } from '@recourse/event-log';
import { accessOf, createEdge, Limits, createPool, PostgresDatabase, ServiceModule } from '@recourse/service';
import type { Principal, ServiceContext } from '@recourse/service';
import { Metrics } from '@recourse/telemetry';
import type { CoreHarness } from '@recourse/testing';
import { harness } from '@recourse/testing';
import { RECOVERIES_LOG } from '../core.js';
import { FORWARD_KIND } from '../rows/forward.rows.js';
import { RECOVERY_KINDS } from '../rows/kinds.js';
import { RecoveryQueries } from '../reads/recovery-queries.js';
import {
  agreed,
  answered,
  BALANCE_ZERO,
  core,
  denial,
  digest,
  execution,
  markedInput,
  PAID_OUT,
  ref,
  requestIn,
  resolution,
  REVIEW,
  terms,
  views,
} from '../recoveries.testing.js';
import { ForwardApprovalsController } from './forward-approvals.controller.js';
import { RecoveriesController, TRACE_URL } from './recoveries.controller.js';
import { ReportsController } from './reports.controller.js';
import { KEYRING, WorkersController } from './workers.controller.js';

type Facts = Readonly<Record<string, unknown>>;

const NAME = `recovery_reports_${String(process.pid)}`;
const LOGS = [{ log: RECOVERIES_LOG, kinds: withCommonKinds(RECOVERY_KINDS) }];
const REFUND = 'payments.issue_refund';
const AUTO = terms({ recovery_approval_mode: 'auto', impact: 'write' });
const START = 10_000;

const begun = (tenant: string, contract = AUTO): CoreHarness =>
  harness(core(), { views: views() }).when(
    markedInput({ tenant, terms: contract, execution: execution({ tenant }), ref: ref() }),
    START,
  );

/** A tool that never answers: after its attempts nobody knows what happened. */
const silent = (): CoreHarness =>
  [60_000, 120_000, 180_000, 240_000, 300_000].reduce((run, now) => run.whenDue(now), begun('dumb'));

/** One recovery each: its rows are those of a partition of its own. */
const STORY: Readonly<Record<string, () => CoreHarness>> = {
  'compensated by itself': () => {
    const run = begun('acme');
    return run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), START + 1_000);
  },
  'compensated with a person': () => {
    const run = agreed(begun('acme', terms()), START + 5_000);
    return run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), START + 7_000);
  },
  'changed by somebody else': () => {
    const run = begun('acme');
    return run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), START + 1_000);
  },
  'denied, then repaired by hand': () =>
    begun('acme', terms())
      .when(denial({ digest: digest() }), START + 1_000)
      .when(resolution('repaired'), START + 2_000),
  denied: () => begun('acme', terms()).when(denial({ digest: digest() }), START + 1_000),
  'left unanswered by people': () => begun('acme', terms()).whenDue(START + REVIEW),
  'waiting for a person': () => begun('acme', terms()),
  'of nothing': () => harness(core(), { views: views() }).when(markedInput({ execution_state: 'failed' }), START),
  'of silence': silent,
  'of silence again': silent,
  'of silence once more': silent,
  'asked and not answered': () => begun('acme'),
  'of another tenant': () => begun('other', terms()).whenDue(START + REVIEW),
};

/** Questions before effects, one of each of these partitions: the first asked stands last. */
const ASKED_AT: readonly number[] = [START + 2, START + 1, START];
const question = (at: number) =>
  ({
    op: 'put',
    row: {
      kind: FORWARD_KIND,
      group: 'run-1',
      key: 'apr_1',
      dueAt: null,
      doc: { approval_id: 'apr_1', tenant: 'acme', run_id: 'run-1', phase: 'awaiting', requested_at: at },
    },
  }) as const;

let stack: TestStack;
let address: DatabaseAddress;
let database: PostgresDatabase;
let app: NestFastifyApplication;

beforeAll(async () => {
  stack = await sharedTestStack();
  address = await createDatabase(stack, NAME, NAME, 'secret');
  database = await PostgresDatabase.open({ url: address.url }, LOGS);
  for (const [partition, play] of Object.values(STORY).entries()) {
    const head = {
      seq: 1,
      hash: Buffer.alloc(32, 1),
      offset: 1,
      decidedAt: 1,
      cursors: [],
      reactedSeq: 0,
      reactedOffset: 0,
    };
    await database.stores.partition(RECOVERIES_LOG, partition).project(
      null,
      head,
      play()
        .rows()
        .map((row) => ({ op: 'put', row }) as const)
        .concat(ASKED_AT.slice(partition, partition + 1).map(question)),
    );
  }
  app = await start();
}, 400_000);

afterAll(async () => {
  await app.close();
  await database.close();
  await dropDatabase(stack, NAME);
  await stack.stop();
}, 60_000);

/** The reports over the projection; a bearer token here is `tenant role`. */
async function start(): Promise<NestFastifyApplication> {
  const context = {
    definition: {
      name: 'recovery-orchestrator',
      cores: [{ log: RECOVERIES_LOG, kinds: withCommonKinds(RECOVERY_KINDS) } as unknown as ServiceCore],
      commandTopic: 'recourse.recovery-commands',
      commandLog: RECOVERIES_LOG,
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
    partitionCount: () => Promise.resolve(1),
    onError: () => undefined,
    keys: { destroy: () => Promise.resolve(0), destroyUnits: () => Promise.resolve(0) },
    shown: (docs) => Promise.resolve(docs),
    limits: new Limits(),
    access: accessOf('recovery-orchestrator'),
    authenticate: (authorization): Promise<Principal> => {
      const [tenant = '', role = ''] = (authorization ?? '').split(' ').slice(1);
      return Promise.resolve({ subject: 'dana', tenant, roles: [role] });
    },
  } satisfies ServiceContext;
  const queries = {
    provide: RecoveryQueries,
    useFactory: () => new RecoveryQueries(createPool({ url: address.url, connectionsMax: 2 })),
  };
  const made = await createEdge(
    'recovery-orchestrator',
    ServiceModule.forService(
      context,
      [ReportsController, WorkersController, RecoveriesController, ForwardApprovalsController],
      [queries, { provide: KEYRING, useValue: () => null }, { provide: TRACE_URL, useValue: null }],
    ),
    { bodyBytesMax: 200_000, docs: 'token' },
  );
  await made.init();
  await made.getHttpAdapter().getInstance().ready();
  return made;
}

async function get(path: string, token = 'acme operator'): Promise<{ readonly status: number; readonly body: Facts }> {
  const answer = await app.inject({
    method: 'GET',
    url: path.startsWith('/') ? path : `/v1/reports/${path}`,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: answer.statusCode, body: answer.json<Facts>() };
}

const reason = (code: string, times: number): Facts => ({
  tenant: 'acme',
  capability: REFUND,
  reason: code,
  times,
  ended: 6,
  share: Math.round((times / 6) * 10_000) / 10_000,
  is_unprovable: false,
});

describe('the report of manual reasons', () => {
  it('ranks tools by why their steps landed with people, as part of what ended (C72)', async () => {
    expect(await get('manual-reasons')).toEqual({
      status: 200,
      body: {
        items: [reason('DENIED', 2), reason('APPROVAL_TIMEOUT', 1), reason('RESOURCE_CHANGED', 1)],
        more: false,
        pointed_out: [],
      },
    });
  });

  it('points out the tool whose outcomes could not be proven', async () => {
    const told = { tenant: 'dumb', capability: REFUND, ended: 3, share: 1 };
    expect((await get('manual-reasons', 'dumb operator')).body).toEqual({
      items: [{ ...told, reason: 'OUTCOME_UNKNOWN', times: 3, is_unprovable: true }],
      more: false,
      pointed_out: [{ ...told, unprovable: 3 }],
    });
  });

  it('is as long as it is asked to be, and says when there is more', async () => {
    expect((await get('manual-reasons?limit=1')).body).toMatchObject({ items: [{ reason: 'DENIED' }], more: true });
    expect((await get('manual-reasons?capability=mail.send')).body).toEqual({
      items: [],
      more: false,
      pointed_out: [],
    });
  });
});

describe('the report of recoveries', () => {
  it('tells how they ended, how often they were tried and how long a compensation took (A4)', async () => {
    expect((await get('recoveries')).body).toEqual({
      items: [
        {
          tenant: 'acme',
          capability: REFUND,
          compensated: 2,
          automatic: 1,
          manual: 4,
          open: 2,
          not_needed: 1,
          attempts: 4,
          mean_ms: 9_000,
          max_ms: 12_000,
        },
      ],
      more: false,
    });
  });

  it('has no mean where nothing was compensated', async () => {
    expect((await get('recoveries', 'other operator')).body['items']).toMatchObject([
      { tenant: 'other', compensated: 0, manual: 1, mean_ms: null, max_ms: null },
    ]);
  });
});

describe.each(['manual-reasons', 'recoveries'])('another tenant, of %s,', (path) => {
  it('sees only its own', async () => {
    const { items } = (await get(path, 'other operator')).body as { items: readonly Facts[] }; // every report has them
    expect(items.map(({ tenant }) => tenant)).toEqual(['other']);
  });

  it("may not ask for somebody else's", async () => {
    expect(await get(`${path}?tenant=acme`, 'other operator')).toMatchObject({
      status: 403,
      body: { code: 'TENANT_FOREIGN' },
    });
  });

  it('is one of all for who sees all of them', async () => {
    const { items } = (await get(path, '* auditor')).body as { items: readonly Facts[] }; // every report has them
    expect(new Set(items.map(({ tenant }) => tenant))).toEqual(new Set(['acme', 'dumb', 'other']));
  });

  it.each(['limit=0', 'limit=501', 'wish=1'])('is refused what nobody can give (%s)', async (query) => {
    expect(await get(`${path}?${query}`)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } });
  });
});

describe('what is asked of workers', () => {
  it('is told by adapter: how much waits, since when, and what nobody answered in time; to its tenant alone', async () => {
    const { status, body } = await get('/v1/workers');
    expect([status, body]).toEqual([
      200,
      {
        as_of: expect.any(Number),
        items: [{ tenant: 'acme', adapter: 'payments', asked: 1, silent: 1, oldest_at: START }],
        more: false,
        keys: null,
      },
    ]);
    expect((await get('/v1/workers', 'other operator')).body).toMatchObject({ items: [] });
  });
});

describe('a list of what waits', () => {
  /** All of it, a page of this many at a time. */
  async function walked(path: string, limit: number): Promise<readonly Facts[]> {
    const all: Facts[] = [];
    let more = '';
    do {
      const { items, next_cursor: next } = (await get(`${path}limit=${String(limit)}${more}`)).body;
      all.push(...(items as readonly Facts[])); // every list has them
      more = typeof next === 'string' ? `&cursor=${next}` : '';
    } while (more !== '');
    return all;
  }

  it.each([
    ['/v1/reviews?', 'deadline_at'],
    ['/v1/reviews?kind=forward&', 'requested_at'],
    ['/v1/forward-approvals?', 'requested_at'],
  ])('has the soonest of all partitions first, on whatever page, and each once: %s', async (path, time) => {
    const whole = await walked(path, 500);
    const times = whole.map((row) => Number(row[time]));
    expect(times.length).toBeGreaterThan(2);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    for (const limit of [1, 2]) expect(await walked(path, limit)).toEqual(whole);
  });

  it('is narrowed to a phase, a run and a tenant, and takes no cursor of another', async () => {
    expect(await walked('/v1/reviews?state=denied&', 1)).toMatchObject([{ phase: 'denied', tenant: 'acme' }]);
    expect(await walked('/v1/reviews?run_id=run-2&', 1)).toEqual([]);
    const { body } = await get('/v1/reviews?limit=1');
    expect(body).toMatchObject({ items: [{ execution: expect.anything(), tenant: 'acme' }] });
    for (const path of ['reviews?state=manual', 'reviews?kind=forward', 'forward-approvals?state=open'])
      expect(await get(`/v1/${path}&cursor=${String(body['next_cursor'])}`)).toMatchObject({
        status: 400,
        body: { problems: [{ code: 'CURSOR_INVALID' }] },
      });
    expect(await get('/v1/reviews?tenant=acme', 'other operator')).toMatchObject({ status: 403 });
  });
});
