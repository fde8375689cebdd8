// How an edge ends: it takes no more requests, and answers those under way, which somebody waits for.
import type { Socket } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Ends every connection on which no request is under way at once, and all others once they are answered, at the latest after so long. */
export function endAnswered(app: NestFastifyApplication, endWithinMs: number): void {
  const fastify = app.getHttpAdapter().getInstance();
  const open = new Set<Socket>();
  // Node ends none that was never asked anything, nor one that has sent half a head.
  const answering = new Set<Socket>();
  let isEnding = false;
  fastify.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    answering.add(request.raw.socket);
    done();
  });
  fastify.addHook('onResponse', (request, _reply, done) => {
    answering.delete(request.raw.socket);
    done();
  });
  fastify.addHook('preClose', (done) => {
    isEnding = true;
    for (const socket of open) if (!answering.has(socket)) socket.destroy();
    setTimeout(() => {
      fastify.server.closeAllConnections();
    }, endWithinMs).unref();
    done();
  });
  // Kept alive, it would hold the end until its client asks again.
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (isEnding) void reply.header('connection', 'close');
    done();
  });
}
