import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Limits } from '../../edge/limits.js';
import { Controller, Delete, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Metrics } from '@recourse/telemetry';
import { z } from 'zod';
import { idText } from '../../edge/validate.js';
import type { Page, PagePosition, PageQuery, PlacedRow } from '../../projection-reads.js';
import type { ServiceContext } from '../../service-context.js';
import { createEdge } from '../../process.js';
import { ServiceModule } from '../../service.module.js';
import { FromCaller } from './caller.js';
import type { Caller } from './caller.js';
import { send } from './commands.js';
import { listsController } from './lists.js';
import { CommandRoute, Given, Id } from './routes.js';

const LOG = 'recourse.things';
const shelving = z.strictObject({ shelf: z.number().int(), until: z.number().nullable().default(null) });

const Things = listsController({
  tag: 'things',
  log: LOG,
  lists: {
    things: {
      kind: 'thing',
      summary: 'Things and where they lie.',
      where: {
        state: z
          .enum(['open', 'closed'])
          .transform((state) => (state === 'open' ? ['new', 'waiting'] : state))
          .optional()
          .describe('open: new or waiting'),
        subject: idText.optional(),
      },
      columns: { state: 'phase' },
      named: {
        subject: (_reads, _caller, subject, { tenant }) => Promise.resolve([subject, `${tenant ?? 'own'}:${subject}`]),
      },
      one: { column: 'thing_id', summary: 'One thing.' },
    },
    shelves: { kind: 'shelf', summary: 'Shelves of all.', sharedTenant: '*' },
    boxes: {
      kind: 'box',
      summary: 'Boxes by what is in them.',
      where: { size: idText.optional() },
      always: { size: ['large', 'small'] },
    },
  },
});

@Controller('v1')
class CommandsController {
  @CommandRoute('things/:id/place', { summary: 'Lays a thing on a shelf.', body: shelving })
  place(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Given(shelving) { shelf }: z.infer<typeof shelving>,
  ): Promise<void> {
    send(caller, { httpStatus: 200, body: JSON.stringify({ id, shelf }), location: caller.route });
    return Promise.resolve();
  }
  @Post('things/:id/again')
  again(@FromCaller() caller: Caller, @Id('id') id: string): Promise<void> {
    send(caller, { httpStatus: 200, body: id });
    return Promise.resolve();
  }
  @CommandRoute('things/:id', { summary: 'Throws a thing away.', httpStatus: 204, verb: Delete })
  remove(@FromCaller() caller: Caller, @Id('id') id: string): Promise<void> {
    send(caller, { httpStatus: 204, body: id });
    return Promise.resolve();
  }
}

const THING: PlacedRow = {
  partition: 0,
  kind: 'thing',
  group: 'a',
  key: 'a',
  dueAt: null,
  doc: { thing_id: 'a', hash: Buffer.from('ab', 'hex') },
};

let app: NestFastifyApplication;
let asked: PageQuery[] = [];
/** Where the next page begins. */
let next: PagePosition | null = null;

function notAsked(): never {
  throw new Error('no route here asks for this');
}

beforeAll(async () => {
  const context: ServiceContext = {
    definition: { name: 'things', cores: [{ log: LOG }], commandTopic: 'recourse.thing-commands', commandLog: LOG },
    host: {
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
      page: (query) => {
        asked.push(query);
        if (query.where['thing_id'] === 'shared') return Promise.resolve(pageOf(['acme', 'acme', 'globex'], query));
        if (query.where['thing_id'] === 'placed') return Promise.resolve(pageOf([undefined, 'acme', undefined], query));
        return Promise.resolve({ rows: query.where['thing_id'] === 'b' ? [] : [THING], next });
      },
      commandRow: notAsked,
      partition: notAsked,
    },
    edge: { submit: notAsked, lookUp: notAsked },
    projection: { isReached: () => Promise.resolve(true) },
    limits: new Limits(),
    access: () => ({ roles: ['operator'], reach: 'tenant' }),
    authenticate: (authorization) =>
      Promise.resolve({
        subject: 'asha',
        tenant: authorization === undefined ? 'acme' : '*',
        roles: ['operator', 'administrator'],
      }),
    metrics: new Metrics({ service: 'things' }),
    keys: { destroy: notAsked, destroyUnits: notAsked },
    shown: (docs) => Promise.resolve(docs),
    partitionCount: notAsked,
    onError: () => undefined,
  };
  const module = ServiceModule.forService(context, [Things, CommandsController]);
  app = await createEdge('things', module, { bodyBytesMax: 10_000, docs: 'public' });
  await app.init();
}, 60_000);
afterAll(() => app.close());

