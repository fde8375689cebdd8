import 'reflect-metadata';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { mapPayloads } from '@recourse/event-log';
import type { Doc } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { Metrics } from '@recourse/telemetry';
import type { EdgeAnswer, Submission } from '../../edge/command-edge.js';
import { Limits } from '../../edge/limits.js';
import { createEdge } from '../../process.js';
import type { ServiceContext } from '../../service-context.js';
import { ServiceModule } from '../../service.module.js';
import { listsController } from './lists.js';

const LOG = 'recourse.things';
const SECRET = 'asha lives in the mill';
const RECORDED: EdgeAnswer = { httpStatus: 201, body: '{}' };

const Things = listsController({
  tag: 'things',
  log: LOG,
  lists: {
    things: {
      kind: 'thing',
      summary: 'Things.',
      one: { column: 'mutation_id', summary: 'One thing.', asks: ({ phase }) => phase === 'waits' },
    },
  },
});

const sealed = (n: number): Doc => ({
  content_type: 'text/plain',
  encoding: 'sealed',
  key_id: 'k',
  sha256: Buffer.alloc(32, n),
  body: Buffer.alloc(40, n),
});
const thing = (id: string, phase: string, payloads: readonly Doc[]): Doc => ({
  tenant: 'acme',
  mutation_id: id,
  run_id: 'run-1',
  subject_ref: `guest/${id}`,
  phase,
  payloads,
});
const ROWS: Readonly<Record<string, Doc>> = {
  waiting: thing('waiting', 'waits', [sealed(1)]),
  ended: thing('ended', 'done', [sealed(1), sealed(2)]),
  empty: thing('empty', 'waits', []),
};
/** As long as an id in a path may be, encoded. */
const LONG = 'ж'.repeat(90);

let app: NestFastifyApplication;
let roles: readonly string[] = [];
/** What was asked of the command wire, and when payloads were opened for the answer. */
let submitted: Submission[] = [];
let answerOf: () => Promise<EdgeAnswer> = () => Promise.resolve(RECORDED);

function notAsked(): never {
  throw new Error('no route here asks for this');
}

beforeAll(async () => {
  const context: ServiceContext = {
    definition: { name: 'things', cores: [{ log: LOG }], commandTopic: 'recourse.thing-commands', commandLog: LOG },
    host: {
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
      page: ({ where: { mutation_id: id } }) =>
        Promise.resolve({
          rows: Object.entries(id === LONG ? { [LONG]: thing('ref/'.repeat(127), 'done', [sealed(1)]) } : ROWS)
            .filter(([name]) => id === undefined || id === name)
            .map(([key, doc]) => ({ partition: 0, kind: 'thing', group: key, key, dueAt: null, doc })),
          next: null,
        }),
      commandRow: notAsked,
      partition: notAsked,
    },
    edge: {
      submit: (submission) => {
        submitted.push(submission);
        return answerOf();
      },
      lookUp: notAsked,
    },
    projection: { isReached: () => Promise.resolve(true) },
    limits: new Limits(),
    access: () => ({
      roles: ['viewer', 'approver', 'payload_reader'],
      reach: 'tenant',
      opens: ['payload_reader'],
      asked: ['approver'],
    }),
    authenticate: () => Promise.resolve({ subject: 'asha', tenant: 'acme', roles }),
    metrics: new Metrics({ service: 'things' }),
    keys: { destroy: notAsked, destroyUnits: notAsked },
    shown: (docs) =>
      Promise.resolve(
        docs.map((doc) => mapPayloads(doc, (each) => ({ ...each, content: Buffer.from(SECRET) })) as Doc), // a doc stays one
      ),
    partitionCount: notAsked,
    onError: () => undefined,
  };
  app = await createEdge('things', ServiceModule.forService(context, [Things]), {
    bodyBytesMax: 10_000,
    docs: 'public',
  });
  await app.init();
}, 60_000);
afterAll(() => app.close());
beforeEach(() => {
  submitted = [];
  answerOf = () => Promise.resolve(RECORDED);
});

