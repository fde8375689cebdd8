import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Limits } from '../../edge/limits.js';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { readPayload } from '@recourse/contract';
import { mapPayloads } from '@recourse/event-log';
import type { Doc } from '@recourse/event-log';
import type { CommandEnvelope, Payload } from '@recourse/messages';
import { Metrics } from '@recourse/telemetry';
import type { Submission } from '../../edge/command-edge.js';
import { createEdge } from '../../process.js';
import type { ServiceContext } from '../../service-context.js';
import { ServiceModule } from '../../service.module.js';
import { verbsController } from './verbs.js';

const LOG = 'recourse.recoveries';
const Steps = verbsController({
  tag: 'recoveries',
  wire: 'recourse.recovery-commands',
  below: 'v1/steps',
  key: 'run_id',
  about: { step_id: { log: LOG, kind: 'step' } },
  standsOn: { ApproveStep: ({ call }) => call },
});
const Questions = verbsController({
  tag: 'questions',
  wire: 'recourse.recovery-commands',
  below: 'v1/forward-approvals',
  key: 'run_id',
  about: { approval_id: { log: LOG, kind: 'forward' } },
});
const Budgets = verbsController({
  tag: 'budgets',
  wire: 'recourse.budget-commands',
  about: { reservation_id: { log: LOG, kind: 'reservation' } },
});

const sealed = (body: string) => ({
  content_type: 'application/json',
  encoding: 'sealed',
  key_id: 'k',
  body: Buffer.from(body),
  sha256: Buffer.alloc(32),
});
/** Of a thing whose arguments were erased, and of one whose key is there. */
const CALLS = { gone: { args: sealed('gone') }, kept: { args: sealed('kept') } };
const ROW = { step_id: 's', approval_id: 's', run_id: 'run-1', effect_key: 'e', tenant: 'acme' };
const DIGEST = 'ab'.repeat(32);
const ENVELOPE = { command_id: 'cmd' } as CommandEnvelope;

let app: NestFastifyApplication;
let sent: Submission[] = [];
/** How often the members of an evidence were gone through. */
let looks = 0;

/** Counts that, of what was read from a body. */
function watched(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('evidence' in body)) return;
  const { evidence } = body;
  if (typeof evidence !== 'object' || evidence === null) return;
  body.evidence = new Proxy(evidence, {
    ownKeys: (whole) => {
      looks += 1;
      return Reflect.ownKeys(whole);
    },
  });
}

function notAsked(): never {
  throw new Error('no route here asks for this');
}

beforeAll(async () => {
  const context: ServiceContext = {
    definition: {
      name: 'things',
      cores: [{ log: LOG }],
      commandTopic: 'recourse.recovery-commands',
      commandLog: LOG,
    },
    host: {
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
      page: ({ kind, where }) => {
        const id = where['step_id'] ?? where['approval_id'] ?? where['reservation_id'];
        const row = { partition: 0, kind, group: 'a', key: 'a', dueAt: null, doc: ROW };
        if (id === 'gone' || id === 'kept')
          return Promise.resolve({ rows: [{ ...row, doc: { ...ROW, step_id: id, call: CALLS[id] } }], next: null });
        const rows = id === 's' ? [row] : id === 'both' ? [row, { ...row, doc: { ...ROW, tenant: 'globex' } }] : [];
        const { tenant } = where;
        return Promise.resolve({
          rows: rows.filter(({ doc }) => tenant === undefined || doc.tenant === tenant),
          next: null,
        });
      },
      commandRow: notAsked,
      partition: notAsked,
    },
    edge: {
      submit: (submission) => {
        sent.push(submission);
        return Promise.resolve({ httpStatus: 200, body: '{}' });
      },
      lookUp: notAsked,
    },
    projection: { isReached: () => Promise.resolve(true) },
    limits: new Limits(),
    access: () => ({ roles: ['operator', 'administrator'], reach: 'tenant' }),
    authenticate: (authorization) =>
      Promise.resolve({
        subject: 'asha',
        tenant: authorization === undefined ? 'acme' : '*',
        roles: ['administrator'],
      }),
    metrics: new Metrics({ service: 'things' }),
    keys: { destroy: notAsked, destroyUnits: notAsked },
    // What is erased is told by the store; this process still believes its keys.
    shown: (docs, isAnew) =>
      Promise.resolve(
        docs.map(
          (doc) =>
            mapPayloads(doc, (payload) =>
              String(payload.body) === 'kept' || isAnew !== true ? { ...payload, content: Buffer.from('{}') } : payload,
            ) as Doc,
        ),
      ),
    partitionCount: notAsked,
    onError: () => undefined,
  };
  const module = ServiceModule.forService(context, [Steps, Questions, Budgets]);
  app = await createEdge('things', module, { bodyBytesMax: 10_000, docs: 'public' });
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('preHandler', ({ body }, _reply, done) => {
    watched(body);
    done();
  });
  await app.init();
}, 60_000);
afterAll(() => app.close());

