// The console's server between a browser, the development issuer and services that say what they were asked.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { createDevIssuer } from '../../../libs/service/src/dev-issuer.main.js';
import type { ConsoleConfig } from './config.js';
import { createConsole } from './console.js';

const DOCUMENT =
  '<meta name="csp-nonce" content="__NONCE__"><meta name="position" content="__POSITION__"><div id="page"></div>';
const ISSUER = 'https://issuer.test';

let folder: string;
let issuer: FastifyInstance;
let service: FastifyInstance;
let server: FastifyInstance;
let publicUrl: string;
/** How often the service was asked how far it has come. */
let looks = 0;

/** A service that answers with what it was asked. */
function echoing(): FastifyInstance {
  const app = fastify();
  app.get('/v1/status', () => {
    looks += 1;
    return { ready: true, detail: { loops: [{ log: 'a.log', partition: 0, movedSeq: 7, state: 'ready' }] } };
  });
  app.post('/v1/things/:id/approve', (request, reply) =>
    reply
      .header('x-secret', 'of the service')
      .status(409)
      .send({ headers: request.headers, body: request.body, url: request.url }),
  );
  app.get('/metrics', () => 'nobody of the page reads this');
  return app;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-console-'));
  mkdirSync(join(folder, 'page', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'page', 'index.html'), DOCUMENT);
  writeFileSync(join(folder, 'page', 'assets', 'a.js'), 'x');
  issuer = await createDevIssuer({ dataDir: join(folder, 'issuer'), issuer: ISSUER, audience: 'recourse' });
  const issuerUrl = await issuer.listen({ port: 0, host: '127.0.0.1' });
  service = echoing();
  const serviceUrl = await service.listen({ port: 0, host: '127.0.0.1' });
  publicUrl = 'http://127.0.0.1:4321';
  server = await createConsole(configOf(issuerUrl, serviceUrl), { pageFolder: join(folder, 'page') });
});
afterAll(async () => {
  await server.close();
  await issuer.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

function configOf(issuerUrl: string, serviceUrl: string): ConsoleConfig {
  return {
    httpHost: '127.0.0.1',
    httpPort: 0,
    publicUrl,
    issuer: ISSUER,
    discoveryUrl: `${issuerUrl}/.well-known/openid-configuration`,
    clientId: 'console',
    clientSecret: undefined,
    scope: 'openid',
    sessionMs: 3_600_000,
    contractsUrl: serviceUrl,
    ledgerUrl: serviceUrl,
    recoveriesUrl: serviceUrl,
    budgetUrl: 'http://127.0.0.1:1',
    notifierUrl: serviceUrl,
    drillsFile: join(folder, 'drills.jsonl'),
    logLevel: 'silent',
  };
}

interface Signed {
  readonly cookie: string;
  readonly csrf: string;
  readonly then: string;
}

const cookieIn = (header: unknown): string => ([header].flat() as string[]).map((one) => one.split(';')[0]).join('; ');

/** Goes the way a browser goes. */
async function signIn(then = '/', before = '', roles = 'approver', tenant = 'demo'): Promise<Signed> {
  const leaving = await server.inject({ url: `/auth/sign-in?then=${encodeURIComponent(then)}` });
  const asked = new URL(String(leaving.headers.location));
  const chosen = await fetch(`${asked.origin}/authorize`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      ...Object.fromEntries(asked.searchParams),
      subject: 'mira',
      tenant,
      roles,
    }),
  });
  const back = new URL(chosen.headers.get('location') ?? '');
  const returning = await server.inject({
    url: `${back.pathname}${back.search}`,
    headers: { cookie: [cookieIn(leaving.headers['set-cookie']), before].filter((one) => one !== '').join('; ') },
  });
  const cookie = cookieIn(returning.headers['set-cookie']);
  const session = await server.inject({ url: '/session', headers: { cookie } });
  return { cookie, csrf: session.json<{ csrf: string }>().csrf, then: String(returning.headers.location) };
}

