// What a caller is told whose body or query is not taken: what is wrong about it, and nothing else.
import 'reflect-metadata';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Metrics } from '@recourse/telemetry';
import { z } from 'zod';
import { LIMIT_RATES, Limits } from '../../edge/limits.js';
import { EdgeRefusal } from '../../edge/problem.js';
import { createEdge } from '../../process.js';
import type { EdgeContext } from '../../service-context.js';
import { ServiceModule } from '../../service.module.js';
import { FromCaller } from './caller.js';
import type { Caller } from './caller.js';
import { send } from './commands.js';
import { CommandRoute, Given, Queried, ReadRoute } from './routes.js';

const body = z.record(z.string(), z.unknown());
const query = z.strictObject({ name: z.string().optional() });

@Controller('v1')
class EchoController {
  @CommandRoute('things', { summary: 'Says what it was given.', body, httpStatus: 201 })
  make(@FromCaller() caller: Caller, @Given(body) given: z.infer<typeof body>): Promise<void> {
    send(caller, { httpStatus: 201, body: JSON.stringify(given) });
    return Promise.resolve();
  }
  @ReadRoute('things', 'Says what it was asked.', query)
  read(@Queried(query) asked: z.infer<typeof query>): Promise<z.infer<typeof query>> {
    return Promise.resolve(asked);
  }
}

/** Requests that one address may send here. */
const ADDRESS_BURST = 100;
let app: NestFastifyApplication;
beforeAll(async () => {
  const context: EdgeContext = {
    definition: { name: 'things' },
    host: { health: () => ({ live: true, ready: true, started: true, detail: {} }) },
    limits: new Limits({ ...LIMIT_RATES, address: { burst: ADDRESS_BURST, perSecond: 0.001 } }),
    access: () => ({ roles: ['operator'], reach: 'tenant' }),
    authenticate: (authorization) =>
      authorization === 'Bearer none'
        ? Promise.reject(new EdgeRefusal('TOKEN_REFUSED', 'it is none'))
        : Promise.resolve({
            subject: 'asha',
            tenant: 'acme',
            roles: [authorization === 'Bearer viewer' ? 'viewer' : 'operator'],
          }),
    metrics: new Metrics({ service: 'things' }),
    onError: () => undefined,
  };
  app = await createEdge('things', ServiceModule.forEdge(context, [EchoController], []), {
    bodyBytesMax: 10_000,
    docs: 'public',
  });
  await app.init();
}, 60_000);
afterAll(() => app.close());

async function post(payload: string | Buffer, headers: Readonly<Record<string, string>> = {}) {
  const all = { 'content-type': 'application/json', ...headers };
  const answer = await app.inject({ method: 'POST', url: '/v1/things', headers: all, payload });
  return { status: answer.statusCode, type: answer.headers['content-type'], body: answer.json<unknown>() };
}

