// A server that ended a connection just as a pool handed it out (57P01) ended the process too: the pool no longer listened to the
// connection, and whoever had asked for it did not yet. Every connection has a listener of its own now.
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool, inTransaction } from '../../libs/service/src/outbound/postgres-connection.js';
import { migrate } from '../../libs/service/src/outbound/postgres-database.js';

/** A message of the server: a letter, the length, what it says. */
function message(letter: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(letter), length, body]);
}

const READY = message('Z', Buffer.from('I'));
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY]);
const ENDED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'));
/** An empty answer to a statement with parameters. */
const ANSWER = Buffer.concat([
  message('1'),
  message('2'),
  message('n'),
  message('C', Buffer.from('SELECT 0\0')),
  READY,
]);

let server: Server;
let ended: number;

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (startup) => {
      if (startup.includes('application_name')) {
        ended += 1;
        // In one piece: the connection is good, and no turn passes until it is not.
        socket.end(Buffer.concat([WELCOME, ENDED]));
        return;
      }
      socket.write(WELCOME);
      socket.on('data', () => socket.write(ANSWER));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
});
beforeEach(() => {
  ended = 0;
});

function url(): string {
  const { port } = server.address() as AddressInfo;
  return `postgres://role:password@127.0.0.1:${String(port)}/database`;
}

describe('a connection that the server ends as the pool hands it out', () => {
  it('fails the transaction it was for', async () => {
    const pool = createPool({ url: url() });
    const work = inTransaction(pool, 'BEGIN', () => Promise.resolve());
    await expect(work).rejects.toThrow();
    expect([ended, pool.totalCount]).toEqual([1, 0]);
    await pool.end();
  });

  it('fails the statement it was for', async () => {
    const pool = createPool({ url: url() });
    await expect(pool.query('SELECT 1')).rejects.toThrow();
    expect(ended).toBe(1);
    await pool.end();
  });

  it('fails the migration it was for', async () => {
    const migrating = migrate({ url: url(), applicationName: 'spec', migrations: [] });
    await expect(migrating).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(ended).toBeGreaterThan(1);
  });
});
