// Bytes that are no UTF-8 are no text: read as replacement characters, one text would be taken for another.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { EdgeRefusal } from '../../edge/problem.js';

/** Passes a byte order mark over. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Text of a body. Errors: EdgeRefusal(INPUT_INVALID) with TEXT_NOT_UTF8. */
export function utf8Of(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw notUtf8('The body holds bytes that are no UTF-8.', cause);
  }
}

/** Refuses addresses whose query decodes to no text; of paths the router does. */
export function refuseBrokenQueries(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', ({ url }, _reply, done) => {
      if (url.includes('%')) refuseBroken(url.slice(url.indexOf('?') + 1));
      done();
    });
}

function refuseBroken(query: string): void {
  try {
    decodeURIComponent(query);
  } catch (cause) {
    throw notUtf8(
      'The query holds percent-encoded bytes that are no UTF-8, or a percent sign that encodes none.',
      cause,
    );
  }
}

function notUtf8(message: string, cause: unknown): EdgeRefusal {
  return new EdgeRefusal('INPUT_INVALID', message, [{ code: 'TEXT_NOT_UTF8', message }], { cause });
}