async function post(url: string, payload?: object, headers: Record<string, string> = {}) {
  sent = [];
  const asked = payload === undefined ? ({ method: 'DELETE' } as const) : ({ method: 'POST', payload } as const);
  const { statusCode, body } = await app.inject({ url, headers, ...asked });
  const [one] = sent;
  return { status: statusCode, answer: JSON.parse(body) as unknown, one, record: one?.build(ENVELOPE) };
}

describe('a verb about a thing', () => {
  it('is the record of its schema: key and tenant from the row, fields as the wire holds them', async () => {
    const { status, one, record } = await post('/v1/steps/s/check', {
      purpose: 'repair',
      evidence: { ticket: 7 },
      reason: 'fixed',
    });
    expect([status, one?.type, one?.key, one?.tenant, one?.route]).toEqual([
      200,
      'recourse.recoveries.CheckStep',
      'run-1',
      'acme',
      'POST /v1/steps/s/check',
    ]);
    expect(one?.body).toEqual({ step_id: 's', purpose: 'repair', evidence: { ticket: 7 }, reason: 'fixed' });
    const { evidence, ...told } = record as Readonly<Record<string, unknown>>;
    expect(told).toEqual({
      envelope: ENVELOPE,
      run_id: 'run-1',
      step_id: 's',
      purpose: 'repair',
      reason: 'fixed',
    });
    expect(readPayload(evidence as Payload)).toEqual({ ticket: 7 });
  });

  it('goes through what is any JSON once, to write it: it is known to be JSON, and no copy is made of it', async () => {
    looks = 0;
    const { one } = await post('/v1/steps/s/check', { purpose: 'repair', evidence: { ticket: 7 }, reason: 'fixed' });
    expect(looks).toBe(1);
    expect(JSON.stringify(one?.body)).toContain('"evidence":{"ticket":7}');
    expect(looks).toBe(2);
  });

  it('fills in what nobody says, and makes bytes of a digest', async () => {
    const escalated = await post('/v1/steps/s/escalate', { severity: 'sev1', reason: 'r' });
    expect(escalated.record).toMatchObject({ severity: 'sev1', runbook: null });
    const approved = await post('/v1/steps/s/approve', { action_digest: DIGEST, reason: 'r' });
    expect(approved.record).toMatchObject({ action_digest: Buffer.from(DIGEST, 'hex') });
  });

  it('is refused where what it stands on was erased, and only the verbs that stand on it are', async () => {
    const agreed = { action_digest: DIGEST, reason: 'r' };
    expect(await post('/v1/steps/gone/approve', agreed)).toMatchObject({
      status: 409,
      answer: { code: 'PAYLOADS_ERASED' },
      one: undefined,
    });
    expect(await post('/v1/steps/kept/approve', agreed)).toMatchObject({ status: 200 });
    expect(await post('/v1/steps/gone/deny', agreed)).toMatchObject({ status: 200 });
  });

  it('says itself what its route says', async () => {
    const denied = await post('/v1/forward-approvals/s/deny', { action_digest: DIGEST, reason: 'r' });
    expect(denied.record).toMatchObject({ approval_id: 's', verdict: 'deny', run_id: 'run-1' });
  });

  it.each([
    ['a value it does not know', 'escalate', { severity: 'sev9', reason: 'r' }, '/severity'],
    ['a member too many', 'retry', { reason: 'r', run_id: 'run-1' }, '/'],
    ['a reason that is missing', 'retry', {}, '/reason'],
    ['a text that is too long', 'escalate', { severity: 'sev1', runbook: 'x'.repeat(2_001), reason: 'r' }, '/runbook'],
    ['NUL in a text', 'escalate', { severity: 'sev1', runbook: 'a\u0000', reason: 'r' }, '/runbook'],
    ['half of a pair of surrogates', 'retry', { reason: 'a\ud800' }, '/reason'],
  ])('refuses %s', async (_what, verb, body, path) => {
    const { status, answer } = await post(`/v1/steps/s/${verb}`, body);
    expect([status, answer]).toMatchObject([400, { code: 'INPUT_INVALID', problems: [{ path }] }]);
    expect(sent).toEqual([]);
  });

  it('may be a deletion, which says nothing but its path', async () => {
    const { status, one, record } = await post('/v1/reservations/s');
    expect([status, one?.key, one?.body]).toEqual([200, 'acme', { reservation_id: 's' }]);
    expect(record).toEqual({ envelope: ENVELOPE, run_id: 'run-1', effect_key: 'e', attempt: null });
  });

  it('is of the tenant that is named where several have a thing of its id, and is not sent where none is', async () => {
    const headers = { authorization: 'all' };
    const problems = [{ code: 'TENANT_REQUIRED', path: '/tenant' }];
    for (const refused of [
      await post('/v1/steps/both/retry', { reason: 'r' }, headers),
      await post('/v1/reservations/both', undefined, headers),
    ])
      expect(refused).toMatchObject({ status: 400, answer: { code: 'INPUT_INVALID', problems }, one: undefined });
    const named = await post('/v1/steps/both/retry', { reason: 'r', tenant: 'globex' }, headers);
    expect(named.one).toMatchObject({ tenant: 'globex', body: { step_id: 'both', reason: 'r' } });
    expect((await post('/v1/reservations/both?tenant=globex', undefined, headers)).one).toMatchObject({
      tenant: 'globex',
    });
    expect((await post('/v1/steps/both/retry', { reason: 'r' })).one).toMatchObject({ tenant: 'acme' });
    expect((await post('/v1/steps/both/retry', { reason: 'r', tenant: 'globex' })).status).toBe(403);
  });

  it('is not sent about a thing that is not there, or whose id is none', async () => {
    expect((await post('/v1/steps/t/retry', { reason: 'r' })).status).toBe(404);
    expect((await post('/v1/steps/s%07/retry', { reason: 'r' })).status).toBe(400);
    expect(sent).toEqual([]);
  });
});

