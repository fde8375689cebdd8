// Requests that mean a route and are written otherwise: no spelling of a path, method or header comes past token, role and tenant.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Edges } from './edges.testing.js';
import type { Edge } from './edges.testing.js';

/** Nobody is slowed: each spelling is judged. */
const OFTEN = { burst: 1_000_000, perSecond: 1_000_000 };
let edges: Edges;
let address: { readonly host: string; readonly port: number };
beforeAll(async () => {
  edges = await Edges.open({ rates: { address: OFTEN, principal: OFTEN, badTokens: OFTEN } });
  const ledger = edges.all.find(({ name }) => name === 'mutation-ledger');
  await ledger?.app.listen(0, '127.0.0.1');
  address = { host: '127.0.0.1', port: Number(new URL((await ledger?.app.getUrl()) ?? '').port) };
}, 60_000);
afterAll(() => edges.close());

const encoded = (path: string): string =>
  path.replace(/[a-z](?=[^/]*$)/u, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
const SPELLINGS: readonly (readonly [string, (path: string) => string])[] = [
  ['two slashes before it', (path) => `/${path}`],
  ['two slashes inside', (path) => path.replace('/v1/', '/v1//')],
  ['a parameter behind a semicolon', (path) => `${path};role=administrator`],
  ['a dot', (path) => path.replace('/v1/', '/v1/./')],
  ['an encoded dot', (path) => path.replace('/v1/', '/v1/%2e/')],
  ['a way up and down again', (path) => path.replace('/v1/', '/health/../v1/')],
  ['an encoded way up', (path) => path.replace('/v1/', '/health/%2e%2e/v1/')],
  ['capitals', (path) => path.toUpperCase()],
  ['a slash behind it', (path) => `${path}/`],
  ['a letter that is encoded', encoded],
  ['a blank behind it', (path) => `${path}%20`],
  ['a NUL behind it', (path) => `${path}%00`],
  ['a fragment', (path) => `${path}#/health`],
  ['a backslash', (path) => path.replace('/v1/', '/v1%5c')],
];
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const OVERRIDES = { 'x-http-method-override': 'GET', 'x-original-url': '/health', 'x-rewrite-url': '/health' };

/** What let somebody in, failed, or was not judged, of every route of an edge. */
async function asked(edge: Edge, spell: (path: string) => string, token: string | null): Promise<readonly string[]> {
  const let_in: string[] = [];
  for (const { path, row } of edge.routes)
    for (const method of METHODS) {
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', ...OVERRIDES, ...authorization };
      const { statusCode } = await edge.app.inject({ method, url: spell(path.replaceAll(/\{\w+\}/gu, 'x')), headers });
      if (statusCode < 400 || statusCode >= 500 || statusCode === 429)
        let_in.push(`${method} ${row}: ${String(statusCode)}`);
    }
  return let_in;
}

describe.each([['as it stands', (path: string) => path] as const, ...SPELLINGS])('a route with %s', (_how, spell) => {
  it('lets nobody in without a token, whatever method and headers say', async () => {
    for (const edge of edges.all) expect(await asked(edge, spell, null)).toEqual([]);
  });

  it('lets nobody in without a role', async () => {
    const token = await edges.token('acme', [], 'nobody');
    for (const edge of edges.all) expect(await asked(edge, spell, token)).toEqual([]);
  });
});

it('is let in as it stands, where role and tenant are right: there is something to get past', async () => {
  const token = await edges.token('*', ['auditor', 'administrator'], 'root');
  const ledger = edges.all.find(({ name }) => name === 'mutation-ledger');
  expect(edges.all.flatMap(({ routes }) => routes).length).toBeGreaterThan(100);
  expect((await (ledger === undefined ? [] : asked(ledger, (path) => path, token))).length).toBeGreaterThan(10);
});

describe('a request line or header that is written otherwise', () => {
  const statusOf = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let heard = '';
      const socket = connect(address, () => socket.write(text));
      socket.on('data', (chunk) => (heard += chunk.toString()));
      socket.on('close', () => {
        resolve((heard.match(/HTTP\/1\.1 \d{3}/gu) ?? []).join());
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
    });
  const REST = 'Host: x\r\nConnection: close\r\n\r\n';
  const upgrade = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

  it.each([
    ['an absolute target', `GET http://evil.example/v1/parked HTTP/1.1\r\n${REST}`, '401'],
    [
      'an absolute target that names an open route as its host',
      `GET http://health/v1/parked HTTP/1.1\r\n${REST}`,
      '401',
    ],
    ['a target of a proxy', `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${REST}`, ''],
    ['TRACE', `TRACE /v1/parked HTTP/1.1\r\n${REST}`, '404'],
    [
      'an upgrade to a websocket',
      `GET /v1/parked HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\n${upgrade}\r\n`,
      '401',
    ],
    ['two hosts', `GET /v1/parked HTTP/1.1\r\nHost: x\r\n${REST}`, '401'],
    ['no host', 'GET /v1/parked HTTP/1.1\r\nConnection: close\r\n\r\n', '400'],
    ['a token in the query', `GET /v1/parked?access_token=a.b.c HTTP/1.1\r\n${REST}`, '401'],
    ['a token in a cookie', `GET /v1/parked HTTP/1.1\r\nCookie: authorization=Bearer a.b.c\r\n${REST}`, '401'],
  ])('lets nobody in: %s', async (_what, text, status) => {
    expect(await statusOf(text)).toBe(status === '' ? '' : `HTTP/1.1 ${status}`);
  });

  it('speaks as the first of two tokens, and as nobody where that is none', async () => {
    const good = await edges.token('acme', ['viewer'], 'twice');
    const lines = (first: string, second: string) =>
      `GET /v1/status HTTP/1.1\r\nAuthorization: Bearer ${first}\r\nAuthorization: Bearer ${second}\r\n${REST}`;
    expect(await statusOf(lines('a.b.c', good))).toBe('HTTP/1.1 401');
    expect(await statusOf(lines(good, 'a.b.c'))).toBe('HTTP/1.1 200');
  });
});