describe('a session', () => {
  it('begins at the issuer, with PKCE, and says who is signed in without the token', async () => {
    const leaving = await server.inject({ url: '/auth/sign-in' });
    const asked = new URL(String(leaving.headers.location)).searchParams;
    expect([asked.get('code_challenge_method'), asked.get('redirect_uri')]).toEqual([
      'S256',
      `${publicUrl}/auth/callback`,
    ]);
    const { cookie } = await signIn();
    const session = await server.inject({ url: '/session', headers: { cookie } });
    expect(session.json()).toMatchObject({ subject: 'mira', tenant: 'demo', roles: ['approver'] });
    expect(session.body).not.toContain('eyJ');
  });

  it('tells roles as the services count them: who approves for the platform approves in each tenant', async () => {
    const { cookie } = await signIn('/', '', 'platform_approver operator', '*');
    const session = await server.inject({ url: '/session', headers: { cookie } });
    expect(session.json()).toMatchObject({ tenant: '*', roles: ['platform_approver', 'approver'] });
  });

  it.each([
    ['/runs/a?b=c', '/runs/a?b=c'],
    ['https://elsewhere.example/', '/'],
    ['//elsewhere.example/', '/'],
    ['/\\elsewhere.example/', '/'],
    ['/.//elsewhere.example/', '/'],
  ])('that began at %s goes on at %s', async (asked, then) => {
    expect((await signIn(asked)).then).toBe(then);
  });

  it('is given to nobody who did not begin it: the state and the browser have to fit', async () => {
    const leaving = await server.inject({ url: '/auth/sign-in' });
    const answer = await server.inject({ url: '/auth/callback?code=x&state=y' });
    expect(answer.json()).toMatchObject({ code: 'SIGN_IN_REFUSED', status: 400 });
    const cookie = cookieIn(leaving.headers['set-cookie']);
    const other = await server.inject({ url: '/auth/callback?code=x&state=y', headers: { cookie } });
    expect(other.json()).toMatchObject({ code: 'SIGN_IN_REFUSED' });
  });

  it('is over once somebody signs in at the same browser', async () => {
    const before = await signIn();
    await signIn('/', before.cookie);
    const { cookie } = before;
    expect((await server.inject({ url: '/session', headers: { cookie } })).json()).toMatchObject({
      code: 'SESSION_MISSING',
    });
  });

  it('is there for whoever began to sign in, however many strangers begin meanwhile', async () => {
    const leaving = await server.inject({ url: '/auth/sign-in' });
    for (let at = 0; at < 50; at += 1) await server.inject({ url: '/auth/sign-in' });
    const refused = await server.inject({
      url: '/auth/callback?code=x&state=y',
      headers: { cookie: 'recourse_sign_in=x' },
    });
    expect(refused.json()).toMatchObject({ code: 'SIGN_IN_REFUSED' });
    expect(String(leaving.headers['set-cookie']).length).toBeLessThan(4_096);
  });

  it('is over once its person signs out', async () => {
    const { cookie, csrf } = await signIn();
    const refused = await server.inject({ method: 'POST', url: '/auth/sign-out', headers: { cookie } });
    expect(refused.json()).toMatchObject({ code: 'CSRF_REFUSED' });
    await server.inject({ method: 'POST', url: '/auth/sign-out', headers: { cookie, 'x-recourse-csrf': csrf } });
    expect((await server.inject({ url: '/session', headers: { cookie } })).json()).toMatchObject({
      code: 'SESSION_MISSING',
      status: 401,
    });
  });
});

