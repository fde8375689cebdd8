// A database that froze: connections stand, and nothing is said on them.
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PostgresPresence } from './postgres-presence.js';

/** What a server says to a client that it lets in: authenticated, and ready. */
const WELCOME = Buffer.from('5200000008000000005a0000000549', 'hex');
const ANSWER_MS = 20;
/** Whoever waits for a goodbye waits for ever. */
const NOT_FOR_EVER_MS = 5_000;

let server: Server;
let sockets: Socket[] = [];

beforeEach(async () => {
  sockets = [];
  // Half open: a goodbye ends our side alone, as behind a host that froze.
  server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(WELCOME));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function shown(): Promise<PostgresPresence> {
  const { port } = server.address() as AddressInfo;
  const presence = new PostgresPresence(`postgres://role:password@127.0.0.1:${String(port)}/database`, ANSWER_MS);
  await presence.show('me');
  return presence;
}

describe('a presence whose database is frozen', () => {
  it(
    'ends all the same, so that its process does',
    async () => {
      const presence = await shown();
      await expect(presence.close()).resolves.toBeUndefined();
    },
    NOT_FOR_EVER_MS,
  );

  it(
    'shows another name on another connection',
    async () => {
      const presence = await shown();
      const showing = presence.show('me again');
      await showing;
      expect(sockets).toHaveLength(2);
      await presence.close();
    },
    NOT_FOR_EVER_MS,
  );
});
