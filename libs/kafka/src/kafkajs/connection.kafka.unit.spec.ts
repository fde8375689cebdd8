import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { mendConnections } from './connection.kafka.js';

const QUIET = {
  namespace: () => QUIET,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

let server: Server;

beforeEach(async () => {
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  server.close();
});

describe('a connection that was cut in the middle of an answer', () => {
  it('begins the next time with nothing in hand', async () => {
    const { port } = server.address() as AddressInfo; // a server that listens on a port has one
    const connection = new (mendConnections())({
      host: '127.0.0.1',
      port,
      logger: QUIET,
      clientId: 'spec',
      connectionTimeout: 1_000,
      requestTimeout: 1_000,
      socketFactory: ({ onConnect }: { readonly onConnect: () => void }) =>
        connect({ host: '127.0.0.1', port }, onConnect),
    });
    const accepted = once(server, 'connection');
    await connection.connect();
    const [first] = (await accepted) as [Socket];
    first.write(Buffer.from([0, 0, 0, 9, 1, 2]));
    while (connection.bytesBuffered < 6)
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    first.destroy();
    while (connection.isConnected())
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });

    await connection.connect();
    expect({ chunks: connection.chunks, buffered: connection.bytesBuffered, needed: connection.bytesNeeded }).toEqual({
      chunks: [],
      buffered: 0,
      needed: 4,
    });
    await connection.disconnect();
  });
});
