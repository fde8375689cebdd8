import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Limits } from './edge/limits.js';
import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MemoryDatabase, withCommonKinds } from '@recourse/event-log';
import type { KindSpec } from '@recourse/event-log';
import { partitionForKey } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { Metrics } from '@recourse/telemetry';
import type { FastifyInstance } from 'fastify';
import { decodeJwt } from 'jose';
import { createDevIssuer } from './dev-issuer.main.js';
import { accessOf } from './edge/access.js';
import { createAuthenticate } from './edge/authenticate.js';
import { keysOfFile } from './edge/issuer-keys.js';
import { directoryIn } from './edge/directory.js';
import type { Submission } from './edge/command-edge.js';
import { EventLogTransport } from './event-log.transport.js';
import { FromCaller } from './inbound/http/caller.js';
import type { Caller } from './inbound/http/caller.js';
import { Commands } from './inbound/http/commands.js';
import { Reads } from './inbound/http/reads.js';
import type { ListAnswer } from './inbound/http/reads.js';
import { createEdge } from './process.js';
import type { PageQuery, PlacedRow } from './projection-reads.js';
import type { ServiceContext } from './service-context.js';
import { ServiceModule } from './service.module.js';
import type { ServiceHealth } from './running-service.js';

const LOG = 'recourse.things';
const OTHER_LOG = 'recourse.other-things';
const ISSUER = { issuer: 'urn:recourse:dev', audience: 'recourse' };
const thing: KindSpec = {
  kind: 'thing',
  table: 'thing',
  columns: [{ name: 'tenant', type: 'text', of: ({ doc }) => String(doc['tenant']) }],
};
const KINDS = withCommonKinds([thing]);

@Controller('v1/things')
class ThingsController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(Commands) private readonly commands: Commands,
  ) {}
  @Get() list(@FromCaller() caller: Caller, @Query('tenant') tenant: string | undefined): Promise<ListAnswer> {
    return this.reads.list(caller, { log: LOG, kind: 'thing', where: {}, tenant });
  }
  @Get(':id') async one(@FromCaller() caller: Caller, @Param('id') id: string): Promise<unknown> {
    return (await this.reads.find(caller, { log: LOG, kind: 'thing', where: { row_key: id } })).doc;
  }
  @Post() make(@FromCaller() caller: Caller, @Body() body: unknown): Promise<void> {
    return this.commands.submit(caller, {
      type: 'recourse.things.Make',
      key: (tenant) => tenant,
      body,
      build: (envelope) => ({ envelope }),
    });
  }
}

const rows: PlacedRow[] = [
  {
    partition: 0,
    kind: 'thing',
    group: 'a',
    key: 'a',
    dueAt: null,
    doc: { tenant: 'acme', id: 'a', hash: Buffer.from('ab', 'hex') },
  },
  { partition: 0, kind: 'thing', group: 'b', key: 'b', dueAt: null, doc: { tenant: 'other', id: 'b' } },
  { partition: 2, kind: 'parked', group: 'k', key: 'park_1', dueAt: null, doc: { parked_id: 'park_1', open: true } },
];

/** Enough of a database: equality on columns. */
function page({ kind, where }: PageQuery) {
  const fits = (row: PlacedRow): boolean =>
    Object.entries(where).every(([name, value]) => {
      const own = name === 'row_key' ? row.key : row.doc[name];
      return Array.isArray(value) ? value.includes(own) : own === value;
    });
  return Promise.resolve({ rows: rows.filter((row) => row.kind === kind && fits(row)), next: null });
}