describe('the way to a service', () => {
  const approve = async (headers: Readonly<Record<string, string>>, url = '/api/recoveries/v1/things/1/approve') =>
    server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...headers },
      payload: '{"a":1}',
    });

  it('carries the token of the session, what the command needs, and nothing else of the browser or the service', async () => {
    const { cookie, csrf } = await signIn();
    const answer = await approve({ cookie, 'x-recourse-csrf': csrf, 'idempotency-key': 'k', 'x-other': 'o' });
    const { headers, body } = answer.json<{ headers: Record<string, string>; body: unknown }>();
    expect([answer.statusCode, body, headers['idempotency-key']]).toEqual([409, { a: 1 }, 'k']);
    expect(headers['authorization']).toMatch(/^Bearer eyJ/);
    expect([headers['cookie'], headers['x-other'], headers['x-recourse-csrf']]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(answer.headers['x-secret']).toBeUndefined();
  });

  it.each([
    ['without its word', {}, 'CSRF_REFUSED'],
    ['with another word', { 'x-recourse-csrf': 'guessed' }, 'CSRF_REFUSED'],
  ])('takes no command %s', async (_what, headers, code) => {
    const { cookie } = await signIn();
    expect((await approve({ cookie, ...headers })).json()).toMatchObject({ code, status: 403 });
  });

  it.each([
    ['of another origin', { origin: 'https://elsewhere.example' }],
    ['of another site', { 'sec-fetch-site': 'same-site' }],
  ])('takes no command from a page %s, whatever it knows', async (_what, headers) => {
    const { cookie, csrf } = await signIn();
    expect((await approve({ cookie, 'x-recourse-csrf': csrf, ...headers })).json()).toMatchObject({
      code: 'CSRF_REFUSED',
    });
  });

  it('reads nothing because a page elsewhere led there, so that nobody is on record as a reader who was not', async () => {
    const { cookie } = await signIn();
    const read = async (site: string) => {
      const headers = { cookie, 'sec-fetch-site': site };
      return (await server.inject({ url: '/api/recoveries/v1/things', headers })).json<{ code?: string }>().code;
    };
    const [elsewhere, neighbour, own, entered] = await Promise.all(
      ['cross-site', 'same-site', 'same-origin', 'none'].map(read),
    );
    expect([elsewhere, neighbour]).toEqual(['CSRF_REFUSED', 'CSRF_REFUSED']);
    expect([own, entered]).not.toContain('CSRF_REFUSED');
  });

  it.each([
    '/api/ledger/metrics',
    '/api/ledger/v1/%2e%2e/metrics',
    '/api/ledger/../metrics',
    '/api/nobody/v1/status',
    '/api/ledger//127.0.0.1/v1/x',
    '/api/ledger/v1/%2e%2e%2fmetrics',
    '/api/ledger/v1/..%5c..%5cmetrics',
    '/api/ledger/v1/..;/metrics',
  ])('leads nowhere else: %s', async (url) => {
    const { cookie } = await signIn();
    expect((await server.inject({ url, headers: { cookie } })).statusCode).toBe(404);
  });

  it.each([
    ['HEAD', {}],
    ['HEAD', { 'sec-fetch-site': 'cross-site' }],
    ['DELETE', { 'x-http-method-override': 'GET' }],
  ] as const)('takes no %s without the word of the page, whatever it is overridden to', async (method, headers) => {
    const { cookie } = await signIn();
    const answer = await server.inject({ method, url: '/api/ledger/v1/status', headers: { cookie, ...headers } });
    expect(answer.statusCode).toBe(403);
  });

  it('makes no command of a question that names another method, and knows nobody by a second cookie', async () => {
    const { cookie } = await signIn();
    const headers = { cookie, 'x-http-method-override': 'POST', 'x-original-method': 'POST' };
    expect((await server.inject({ url: '/api/ledger/v1/things/1/approve', headers })).statusCode).toBe(404);
    const twice = { cookie: `recourse_session=of-another-port; ${cookie}` };
    expect((await server.inject({ url: '/api/ledger/v1/status', headers: twice })).json()).toMatchObject({
      code: 'SESSION_MISSING',
    });
  });

  it('comes back to its own address, whatever host it was asked for', async () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
    const { location } = (await server.inject({ url: '/auth/sign-in', headers })).headers;
    expect(new URL(String(location)).searchParams.get('redirect_uri')).toMatch(`${publicUrl}/`);
  });

  it('says that a service is away, and that nobody knows what became of a command', async () => {
    const { cookie, csrf } = await signIn();
    const answer = await approve({ cookie, 'x-recourse-csrf': csrf }, '/api/budgets/v1/budgets');
    expect(answer.json()).toMatchObject({ code: 'SERVICE_AWAY', status: 502 });
    expect(answer.body).toContain('nobody knows');
  });
});

