// Several pages of one browser: they sign in side by side, and each is told why its session ended.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { createDevIssuer } from '../../../libs/service/src/dev-issuer.main.js';
import { createConsole } from './console.js';

const ISSUER = 'https://issuer.test';
const PUBLIC_URL = 'http://127.0.0.1:4321';
const HOUR_MS = 3_600_000;

let folder: string;
let issuer: FastifyInstance;
let service: FastifyInstance;
let server: FastifyInstance;
let issuerUrl: string;
let serviceUrl: string;
let errors: unknown[];
let now: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-side-by-side-'));
  mkdirSync(join(folder, 'page', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'page', 'index.html'), '<div id="page"></div>');
  issuer = await createDevIssuer({ dataDir: join(folder, 'issuer'), issuer: ISSUER, audience: 'recourse' });
  issuerUrl = await issuer.listen({ port: 0, host: '127.0.0.1' });
  service = fastify();
  service.get('/v1/status', () => ({ ready: true, detail: { loops: [] } }));
  serviceUrl = await service.listen({ port: 0, host: '127.0.0.1' });
});
beforeEach(async () => {
  errors = [];
  now = Date.now();
  const config = {
    httpHost: '127.0.0.1',
    httpPort: 0,
    publicUrl: PUBLIC_URL,
    issuer: ISSUER,
    discoveryUrl: `${issuerUrl}/.well-known/openid-configuration`,
    clientId: 'console',
    clientSecret: undefined,
    scope: 'openid',
    sessionMs: HOUR_MS,
    contractsUrl: serviceUrl,
    ledgerUrl: serviceUrl,
    recoveriesUrl: serviceUrl,
    budgetUrl: serviceUrl,
    notifierUrl: serviceUrl,
    drillsFile: undefined,
    logLevel: 'silent' as const,
  };
  const onError = (error: unknown): void => void errors.push(error);
  server = await createConsole(config, { pageFolder: join(folder, 'page'), onError, now: () => now });
});
afterEach(() => server.close());
afterAll(async () => {
  await issuer.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

/** A browser: its cookies, and pages that share them. */
class Jar {
  readonly #cookies = new Map<string, string>();

  async get(url: string) {
    const answer = await server.inject({ url, headers: this.headers });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.delete(name);
      if (value !== '') this.#cookies.set(name, value);
    }
    return answer;
  }

  /** Leaves for the issuer, and answers with the address there. */
  async leave(then = '/'): Promise<string> {
    return String((await this.get(`/auth/sign-in?then=${encodeURIComponent(then)}`)).headers.location);
  }

  /** Comes back from there as somebody, and answers with where the page goes on. */
  async comeBack(place: string, subject = 'mira'): Promise<string> {
    const { location, status } = await this.answerAt(place, subject);
    return location ?? String(status);
  }

  async answerAt(place: string, subject = 'mira') {
    const asked = new URL(place);
    const chosen = await fetch(`${asked.origin}/authorize`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        ...Object.fromEntries(asked.searchParams),
        subject,
        tenant: 'demo',
        roles: 'approver',
      }),
    });
    const back = new URL(chosen.headers.get('location') ?? '');
    const address = `${back.pathname}${back.search}`;
    const answer = await this.get(address);
    return { address, location: answer.headers.location, status: answer.statusCode };
  }

  async who(): Promise<{ readonly subject?: string; readonly csrf?: string }> {
    return (await this.get('/session')).json();
  }

  get headers(): Readonly<Record<string, string>> {
    return { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  }

  /** Characters of what is under way. */
  get carried(): number {
    const underWay = [...this.#cookies].filter(([name]) => name.includes('sign_in'));
    return underWay.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  }
}

describe('pages of one browser that sign in side by side', () => {
  it('each come back to where they were, and to one session', async () => {
    const browser = new Jar();
    const [first, second] = [await browser.leave('/runs'), await browser.leave('/exposure')];
    now += 1_000;
    expect(await browser.comeBack(second)).toBe('/exposure');
    const before = await browser.who();
    expect(await browser.comeBack(first)).toBe('/runs');
    expect(await browser.who()).toEqual(before);
    expect([before.subject, errors]).toEqual(['mira', []]);
  });

  it('are of whoever signed in last, where they are two', async () => {
    const browser = new Jar();
    const [first, second] = [await browser.leave('/runs'), await browser.leave('/exposure')];
    now += 1_000;
    await browser.comeBack(second);
    expect(await browser.comeBack(first, 'olga')).toBe('/runs');
    expect((await browser.who()).subject).toBe('olga');
  });

  it('carry no more than a request can, however many never come back: the oldest go', async () => {
    const browser = new Jar();
    const place = `/runs/${'x'.repeat(900)}`;
    const oldest = await browser.leave(place);
    for (let at = 0; at < 20; at += 1) await browser.leave(place);
    const newest = await browser.leave('/workers');
    expect(browser.carried).toBeLessThan(4_097);
    expect(await browser.comeBack(oldest)).toBe('400');
    expect(await browser.comeBack(newest)).toBe('/workers');
  });
});

describe('an address of the issuer that is opened once more', () => {
  it('leads whoever is signed in to the inbox, and is no trouble of anybody', async () => {
    const browser = new Jar();
    const { address } = await browser.answerAt(await browser.leave('/runs'));
    const again = await browser.get(address);
    expect([again.statusCode, again.headers.location, errors]).toEqual([303, '/', []]);
  });
});

describe('the stream of a session', () => {
  /** Why its stream says that a session ended, once something happened to it. */
  async function endAfter(happens: (browser: Jar) => unknown): Promise<unknown> {
    const browser = new Jar();
    await browser.comeBack(await browser.leave());
    const { cookie = '' } = browser.headers;
    const address = await server.listen({ port: 0, host: '127.0.0.1' });
    const { body } = await fetch(`${address}/events`, { headers: { cookie } });
    await happens(browser);
    let read = '';
    for await (const part of body ?? []) read += Buffer.from(part).toString();
    return JSON.parse(/event: ended\ndata: (.*)\n/.exec(read)?.[1] ?? 'null');
  }

  it('says that its person signed out', async () => {
    const by = await endAfter(async (browser) => {
      const headers = { ...browser.headers, 'x-recourse-csrf': (await browser.who()).csrf ?? '' };
      await server.inject({ method: 'POST', url: '/auth/sign-out', headers });
    });
    expect(by).toEqual({ by: 'sign-out' });
  });

  it('says that somebody signed in at its browser', async () => {
    expect(await endAfter(async (browser) => browser.comeBack(await browser.leave()))).toEqual({ by: 'sign-in' });
  });

  it('says that its time is over', async () => {
    expect(await endAfter(() => (now += HOUR_MS))).toEqual({ by: 'expiry' });
  });
});