/** Rows of one id, a page each, in these tenants: what a database would give. */
function pageOf(tenants: readonly (string | undefined)[], { where, after }: PageQuery): Page {
  const rows = tenants
    .filter((tenant) => where['tenant'] === undefined || where['tenant'] === tenant)
    .map((tenant, at): PlacedRow => ({ ...THING, key: String(at), doc: { thing_id: 'shared', tenant } }));
  const at = after === undefined ? 0 : Number(after.key) + 1;
  const more = at + 1 < rows.length;
  return { rows: rows.slice(at, at + 1), next: more ? { partition: 0, group: 'a', key: String(at) } : null };
}

async function call(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
) {
  asked = [];
  const { statusCode, payload } = await app.inject({
    method,
    url,
    headers,
    ...(body === undefined ? {} : { payload: body }),
  });
  // Every answer here is JSON or nothing.
  return { status: statusCode, body: (payload === '' ? null : JSON.parse(payload)) as unknown };
}

describe('a list', () => {
  it('narrows columns by the members of its query, to the tenant of the token, and to all that names the same', async () => {
    expect(await call('GET', '/v1/things?state=open&subject=s-1&limit=7')).toEqual({
      status: 200,
      body: { items: [{ thing_id: 'a', hash: 'ab' }], next_cursor: null },
    });
    expect(asked).toEqual([
      {
        log: LOG,
        kind: 'thing',
        where: { phase: ['new', 'waiting'], subject: ['s-1', 'own:s-1'], tenant: 'acme' },
        after: undefined,
        limit: 7,
      },
    ]);
  });

  it('names every value of a column that an index begins with, where nobody narrows it', async () => {
    await call('GET', '/v1/boxes');
    expect(asked[0]?.where).toEqual({ size: ['large', 'small'], tenant: 'acme' });
    await call('GET', '/v1/boxes?size=small');
    expect(asked[0]?.where).toEqual({ size: 'small', tenant: 'acme' });
  });

  it('waits for connections that what somebody decides about does not wait for', async () => {
    const connections = [];
    for (const [url, authorization] of [
      ['/v1/things', undefined],
      ['/v1/things/a', undefined],
      ['/v1/things/a', 'all'],
    ] as const) {
      await call('GET', url, undefined, authorization === undefined ? {} : { authorization });
      connections.push(asked.map(({ isOne }) => isOne));
    }
    expect(connections).toEqual([[undefined], [true], [true]]);
  });

  it("shows what is everybody's where it says so", async () => {
    await call('GET', '/v1/shelves');
    expect(asked[0]?.where).toEqual({ tenant: ['acme', '*'] });
  });

  it('shows who speaks for all tenants one thing of several tenants only under the name of one', async () => {
    const all = { authorization: 'all' };
    const problems = [
      { code: 'TENANT_REQUIRED', path: '/tenant', message: expect.stringContaining('name the tenant') },
    ];
    for (const url of ['/v1/things/shared', '/v1/things/shared?tenant=*'])
      expect(await call('GET', url, undefined, all)).toMatchObject({
        status: 400,
        body: { code: 'INPUT_INVALID', problems },
      });
    for (const tenant of ['acme', 'globex'])
      expect((await call('GET', `/v1/things/shared?tenant=${tenant}`, undefined, all)).body).toMatchObject({ tenant });
    expect((await call('GET', '/v1/things/shared')).body).toMatchObject({ tenant: 'acme' });
    expect((await call('GET', '/v1/things/a', undefined, all)).body).toMatchObject({ thing_id: 'a' });
  });

  it('shows one thing to who speaks for all tenants where rows of no tenant lie beside it', async () => {
    const found = await call('GET', '/v1/things/placed', undefined, { authorization: 'all' });
    expect(found).toMatchObject({ status: 200, body: { tenant: 'acme' } });
  });

  it('takes no member that nobody reads, at a route to one thing too', async () => {
    for (const url of ['/v1/things/a?foo=1', '/v1/things/a?limit=1', '/v1/status?foo=1', '/v1/commands/t?tenant=acme'])
      expect([url, await call('GET', url)]).toEqual([
        url,
        expect.objectContaining({ status: 400, body: expect.objectContaining({ code: 'INPUT_INVALID' }) }),
      ]);
    expect(asked).toEqual([]);
    expect(await call('GET', '/v1/things/a?tenant=other')).toMatchObject({ status: 403 });
    expect(await call('GET', '/v1/things/a?tenant=acme')).toMatchObject({ status: 200 });
  });

  it('refuses a member it does not have, a value it does not take, and a foreign tenant', async () => {
    expect(await call('GET', '/v1/things?colour=red')).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } });
    expect(await call('GET', '/v1/things?state=lost')).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } });
    expect(await call('GET', '/v1/things?tenant=other')).toMatchObject({ status: 403 });
    expect(asked).toEqual([]);
  });

  it('answers one row by its id, and 404 without one', async () => {
    expect(await call('GET', '/v1/things/a')).toEqual({ status: 200, body: { thing_id: 'a', hash: 'ab' } });
    expect(asked[0]?.where).toEqual({ thing_id: 'a', tenant: 'acme' });
    expect(await call('GET', '/v1/things/b')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });
});

