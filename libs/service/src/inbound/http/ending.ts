// How an edge ends: it takes no more requests, and answers those under way, which somebody waits for.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Has connections that no request is under way on ended at once, and all others once they are answered, at the latest after so long. */
export function endAnswered(app: NestFastifyApplication, endWithinMs: number): void {
  const fastify = app.getHttpAdapter().getInstance();
  let isEnding = false;
  fastify.addHook('preClose', (done) => {
    isEnding = true;
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