describe('the HTTP edge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-edge-'));
  let issuer: FastifyInstance;
  let app: NestFastifyApplication;
  let health: ServiceHealth;
  let submitted: Submission[];
  let isDatabaseDown = false;
  let reached: () => boolean;
  let stops = 0;

  beforeAll(async () => {
    issuer = await createDevIssuer({ dataDir: folder, ...ISSUER });
    const context: ServiceContext = {
      definition: {
        name: 'things',
        cores: [{ log: LOG }, { log: OTHER_LOG }],
        commandTopic: 'recourse.thing-commands',
        commandLog: LOG,
      },
      host: {
        health: () => health,
        page: (query) => (isDatabaseDown ? Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'down')) : page(query)),
        commandRow: () => Promise.resolve(null),
        partition: (log, partition) => new MemoryDatabase({ kinds: KINDS, now: () => 1 }).partition(log, partition),
      },
      projection: { isReached: () => Promise.resolve(reached()) },
      edge: {
        submit: (submission) => {
          submitted.push(submission);
          return Promise.resolve({
            httpStatus: 202,
            body: '{"status":"pending"}',
            location: '/v1/commands/c.m',
            retryAfterS: 1,
          });
        },
        lookUp: (log, ticket) => {
          if (ticket === 'pending' && log === LOG)
            return Promise.resolve({ httpStatus: 202, body: '{"status":"pending"}', retryAfterS: 1 });
          return Promise.resolve(ticket === `mine in ${log}` ? { httpStatus: 409, body: `{"code":"${log}"}` } : null);
        },
      },
      limits: new Limits(),
      access: (route) =>
        accessOf('mutation-ledger')(route) ?? { roles: ['viewer', 'operator', 'auditor'], reach: 'tenant' },
      authenticate: createAuthenticate({
        ...ISSUER,
        keys: keysOfFile(join(folder, 'jwks.json')),
        directory: directoryIn(undefined),
      }),
      keys: { destroy: () => Promise.resolve(0), destroyUnits: () => Promise.resolve(0) },
      shown: (docs) => Promise.resolve(docs),
      metrics: new Metrics(),
      partitionCount: () => Promise.resolve(6),
      onError: () => undefined,
    };
    app = await createEdge('things', ServiceModule.forService(context, [ThingsController]), {
      bodyBytesMax: 2_000_000,
      docs: 'public',
    });
    app.connectMicroservice({
      strategy: new EventLogTransport({
        start: () => Promise.resolve(),
        stop: () => {
          stops += 1;
          return Promise.resolve();
        },
      }),
    });
    await app.startAllMicroservices();
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
  });
  beforeEach(() => {
    submitted = [];
    isDatabaseDown = false;
    reached = () => true;
    health = { live: true, ready: true, started: true, detail: { lag: 0 } };
  });
  afterAll(async () => {
    await app.close();
    expect(stops).toBe(1);
    await issuer.close();
    rmSync(folder, { recursive: true });
  });

  async function tokenOf(tenant: string, ...roles: readonly string[]): Promise<Record<string, string>> {
    const answer = await issuer.inject({ method: 'POST', url: '/token', payload: { subject: 'dana', tenant, roles } });
    return { authorization: `Bearer ${answer.json<{ access_token: string }>().access_token}` };
  }
  const get = async (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });
  const post = async (url: string, payload: object, headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url, headers, payload });

  it('lets nobody in without a token, and says so as a problem', async () => {
    const answer = await get('/v1/things');
    expect([answer.statusCode, answer.headers['content-type'], answer.json<{ code: string }>().code]).toEqual([
      401,
      'application/problem+json; charset=utf-8',
      'TOKEN_MISSING',
    ]);
    expect((await get('/v1/things', { authorization: 'Bearer a.b.c' })).json()).toMatchObject({
      code: 'TOKEN_REFUSED',
    });
  });

  it.each([[[]], [['root']], [['Viewer', 'agent ']]])(
    'lets nobody in whose token has no role that is one: %j',
    async (roles) => {
      const headers = await tokenOf('acme', ...roles);
      for (const answer of [await get('/v1/things', headers), await post('/v1/things', {}, headers)])
        expect(answer.json()).toMatchObject({ status: 403, code: 'ROLE_REQUIRED' });
      expect(submitted).toEqual([]);
    },
  );

  it.each([65, 600, 100_000])('refuses a body of %i levels, and nothing of it is done', async (depth) => {
    const headers = { ...(await tokenOf('acme', 'operator')), 'content-type': 'application/json' };
    const payload = '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
    const answer = await app.inject({ method: 'POST', url: '/v1/things', headers, payload });
    expect(answer.json()).toMatchObject({ status: 400, code: 'INPUT_TOO_DEEP' });
    expect(submitted).toEqual([]);
  });

  it('sets its headers on every answer, refused ones and pages too', async () => {
    for (const url of ['/v1/things', '/nothing', '/openapi.json', '/docs', '/health/live'])
      expect((await get(url)).headers).toMatchObject({
        'cache-control': expect.stringContaining('no-store'),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      });
  });

  it('shows a tenant its own rows and hides those of others, also by id', async () => {
    const acme = await tokenOf('acme', 'viewer');
    expect((await get('/v1/things', acme)).json()).toEqual({
      items: [{ tenant: 'acme', id: 'a', hash: 'ab' }],
      next_cursor: null,
    });
    expect((await get('/v1/things?tenant=other', acme)).json()).toMatchObject({ status: 403, code: 'TENANT_FOREIGN' });
    expect((await get('/v1/things/b', acme)).json()).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect((await get('/v1/things', await tokenOf('*', 'auditor'))).json<{ items: unknown[] }>().items).toHaveLength(2);
    expect((await get('/v1/things', await tokenOf('*', 'approver'))).json()).toMatchObject({ code: 'ROLE_REQUIRED' });
  });

  it('makes a command of a mutating request, with the caller and the key', async () => {
    const answer = await post(
      '/v1/things?x=1',
      { a: 1 },
      { ...(await tokenOf('acme', 'operator')), 'idempotency-key': 'k1' },
    );
    expect([answer.statusCode, answer.headers.location, answer.headers['retry-after']]).toEqual([
      202,
      '/v1/commands/c.m',
      '1',
    ]);
    expect(submitted[0]).toMatchObject({
      topic: 'recourse.thing-commands',
      log: LOG,
      key: 'acme',
      tenant: 'acme',
      route: 'POST /v1/things',
      idempotencyKey: 'k1',
      body: { a: 1 },
      principal: { subject: 'dana', roles: ['operator'] },
    });
    expect(
      (
        await post('/v1/things', {}, { ...(await tokenOf('acme', 'viewer')), 'idempotency-key': 'x'.repeat(600) })
      ).json(),
    ).toMatchObject({ code: 'INPUT_INVALID' });
  });

  it('answers with what a command came to, and 404 for the ticket of another', async () => {
    const acme = await tokenOf('acme', 'viewer');
    for (const log of [LOG, OTHER_LOG])
      expect((await get(`/v1/commands/${encodeURIComponent(`mine in ${log}`)}`, acme)).json()).toEqual({ code: log });
    expect((await get('/v1/commands/theirs', acme)).statusCode).toBe(404);
    const pending = await get('/v1/commands/pending', acme);
    expect([pending.statusCode, pending.headers['retry-after']]).toEqual([202, '1']);
  });

  it('never says that there is nothing while rows are behind their log', async () => {
    const acme = await tokenOf('acme', 'viewer');
    reached = () => false;
    const behind = await get('/v1/things/late', acme);
    expect([behind.statusCode, behind.headers['retry-after'], behind.json<{ code: string }>().code]).toEqual([
      503,
      '1',
      'PROJECTION_BEHIND',
    ]);
    // The row came while the edge waited for the end of the log.
    reached = () =>
      rows.push({
        partition: 0,
        kind: 'thing',
        group: 'late',
        key: 'late',
        dueAt: null,
        doc: { tenant: 'acme', id: 'late' },
      }) > 0;
    expect((await get('/v1/things/late', acme)).statusCode).toBe(200);
    rows.pop();
  });

  it('says 503 with the failure while the database is away', async () => {
    isDatabaseDown = true;
    const answer = await get('/v1/things', await tokenOf('acme', 'viewer'));
    expect([answer.statusCode, answer.headers['retry-after'], answer.json<{ code: string }>().code]).toEqual([
      503,
      '1',
      'DATABASE_UNAVAILABLE',
    ]);
  });

  it('keeps parked records and state hashes for administrators and auditors of all', async () => {
    expect((await get('/v1/parked', await tokenOf('acme', 'administrator'))).json()).toMatchObject({
      code: 'ROLE_REQUIRED',
    });
    expect((await get('/v1/parked', await tokenOf('*', 'auditor'))).json<{ items: unknown[] }>().items).toHaveLength(1);
    expect((await get('/v1/state-hash?partition=0', await tokenOf('*', 'auditor'))).json()).toMatchObject({
      log: LOG,
      seq: 0,
      state_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect((await get('/v1/state-hash?partition=0&log=nope', await tokenOf('*', 'auditor'))).json()).toMatchObject({
      code: 'INPUT_INVALID',
    });
    expect(
      (await post('/v1/parked/park_1/redrive', { reason: 'fixed' }, await tokenOf('*', 'auditor'))).json(),
    ).toMatchObject({ code: 'ROLE_REQUIRED' });
  });

  it('sends a redrive to the partition on which the record was parked', async () => {
    await post('/v1/parked/park_1/redrive', { reason: 'fixed' }, await tokenOf('*', 'administrator'));
    expect(submitted[0]).toMatchObject({ type: 'recourse.log.RedriveParked', tenant: '*' });
    expect(partitionForKey(Buffer.from(submitted[0]?.key ?? ''), 6)).toBe(2);
  });

  it('tells machines how it is, without a token', async () => {
    expect((await get('/health/live')).statusCode).toBe(200);
    health = { live: true, ready: false, started: false, detail: {} };
    expect([
      (await get('/health/live')).statusCode,
      (await get('/health/ready')).statusCode,
      (await get('/health/startup')).statusCode,
    ]).toEqual([200, 503, 503]);
    expect((await get('/metrics')).body).toContain('recourse_ready 0');
  });

  it('describes itself', async () => {
    const document = (await get('/openapi.json')).json<{ paths: Record<string, unknown> }>();
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/v1/things', '/v1/parked/{id}/redrive', '/v1/state-hash']),
    );
    expect((await get('/docs')).body).toContain('/docs/show.js');
    expect((await get('/docs/show.js')).body).toContain('SwaggerUIBundle');
    expect((await get('/docs/swagger-ui.css')).statusCode).toBe(200);
  });

  it('answers what it does not know as a problem', async () => {
    expect((await get('/v1/nothing', await tokenOf('acme', 'viewer'))).json()).toMatchObject({
      status: 404,
      code: 'ROUTE_UNKNOWN',
    });
  });
});

describe('the development issuer', () => {
  it('keeps its key, and says what it is for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'recourse-issuer-'));
    const first = await createDevIssuer({ dataDir: folder, ...ISSUER });
    const second = await createDevIssuer({ dataDir: folder, ...ISSUER });
    expect((await first.inject({ url: '/jwks.json' })).json()).toEqual(
      (await second.inject({ url: '/jwks.json' })).json(),
    );
    expect((await first.inject({ url: '/jwks.json' })).body).not.toContain('"d"');
    expect((await first.inject({ url: '/' })).body).toContain('DEVELOPMENT ONLY');
    expect((await first.inject({ method: 'POST', url: '/token', payload: {} })).statusCode).toBe(400);
    const named = await first.inject({
      method: 'POST',
      url: '/token',
      payload: { subject: 'olga', tenant: 'acme', roles: ['approver'] },
    });
    expect(decodeJwt(named.json<{ access_token: string }>().access_token)).toMatchObject({
      sub: 'olga',
      tenant: 'acme',
      roles: ['approver'],
    });
    await Promise.all([first.close(), second.close()]);
    rmSync(folder, { recursive: true });
  });
});