describe('a cursor of a list', () => {
  const PLACE = { partition: 0, group: 'a', key: 'a' };
  const cursorOf = async (path: string): Promise<string> => {
    next = PLACE;
    const { body } = await call('GET', path);
    next = null;
    return (body as { next_cursor: string }).next_cursor;
  };
  const withCursor = (path: string, cursor: string) =>
    call('GET', `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`);
  const REFUSED = {
    status: 400,
    body: { code: 'INPUT_INVALID', problems: [{ code: 'CURSOR_INVALID', path: '/cursor' }] },
  };

  it('leads to its next page, however long that is to be', async () => {
    const cursor = await cursorOf('/v1/things?subject=s-1');
    expect(await withCursor('/v1/things?limit=7&subject=s-1', cursor)).toMatchObject({ status: 200 });
    expect(asked[0]?.after).toEqual(PLACE);
  });

  it.each([
    ['another list', '/v1/shelves'],
    ['the same list under a filter', '/v1/things?subject=s-1'],
  ])('is refused by %s', async (_what, path) => {
    expect(await withCursor(path, await cursorOf('/v1/things'))).toMatchObject(REFUSED);
    expect(asked).toEqual([]);
  });

  it.each([
    { ...PLACE, partition: 2 ** 31 },
    { ...PLACE, partition: -1 },
    { ...PLACE, group: 'g\0' },
    { ...PLACE, group: '\ud800' },
  ])('is refused with a place that no row has, and the database is not asked: %#', async (place) => {
    const read = Buffer.from(await cursorOf('/v1/things'), 'base64url').toString();
    const forged = JSON.stringify([(JSON.parse(read) as readonly unknown[])[0], place]);
    const cursor = Buffer.from(forged).toString('base64url');
    expect(await withCursor('/v1/things', cursor)).toMatchObject(REFUSED);
    expect(asked).toEqual([]);
  });
});

