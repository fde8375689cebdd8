// /events: one stream per page, which says what moved. It carries no rows: the page reads those at the edges, with its own rights.
//
// Invariants
//   E1. Each event bears the positions it brings a page to; a browser that lost the stream sends the last one, and is told of all
//       that moved since.
//       A page that has none yet sends those that its document came with: nothing it read is from before them.
//   E2. A stream ends with its session.
//   E3. What is kept for a page that does not read on is bounded, and so are the streams of a session.
import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import { ConsoleRefusal } from '../problem.js';
import type { Session } from '../sign-in/sessions.js';
import type { SessionOf } from '../sign-in/sign-in.routes.js';
import type { EdgeName } from '../edges/edges.js';
import { eventId, movedBetween, positionsOf } from './positions.js';
import type { Positions } from './positions.js';
import type { Watch } from './watch.js';

export interface EventParts {
  readonly watch: Watch;
  readonly sessionOf: SessionOf;
  /** Is the session still there? */
  readonly isOpen: (session: Session) => boolean;
}

/** A browser tries again after this, milliseconds. */
const RETRY_MS = 1_000;
/** A stream over which nothing goes is closed by proxies, and a page that hears nothing for twice as long calls it lost. */
const BEAT_MS = 5_000;

export function addEvents(app: FastifyInstance, { watch, sessionOf, isOpen }: EventParts): void {
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
    const teller = new Teller(raw, positionsOf(request.headers['last-event-id'] ?? request.query.from));
    const leave = watch.add({
      token: session.token,
      tell: (positions) => {
        if (isOpen(session)) teller.tell(positions);
        else teller.end();
      },
    });
    const beat = setInterval(() => {
      say(raw, 'event: beat\ndata: {}\n\n');
    }, BEAT_MS);
    raw.once('close', () => {
      clearInterval(beat);
      leave();
      leavePlace();
    });
  });
}

/** Streams of a session at a time: one for each page that is open. */
const STREAMS_MAX = 20;
/** What may wait for a page to read it, octets; it comes back with the last event that it had. */
const WAITING_MAX = 64 * 1_024;

/** Writes to a page, or ends its stream where it does not read. */
function say(to: ServerResponse, text: string): void {
  if (to.writableLength > WAITING_MAX) to.destroy();
  else to.write(text);
}

/** How many streams each session has. */
class Places {
  readonly #taken = new Map<string, number>();

  /** Answers how to leave again. Errors: ConsoleRefusal(STREAMS_TOO_MANY). */
  take({ id }: Session): () => void {
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= STREAMS_MAX) throw new ConsoleRefusal('STREAMS_TOO_MANY');
    this.#taken.set(id, taken + 1);
    return () => {
      const left = (this.#taken.get(id) ?? 0) - 1;
      if (left > 0) this.#taken.set(id, left);
      else this.#taken.delete(id);
    };
  }
}

/** Writes what moved since the last time. */
class Teller {
  #away: readonly EdgeName[] = [];

  constructor(
    private readonly to: ServerResponse,
    private told: Positions,
  ) {}

  tell(positions: Positions): void {
    const { moved, away } = movedBetween(this.told, positions, this.#away);
    if (moved.length === 0 && away.join() === this.#away.join()) return;
    this.#away = away;
    // What a service that is away had told stands until it answers again.
    this.told = { ...this.told, ...Object.fromEntries(moved.map((name) => [name, positions[name]])) };
    say(this.to, `id: ${eventId(this.told)}\nevent: moved\ndata: ${JSON.stringify({ moved, away })}\n\n`);
  }

  end(): void {
    this.to.write('event: ended\ndata: {}\n\n');
    this.to.end();
  }
}
