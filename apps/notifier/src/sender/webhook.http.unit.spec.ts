import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { retryAfterMs, sendWebhook } from './webhook.http.js';

const HEADERS = { 'webhook-id': 'msg_1', 'webhook-timestamp': '5', 'webhook-signature': 'v1,x' };
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map(
      (server) =>
        new Promise((resolve) => {
          server.closeAllConnections();
          server.close(resolve);
        }),
    ),
  );
});

async function receiver(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // A server that listens on TCP has such an address.
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
}

describe('a request to a receiver', () => {
  it('carries headers and body, and brings back what was answered', async () => {
    let seen: readonly unknown[] = [];
    const url = await receiver((request, response) => {
      let body = '';
      request
        .on('data', (chunk) => {
          body += String(chunk);
        })
        .on('end', () => {
          seen = [request.method, request.headers['webhook-id'], request.headers['content-type'], body];
          response.writeHead(503, { 'retry-after': '7' }).end('later');
        });
    });
    expect(await sendWebhook({ url, headers: HEADERS, body: '{}', timeoutMs: 5_000 })).toEqual({
      kind: 'answered',
      httpStatus: 503,
      retryAfterMs: 7_000,
    });
    expect(seen).toEqual(['POST', 'msg_1', 'application/json', '{}']);
  });

  it('follows no redirect', async () => {
    let asked = 0;
    const url = await receiver((_request, response) => {
      asked += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(await sendWebhook({ url, headers: HEADERS, body: '{}', timeoutMs: 5_000 })).toMatchObject({
      kind: 'answered',
      httpStatus: 307,
    });
    expect(asked).toBe(1);
  });

  it('that nobody answers in time, or at all, is said to be that', async () => {
    const url = await receiver(() => undefined);
    expect(await sendWebhook({ url, headers: HEADERS, body: '{}', timeoutMs: 50 })).toEqual({
      kind: 'failed',
      code: 'TIMEOUT',
    });
    expect(await sendWebhook({ url: 'http://127.0.0.1:1/', headers: HEADERS, body: '{}', timeoutMs: 5_000 })).toEqual({
      kind: 'failed',
      code: 'UNREACHABLE',
    });
  });
});

describe('a Retry-After header', () => {
  it('is seconds, a date, or nothing', () => {
    expect([
      retryAfterMs('120', 0),
      retryAfterMs('Thu, 01 Jan 1970 00:01:00 GMT', 10_000),
      retryAfterMs('Thu, 01 Jan 1970 00:00:01 GMT', 10_000),
      retryAfterMs('soon', 0),
      retryAfterMs(null, 0),
    ]).toEqual([120_000, 50_000, 0, null, null]);
  });
});