/** What the edge says of a ceiling where nobody does. */
const UNSAID = { measure: 'debt', window: 'life', refunds: 'net' };

describe('a verb about no thing', () => {
  const ceiling = { scope: 'run', scope_id: 'run-1', currency: 'EUR', ceiling_minor: 5 };

  it('has the tenant as its key where no field is: that of the token, or the one named', async () => {
    const own = await post('/v1/budgets', ceiling);
    expect([own.one?.key, own.one?.tenant, own.record]).toEqual([
      'acme',
      'acme',
      { envelope: ENVELOPE, ...ceiling, ...UNSAID },
    ]);
    const named = await post('/v1/budgets', { ...ceiling, tenant: 'globex' }, { authorization: 'all' });
    expect([named.one?.key, named.one?.tenant, named.record]).toEqual([
      'globex',
      'globex',
      { envelope: ENVELOPE, ...ceiling, ...UNSAID },
    ]);
    expect((await post('/v1/budgets', { ...ceiling, tenant: 'globex' })).status).toBe(403);
  });

  it('takes whole amounts from nothing up', async () => {
    for (const ceiling_minor of [-1, 0.5, 2 ** 53, Number.MAX_SAFE_INTEGER])
      expect((await post('/v1/budgets', { ...ceiling, ceiling_minor })).status).toBe(400);
  });

  it('counts attempts from 1, where somebody counts', async () => {
    const reserved = async (attempt?: unknown) =>
      post('/v1/reservations', { run_id: 'r', effect_key: 'e', capability: 'a.b', values: [], attempt });
    for (const none of [0, -1, 1.5])
      expect(await reserved(none)).toMatchObject({
        status: 400,
        answer: { code: 'INPUT_INVALID', problems: [{ path: '/attempt' }] },
        one: undefined,
      });
    const told = [(await reserved(1)).record, (await reserved(null)).record, (await reserved()).record];
    expect(told).toMatchObject([{ attempt: 1 }, { attempt: null }, { attempt: null }]);
    const release = { run_id: 'r', effect_key: 'e', attempt: 0 };
    expect((await post('/v1/reservations/any/release', release)).status).toBe(400);
  });

  it('takes instants that a calendar has', async () => {
    const until = async (at: number) => (await post('/v1/budgets/move', { ...ceiling, reason: 'r', until: at })).status;
    expect([await until(8.64e15), await until(8.64e15 + 1)]).toEqual([200, 400]);
  });
});
