// A sign-in that came to nothing: the person is told in a page, and whoever operates the console in its log.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { createConsole } from './console.js';
import { isAway } from './sign-in/issuer.js';

const ISSUER = 'https://issuer.test';
const PUBLIC_URL = 'http://127.0.0.1:4321';
const HTML = { accept: 'text/html,application/xhtml+xml' };

let folder: string;
let issuer: FastifyInstance;
let server: FastifyInstance;
let errors: unknown[];
/** What the issuer answers to the exchange; null: it hangs up. */
let exchange: { readonly status: number; readonly body: object } | null;

function issuing(): FastifyInstance {
  const app = fastify({ forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.get('/found', ({ host }) => ({
    issuer: ISSUER,
    authorization_endpoint: `http://${host}/authorize`,
    token_endpoint: `http://${host}/token`,
    jwks_uri: `http://${host}/jwks`,
  }));
  app.post('/token', (request, reply) => {
    if (exchange !== null) return reply.status(exchange.status).send(exchange.body);
    reply.hijack();
    return request.raw.destroy();
  });
  return app;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-sign-in-'));
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), '<div id="page"></div>');
  issuer = issuing();
  const at = await issuer.listen({ port: 0, host: '127.0.0.1' });
  const config = {
    httpHost: '127.0.0.1',
    httpPort: 0,
    publicUrl: PUBLIC_URL,
    issuer: ISSUER,
    discoveryUrl: `${at}/found`,
    clientId: 'console',
    clientSecret: undefined,
    scope: 'openid',
    sessionMs: 3_600_000,
    contractsUrl: at,
    ledgerUrl: at,
    recoveriesUrl: at,
    budgetUrl: at,
    notifierUrl: at,
    drillsFile: undefined,
    logLevel: 'silent' as const,
  };
  server = await createConsole(config, { pageFolder: folder, onError: (error) => errors.push(error) });
});
beforeEach(() => {
  errors = [];
});
afterAll(async () => {
  await server.close();
  await issuer.close();
  rmSync(folder, { recursive: true });
});

/** Comes back from the issuer as a browser does. */
async function comeBack(headers: Readonly<Record<string, string>> = HTML) {
  const leaving = await server.inject({ url: '/auth/sign-in' });
  const state = new URL(String(leaving.headers.location)).searchParams.get('state') ?? '';
  const cookie = String(leaving.headers['set-cookie']).split(';')[0] ?? '';
  return server.inject({ url: `/auth/callback?code=c&state=${state}`, headers: { ...headers, cookie } });
}

describe('a sign-in that came to nothing', () => {
  it('is a page with a sentence and the way to sign in, for a person; a problem for what else asks', async () => {
    exchange = { status: 400, body: { error: 'invalid_client' } };
    const page = await comeBack();
    expect([page.statusCode, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect(page.body).toContain('<a href="/auth/sign-in">Sign in</a>');
    expect(page.body).toContain('SIGN_IN_REFUSED');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await comeBack({ accept: 'application/json' })).json()).toMatchObject({ code: 'SIGN_IN_REFUSED' });
  });

  it('since the issuer refused the console is told to who operates it, with what the issuer said', async () => {
    exchange = { status: 401, body: { error: 'invalid_client' } };
    await comeBack();
    expect(errors).toMatchObject([{ code: 'SIGN_IN_REFUSED', cause: { error: 'invalid_client' } }]);
  });

  it('since nobody began it here is told to its person alone', async () => {
    const answer = await server.inject({ url: '/auth/callback?code=c&state=s', headers: HTML });
    expect([answer.statusCode, errors]).toEqual([400, []]);
  });

  it.each([
    ['does not answer', null],
    ['is in trouble', { status: 503, body: {} }],
  ])('since the issuer %s is called that, and told', async (_what, answer) => {
    exchange = answer;
    const page = await comeBack();
    expect([page.statusCode, page.body.includes('ISSUER_AWAY')]).toEqual([503, true]);
    expect(errors).toMatchObject([{ code: 'ISSUER_AWAY' }]);
  });

  it('is no word of the issuer where the exchange took too long', () => {
    expect(isAway(Object.assign(new Error('timed out'), { code: 'OAUTH_TIMEOUT' }))).toBe(true);
    expect(isAway(new TypeError('a bug'))).toBe(false);
  });
});
