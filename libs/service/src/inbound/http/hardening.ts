// What every answer carries, whichever route it is for.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';

/** Nothing here is a page to be framed, sniffed, cached or embedded. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** For answers that no hook sees, too. */
export function hardenReply(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(HEADERS)) if (!reply.hasHeader(name)) void reply.header(name, value);
}

/** Sets the headers that an answer does not set itself. */
export function harden(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    hardenReply(reply);
    done();
  });
}
