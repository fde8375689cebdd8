// A small HTTP edge for specs: answers with what a function says.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, Json } from '@recourse/kernel';
import type { EdgeAnswer } from './edge.js';

export interface EdgeCall {
  readonly path: string;
  readonly body: Readonly<Record<string, Json>>;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
}
export interface TestEdge {
  readonly url: string;
  readonly close: () => void;
}

/** A clock on which every wait is over at once. */
export function impatientClock(): Clock {
  let passed = 0;
  return {
    now: () => passed,
    monotonic: () => passed,
    alarm: (ms, ring) => {
      passed += ms;
      queueMicrotask(ring);
      return () => undefined;
    },
    sleep: (ms) => {
      passed += ms;
      return Promise.resolve();
    },
  };
}

/** An answer as the client hands it on. */
export const answered = (status: number, body: object): EdgeAnswer => ({
  status,
  body: { ...body },
  location: null,
  from: 'the service at http://edge.test',
});

export async function testEdge(answer: (call: EdgeCall) => Promise<readonly [number, object]>): Promise<TestEdge> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const text = Buffer.concat(chunks).toString();
        // Specs send objects or nothing.
        const body = text === '' ? {} : (JSON.parse(text) as EdgeCall['body']);
        const { authorization, 'idempotency-key': key } = request.headers;
        const idempotencyKey = typeof key === 'string' ? key : undefined;
        void answer({ path: request.url ?? '', body, authorization, idempotencyKey }).then(([status, told]) => {
          response.writeHead(status).end(JSON.stringify(told));
        });
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