describe('a body', () => {
  it.each(['{"run_id":"r"}', '\uFEFF{"run_id":"r"}', '{"constructor":"builds","of":"\\u0061 prototype"}'])(
    'is taken as it is: %s',
    async (text) => {
      const given: unknown = JSON.parse(text.replace('\uFEFF', ''));
      expect(await post(text)).toMatchObject({ status: 201, body: given });
    },
  );

  it('is taken where its coding is said to be none', async () => {
    expect(await post('{"a":1}', { 'content-encoding': 'identity' })).toMatchObject({ status: 201 });
  });

  it.each([
    ['gzip', gzipSync('{"a":1}')],
    ['GZIP', gzipSync('{"a":1}')],
    ['br', '{"a":1}'],
    ['zstd', '{"a":1}'],
  ])('that is encoded as %s is refused by the name of its coding', async (coding, payload) => {
    const refused = await post(payload, { 'content-encoding': `identity, ${coding}` });
    expect(refused).toMatchObject({
      status: 415,
      type: expect.stringContaining('application/problem+json'),
      body: { code: 'CODING_UNSUPPORTED', detail: expect.stringContaining(`${coding}; send it plain`) },
    });
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'application/xml', 'multipart/form-data; boundary=x'])(
    'of %s is refused: what a form of another page may send is no command',
    async (type) => {
      expect(await post('a=1', { 'content-type': type })).toMatchObject({
        status: 415,
        body: { code: 'MEDIA_TYPE_UNSUPPORTED', detail: expect.stringContaining('application/json') },
      });
    },
  );

  it.each([
    ['{"__proto__":{"admin":true}}', '/__proto__'],
    ['{"a":[{"\\u005f_proto_\\u005F":1}]}', '/a/0/__proto__'],
    ['{"constructor":{"prototype":{"a":1}}}', '/constructor/prototype'],
    ['{"a":{"c\\u006fnstructor":{"pr\\u006ftotype":1}}}', '/a/constructor/prototype'],
  ])('with a member that would be a prototype is refused with its place: %s', async (text, path) => {
    const problems = [{ code: 'MEMBER_NOT_TAKEN', path }];
    expect(await post(text)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID', problems } });
  });

  it.each([
    ['a byte that begins nothing', [0xff]],
    ['half of a pair of surrogates', [0xed, 0xa0, 0x80]],
    ['a character that is cut off', [0xc3]],
    ['a character that is longer than it need be', [0xc0, 0xaf]],
  ])('that is no UTF-8 is refused, and not read as another text: %s', async (_what, bytes) => {
    const payload = Buffer.concat([Buffer.from('{"run_id":"r'), Buffer.from(bytes), Buffer.from('"}')]);
    const problems = [{ code: 'TEXT_NOT_UTF8' }];
    expect(await post(payload)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID', problems } });
  });

  it.each([
    ['{', 'REQUEST_REFUSED', 'not valid JSON'],
    ['', 'REQUEST_REFUSED', 'empty'],
    [`${'['.repeat(65)}${']'.repeat(65)}`, 'INPUT_TOO_DEEP', '64 levels'],
    ['{"run_id":1e999}', 'INPUT_INVALID', 'a number beyond'],
  ])('that cannot be read is refused with what is wrong about it: %j', async (text, code, detail) => {
    expect(await post(text)).toMatchObject({ status: 400, body: { code, detail: expect.stringContaining(detail) } });
  });
});

describe('whoever is not let in', () => {
  const BROKEN = ['{', '', '{"__proto__":{}}', 'x'.repeat(20_000)];
  const asked = async (url: string, headers: Readonly<Record<string, string>>, remoteAddress = '10.0.0.1') => {
    const codes: unknown[] = [];
    for (const payload of BROKEN) {
      const all = { 'content-type': 'application/json', ...headers };
      const answer = await app.inject({ method: 'POST', url, headers: all, payload, remoteAddress });
      codes.push([answer.statusCode, answer.json<{ code: string }>().code]);
    }
    return codes;
  };
  const each = (status: number, code: string) => BROKEN.map(() => [status, code]);

  it('has no token: nothing of the body is read, whatever it is', async () => {
    expect(await asked('/v1/things', { authorization: 'Bearer none' })).toEqual(each(401, 'TOKEN_REFUSED'));
    expect(await asked('/v1/things', { authorization: 'Bearer none', 'content-encoding': 'gzip' })).toEqual(
      each(401, 'TOKEN_REFUSED'),
    );
  });

  it('has no role of the row: nothing of the body is read, whatever it is', async () => {
    expect(await asked('/v1/things', { authorization: 'Bearer viewer' })).toEqual(each(403, 'ROLE_REQUIRED'));
  });

  it('asks too often: nothing of the body is read, whatever it is, at no route either', async () => {
    const from = '10.0.0.2';
    for (let nth = 0; nth < ADDRESS_BURST; nth += 1)
      await app.inject({ method: 'GET', url: '/v1/things', remoteAddress: from });
    for (const url of ['/v1/things', '/v1/nothing'])
      expect(await asked(url, {}, from)).toEqual(each(429, 'TOO_MANY_REQUESTS'));
  });

  it('asks for what is no route: nothing of the body is read, whatever it is', async () => {
    expect(await asked('/v1/nothing', {})).toEqual(each(404, 'ROUTE_UNKNOWN'));
    const { headers } = await app.inject({ method: 'POST', url: '/v1/nothing', payload: {} });
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
  });

  it('is heard where no token is needed', async () => {
    const answer = await app.inject({ url: '/health/live', headers: { authorization: 'Bearer none' } });
    expect(answer.statusCode).toBe(200);
  });
});

describe('a query', () => {
  const get = async (text: string) => {
    const answer = await app.inject({ method: 'GET', url: `/v1/things?name=${text}` });
    return { status: answer.statusCode, body: answer.json<unknown>() };
  };

  it.each(['%C3%BC', '%F0%9F%98%80', 'a+b', '%25'])('of text is read: %s', async (text) => {
    const name = decodeURIComponent(text.replace('+', ' '));
    expect(await get(text)).toEqual({ status: 200, body: { name } });
  });

  it.each(['%ff', '%ED%A0%80', '%C3', '%zz', '100%'])(
    'that decodes to no text is refused, and not read as another text: %s',
    async (text) => {
      const problems = [{ code: 'TEXT_NOT_UTF8' }];
      expect(await get(text)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID', problems } });
    },
  );
});