describe('the document', () => {
  it('is the same for every address of the page, each with a word of its own, under a policy that lets nothing inline run', async () => {
    const [first, second] = await Promise.all([server.inject({ url: '/' }), server.inject({ url: '/reviews/x' })]);
    const nonces = [first, second].map(({ body }) => /content="([^"]+)"/.exec(body)?.[1]);
    expect(new Set(nonces).size).toBe(2);
    const policy = String(first.headers['content-security-policy']);
    expect(policy).toContain(`'nonce-${String(nonces[0])}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
  });

  it('does not stand where a file or a route is missing', async () => {
    for (const url of ['/assets/none.js', '/api', '/auth/other'])
      expect((await server.inject({ url })).json()).toMatchObject({ code: 'PAGE_MISSING' });
  });
});

/** Where the document of a page says that services had come. */
async function positionIn(cookie?: string): Promise<string> {
  const { body } = await server.inject({ url: '/runs', headers: cookie === undefined ? {} : { cookie } });
  return /name="position" content="([^"]*)"/.exec(body)?.[1] ?? 'none';
}

/** What a stream says first. */
async function firstMoved(address: string, cookie: string): Promise<{ readonly moved: readonly string[] }> {
  const { body } = await fetch(address, { headers: { cookie } });
  let read = '';
  for await (const part of body ?? []) {
    read += Buffer.from(part).toString();
    const data = /event: moved\ndata: (.*)\n/.exec(read)?.[1];
    if (data !== undefined) return JSON.parse(data) as { readonly moved: readonly string[] }; // what the stream writes
  }
  throw new Error('the stream ended');
}

/** Of the five, how many answer a look. */
const SERVICES_UP = 4;

describe('the stream of a page', () => {
  let address: string;
  beforeAll(async () => {
    address = `${await server.listen({ port: 0, host: '127.0.0.1' })}/events`;
  });

  it('is one of so many of its session, and another comes once one is closed', async () => {
    const { cookie } = await signIn();
    const closing = new AbortController();
    const open = async (): Promise<number> =>
      (await fetch(address, { headers: { cookie }, signal: closing.signal })).status;
    const statuses = [];
    for (let at = 0; at < 21; at += 1) statuses.push(await open());
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    closing.abort();
    for (;;) {
      const again = await fetch(address, { headers: { cookie } });
      await again.body?.cancel();
      if (again.status === 200) break;
    }
  });

  it('ends once with its session, wherever its connection is with what came before it, and no other ends with it', async () => {
    const [one, two] = await Promise.all([signIn(), signIn()]);
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    let told = '';
    const isTold = new Promise<void>((resolve) => {
      socket.on('data', (part) => {
        told += part.toString();
        if (told.includes('event: moved')) resolve();
      });
    });
    const asking = ({ cookie }: Signed): string => `GET /events HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`;
    // The answer to the second waits behind the first, which does not end.
    socket.write(asking(one) + asking(two));
    await isTold;
    const headers = { cookie: two.cookie, 'x-recourse-csrf': two.csrf };
    await server.inject({ method: 'POST', url: '/auth/sign-out', headers });
    const looked = looks;
    while (looks < looked + 5 * SERVICES_UP) await new Promise((resolve) => setImmediate(resolve));
    expect((await server.inject({ url: '/health' })).json()).toEqual({ live: true });
    expect([socket.readyState, told.includes('event: ended')]).toEqual(['open', false]);
    socket.destroy();
  });

  it('goes on where services stood before its document, so that nothing is read twice, and tells strangers nothing', async () => {
    const { cookie } = await signIn();
    const all = ['contracts', 'ledger', 'recoveries', 'notifier'];
    expect((await firstMoved(address, cookie)).moved).toEqual(all);
    const from = await positionIn(cookie);
    expect((await firstMoved(`${address}?from=${from}`, cookie)).moved).toEqual([]);
    expect((await firstMoved(`${address}?from=nonsense`, cookie)).moved).toEqual(all);
    expect(await positionIn()).toBe('');
  });
});

describe('the last drills', () => {
  it('are told to nobody without a role, and neither is what moves', async () => {
    const { cookie } = await signIn('/', '', 'nonsense');
    for (const url of ['/drills', '/events'])
      expect((await server.inject({ url, headers: { cookie } })).json()).toMatchObject({ code: 'ROLE_REQUIRED' });
    const page = await server.inject({ url: '/', headers: { cookie } });
    expect(page.body).toContain('<meta name="position" content="">');
  });

  it('are told to whoever is signed in, and to nobody else', async () => {
    writeFileSync(join(folder, 'drills.jsonl'), '{"drill_id":"drill_1","verdict":"clean"}\n');
    expect((await server.inject({ url: '/drills' })).json()).toMatchObject({ code: 'SESSION_MISSING' });
    const { cookie } = await signIn();
    const told = await server.inject({ url: '/drills', headers: { cookie } });
    expect(told.json()).toEqual({ isKept: true, items: [{ drill_id: 'drill_1', verdict: 'clean' }], unreadable: 0 });
  });
});
