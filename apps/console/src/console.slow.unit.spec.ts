// Requests to the console that reach no route: those that do not arrive, those with an address that nothing can decode, and bodies that
// no edge reads.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { ConsoleConfig } from './config.js';
import { createConsole } from './console.js';

const ARRIVE_MS = 300;
let folder: string;
let server: FastifyInstance;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-console-'));
  writeFileSync(join(folder, 'index.html'), '<div id="page"></div>');
  const nowhere = 'http://127.0.0.1:1';
  const config: ConsoleConfig = {
    ...{ httpHost: '127.0.0.1', httpPort: 0, publicUrl: 'http://127.0.0.1:4321', issuer: nowhere, scope: 'openid' },
    ...{ discoveryUrl: nowhere, clientId: 'console', clientSecret: undefined, sessionMs: 1_000, logLevel: 'silent' },
    ...{ contractsUrl: nowhere, ledgerUrl: nowhere, recoveriesUrl: nowhere, budgetUrl: nowhere, notifierUrl: nowhere },
    drillsFile: join(folder, 'drills.jsonl'),
  };
  server = await createConsole(config, { pageFolder: folder, arriveWithinMs: ARRIVE_MS });
  await server.listen({ port: 0, host: '127.0.0.1' });
  port = Number(new URL(server.listeningOrigin).port);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('a request to the console that does not arrive', () => {
  it.each([
    [
      'a body of one byte now and then',
      'POST /api/ledger/v1/undos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{',
      ' ',
    ],
    ['headers of one byte now and then', 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'a'],
  ])('is cut off: %s', async (_what, head, trickle) => {
    const began = performance.now();
    const text = await new Promise<string>((resolve) => {
      let heard = '';
      const socket = connect({ host: '127.0.0.1', port });
      // Written before the rest is, however long the connection takes.
      socket.write(head);
      const timer = setInterval(() => socket.writable && socket.write(trickle), ARRIVE_MS / 6);
      socket.on('data', (chunk) => (heard += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(timer);
        resolve(heard);
      });
    });
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeLessThan(ARRIVE_MS * 10);
  });
});

describe('an address that the console cannot read', () => {
  it.each([
    ['/%ff', 400],
    ['/runs/%zz', 400],
    ['/api/ledger/v1/runs/%ED%A0%80', 400],
    [`/api/${'e'.repeat(200)}/v1/runs`, 414],
  ])('is answered as every other that is not taken: %s', async (url, status) => {
    const answer = await server.inject({ url });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ type: 'about:blank', status, code: 'REQUEST_REFUSED' });
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringContaining('application/problem+json'),
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
  });
});

describe('a body for the console', () => {
  it.each(['gzip', 'identity, br', 'x-unknown'])(
    'that is encoded as %s is refused as at the services, whatever it is for',
    async (coding) => {
      for (const url of ['/api/ledger/v1/undos', '/sign-out', '/nowhere']) {
        const headers = { 'content-type': 'application/json', 'content-encoding': coding };
        const answer = await server.inject({ method: 'POST', url, headers, payload: '{}' });
        expect(answer.statusCode).toBe(415);
        expect(answer.json()).toMatchObject({
          code: 'CODING_UNSUPPORTED',
          detail: expect.stringContaining('send it plain'),
        });
        expect(answer.headers['content-type']).toContain('application/problem+json');
      }
    },
  );

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'application/xml', 'multipart/form-data; boundary=x'])(
    'of %s is refused as at the services',
    async (type) => {
      const headers = { 'content-type': type };
      const answer = await server.inject({ method: 'POST', url: '/api/ledger/v1/undos', headers, payload: 'a=1' });
      expect(answer.statusCode).toBe(415);
      expect(answer.json()).toMatchObject({ status: 415, code: 'MEDIA_TYPE_UNSUPPORTED' });
    },
  );

  it('is taken to its route where its coding is said to be none', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' };
    const answer = await server.inject({ method: 'POST', url: '/api/ledger/v1/undos', headers, payload: '{}' });
    expect(answer.json()).toMatchObject({ code: 'SESSION_MISSING' });
  });
});
