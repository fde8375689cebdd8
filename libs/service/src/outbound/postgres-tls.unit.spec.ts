// An address that asks for TLS gets it from each of our clients of PostgreSQL: the pool of the loop, and the lock that comes before a migration.
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool } from './postgres-connection.js';
import { migrate } from './postgres-database.js';

/** First message of a client that wants TLS: eight octets with this number in the last four. */
const SSL_REQUEST = 80_877_103;
let server: Server;
const asked: ('tls' | 'clear')[] = [];

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      asked.push(first.length === 8 && first.readInt32BE(4) === SSL_REQUEST ? 'tls' : 'clear');
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
});
beforeEach(() => {
  asked.length = 0;
});

/** Where the server is; what it says back is of no matter. */
function address(parameters: string): string {
  const { port } = server.address() as AddressInfo;
  return `postgres://role:password@127.0.0.1:${String(port)}/database${parameters}`;
}

const clients = [
  ['the pool', (url: string) => createPool({ url }).query('SELECT 1')],
  ['the lock of a migration', (url: string) => migrate({ url, applicationName: 'spec', migrations: [] })],
] as const;

describe.each(clients)('%s', (_name, ask) => {
  it.each([
    ['?sslmode=verify-full', 'tls'],
    ['', 'clear'],
  ] as const)('with %j at the end of its address speaks first as it says: %s', async (parameters, first) => {
    await expect(ask(address(parameters))).rejects.toThrow();
    expect(asked).toEqual([first]);
  });
});