async function read(path: string, ...as: readonly string[]): Promise<{ status: number; body: string }> {
  roles = as;
  const { statusCode: status, payload: body } = await app.inject({ method: 'GET', url: path });
  return { status, body };
}

describe('a sealed payload', () => {
  it('stays sealed for whoever carries no role that opens it, which is named', async () => {
    const { body } = await read('/v1/things/ended', 'viewer');
    expect(JSON.parse(body)).toMatchObject({
      payloads: [
        { encoding: 'sealed', sha256: '01'.repeat(32), body: null, opens_with: ['payload_reader'] },
        { body: null, opens_with: ['payload_reader'] },
      ],
    });
    expect(body).not.toContain(SECRET);
    expect(submitted).toEqual([]);
  });

  it('is shown to a payload reader, and the reading goes on record: who, what, of whom and by which route', async () => {
    expect((await read('/v1/things/ended', 'payload_reader')).body).toContain(SECRET);
    expect(submitted).toMatchObject([
      {
        topic: 'recourse.thing-commands',
        log: LOG,
        type: 'recourse.log.RecordReading',
        principal: { subject: 'asha' },
        tenant: 'acme',
        route: 'GET /v1/things/ended',
        body: { things: ['mutation/ended'], subjects: ['guest/ended'], payload_count: 2 },
      },
    ]);
  });

  it('is shown to whoever decides about the thing while it waits, and not afterwards', async () => {
    expect((await read('/v1/things/waiting', 'approver')).body).toContain(SECRET);
    expect(submitted).toMatchObject([{ body: { things: ['mutation/waiting'] } }]);
    expect((await read('/v1/things/ended', 'approver')).body).not.toContain(SECRET);
    expect((await read('/v1/things', 'approver')).body).not.toContain(SECRET);
    expect(submitted).toHaveLength(1);
  });

  it('names for whoever decides the roles that open it while it waits', async () => {
    expect((await read('/v1/things/waiting', 'viewer')).body).toContain('"opens_with":["payload_reader","approver"]');
  });

  it('is recorded once for a whole list, and not at all where nothing is sealed', async () => {
    await read('/v1/things', 'payload_reader');
    expect(submitted).toMatchObject([
      {
        body: {
          things: ['mutation/waiting', 'mutation/ended'],
          payload_count: 3,
          subjects: ['guest/waiting', 'guest/ended'],
        },
      },
    ]);
    submitted = [];
    await read('/v1/things/empty', 'payload_reader');
    expect(submitted).toEqual([]);
  });
});

describe('a reading of what has long names', () => {
  it('is recorded under names that a record may hold', async () => {
    expect((await read(`/v1/things/${encodeURIComponent(LONG)}`, 'payload_reader')).body).toContain(SECRET);
    const [reading] = submitted;
    expect(reading?.route).toBe('GET /v1/things/:id');
    expect(reading?.body).toMatchObject({ things: [expect.stringMatching(/^mutation\/sha256:[0-9a-f]{64}$/)] });
  });
});

describe('a reading that cannot be recorded', () => {
  it.each<[string, () => Promise<EdgeAnswer>, number, string]>([
    ['is not answered in time', () => Promise.resolve({ httpStatus: 202, body: '{}' }), 503, 'READING_UNRECORDED'],
    ['is refused', () => Promise.resolve({ httpStatus: 409, body: '{}' }), 503, 'READING_UNRECORDED'],
    [
      'reaches no broker',
      () => Promise.reject(new Failure('BROKER_UNAVAILABLE', 'no broker')),
      503,
      'BROKER_UNAVAILABLE',
    ],
  ])('shows nothing: it %s', async (_what, answer, status, code) => {
    answerOf = answer;
    for (const path of ['/v1/things', '/v1/things/ended']) {
      const told = await read(path, 'payload_reader');
      expect(told.status).toBe(status);
      expect(JSON.parse(told.body)).toMatchObject({ code });
      expect(told.body).not.toContain(SECRET);
    }
  });
});