describe('a command', () => {
  it('gets its body and its id checked', async () => {
    expect(await call('POST', '/v1/things/a/place', { shelf: 3 })).toEqual({
      status: 200,
      body: { id: 'a', shelf: 3 },
    });
    expect(await call('POST', '/v1/things/a/place', { shelf: 'top' })).toMatchObject({
      status: 400,
      body: { problems: [{ path: '/shelf' }] },
    });
    expect(await call('POST', '/v1/things/a%07/place', { shelf: 3 })).toMatchObject({ status: 400 });
    expect((await call('DELETE', '/v1/things/a')).status).toBe(204);
  });
});

describe('the place of an idempotency key', () => {
  it.each([
    ['/v1/things/a%3Ab/place', '/v1/things/a%3Ab/place'],
    ['/v1/things/a:b/place', '/v1/things/a%3Ab/place'],
    ['/v1/things/%61%3ab/%70lace', '/v1/things/a%3Ab/place'],
    ['/v1/things/a:b/place?', '/v1/things/a%3Ab/place'],
    ['/v1/things/a%2Fplace/place', '/v1/things/a%2Fplace/place'],
    ['/v1/things/%C3%BC%253A/place', '/v1/things/%C3%BC%253A/place'],
  ])('is one however the path is spelled: %s', async (url, place) => {
    const { headers } = await app.inject({ method: 'POST', url, payload: { shelf: 3 } });
    expect(headers.location).toBe(`POST ${place}`);
  });
});

interface Documented {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<'get' | 'post', { readonly parameters: unknown; readonly responses: object }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly required: readonly string[] }>> };
}

describe('the OpenAPI document', () => {
  it('says what the schemas say', async () => {
    const { body } = await call('GET', '/openapi.json');
    expect(body).toMatchObject({
      paths: {
        '/v1/things': {
          get: {
            summary: 'Things and where they lie.',
            tags: ['things'],
            parameters: [
              {
                name: 'tenant',
                in: 'query',
                required: false,
                description: 'Only a token for all tenants may name one.',
              },
              { name: 'cursor', required: false },
              { name: 'limit', required: false, schema: { maximum: 500 } },
              {
                name: 'state',
                required: false,
                description: 'open: new or waiting',
                schema: { enum: ['open', 'closed'] },
              },
              { name: 'subject', required: false },
            ],
          },
        },
        '/v1/things/{id}/place': {
          post: {
            parameters: expect.arrayContaining([
              expect.objectContaining({ name: 'Idempotency-Key', in: 'header', required: false }),
            ]) as unknown,
            requestBody: {
              content: { 'application/json': { schema: { properties: { shelf: { type: 'integer' } } } } },
            },
          },
        },
      },
    });
  });

  it('is of the version that knows what its schemas say', async () => {
    const { openapi, paths } = (await call('GET', '/openapi.json')).body as Documented;
    expect(JSON.stringify(paths['/v1/things/{id}/place']?.post)).toContain('"type":["number","null"]');
    expect(openapi).toBe('3.1.0');
  });

  it('names the ids of a path by what checks them, and how each route refuses', async () => {
    const { paths, components } = (await call('GET', '/openapi.json')).body as Documented;
    const { get: one, post: retry } = { ...paths['/v1/things/{id}'], ...paths['/v1/things/{id}/again'] };
    const { post: place } = paths['/v1/things/{id}/place'] ?? {};
    const id = { name: 'id', in: 'path', required: true, schema: { maxLength: 170, minLength: 1 } };
    for (const operation of [one, retry, place])
      expect(operation).toMatchObject({
        parameters: expect.arrayContaining([
          expect.objectContaining({ ...id, schema: expect.objectContaining(id.schema) }),
        ]),
        responses: { default: { $ref: expect.stringMatching(/^#\/components\/responses\/(?:Command)?Refused$/) } },
      });
    expect(place?.responses).toMatchObject({ '2XX': {}, default: { $ref: '#/components/responses/CommandRefused' } });
    expect(one?.responses).not.toHaveProperty('2XX');
    const { body: problem } = await call('GET', '/v1/things?charm=1');
    expect(Object.keys(problem as object)).toEqual([...(components.schemas['Problem']?.required ?? []), 'problems']);
  });
});
