// /events: one stream per page, which says what moved. It carries no rows: the page reads those at the edges, with its own rights.
//
// Invariants
//   E1. Each event bears the positions it brings a page to; a browser that lost the stream sends the last one, and is told of all
//       that moved since.
//       A page that has none yet sends those that its document came with: nothing it read is from before them.
//   E2. A stream ends with its session, once, and says why that ended. What becomes of one is nothing to the others.
//   E3. What is kept for a page that does not read on is bounded, and so are the streams of a session.
import type { FastifyInstance } from 'fastify';
import { ConsoleRefusal } from '../problem.js';
import type { Session, SessionEnd } from '../sign-in/sessions.js';
import type { SessionOf } from '../sign-in/sign-in.routes.js';
import { positionsOf } from './positions.js';
import { Teller } from './teller.js';
import type { Watch } from './watch.js';

export interface EventParts {
  readonly watch: Watch;
  readonly sessionOf: SessionOf;
  /** Why a session is over; null while it is not. */
  readonly endOf: (session: Session) => SessionEnd | null;
}

/** A browser tries again after this, milliseconds. */
const RETRY_MS = 1_000;
/** A stream over which nothing goes is closed by proxies, and a page that hears nothing for twice as long calls it lost. */
const BEAT_MS = 5_000;

export function addEvents(app: FastifyInstance, { watch, sessionOf, endOf }: EventParts): void {
  const places = new Places();
  app.get<{ Querystring: { from?: unknown } }>('/events', (request, reply) => {
    const session = sessionOf(request);
    const leavePlace = places.take(session);
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    raw.write(`retry: ${String(RETRY_MS)}\n\n`);
    const { socket } = request.raw;
    const teller = new Teller(raw, positionsOf(request.headers['last-event-id'] ?? request.query.from));
    const over = (): void => {
      clearInterval(beat);
      leave();
      leavePlace();
    };
    const leave = watch.add({
      token: session.token,
      tell: (positions) => {
        const end = endOf(session);
        // An answer that waits behind another of its connection is not told that the connection closed.
        if (end === null && !socket.destroyed) {
          teller.tell(positions);
        } else {
          over();
          teller.end(end ?? 'expiry');
        }
      },
    });
    const beat = setInterval(() => {
      teller.beat();
    }, BEAT_MS);
    raw.once('close', over);
    raw.on('error', over);
  });
}

/** Streams of a session at a time: one for each browser, or for each page of one that does not share. */
const STREAMS_MAX = 20;

/** How many streams each session has. */
class Places {
  readonly #taken = new Map<string, number>();

  /** Answers how to leave again. Errors: ConsoleRefusal(STREAMS_TOO_MANY). */
  take({ id }: Session): () => void {
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= STREAMS_MAX) throw new ConsoleRefusal('STREAMS_TOO_MANY');
    this.#taken.set(id, taken + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#taken.get(id) ?? 0) - 1;
      if (left > 0) this.#taken.set(id, left);
      else this.#taken.delete(id);
    };
  }
}
