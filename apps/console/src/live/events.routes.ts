// /events: one stream per page, which says what moved. It carries no rows: the page reads those at the edges, with its own rights.
//
// Invariants
//   E1. Each event bears the positions it brings a page to; a browser that lost the stream sends the last one, and is told of all
//       that moved since.
//       A page that has none yet sends those that its document came with: nothing it read is from before them.
//   E2. A stream ends with its session.
import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
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
  app.get<{ Querystring: { from?: unknown } }>('/events', (request, reply) => {
    const session = sessionOf(request);
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
    const beat = setInterval(() => raw.write('event: beat\ndata: {}\n\n'), BEAT_MS);
    raw.once('close', () => {
      clearInterval(beat);
      leave();
    });
  });
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
    this.to.write(`id: ${eventId(this.told)}\nevent: moved\ndata: ${JSON.stringify({ moved, away })}\n\n`);
  }

  end(): void {
    this.to.write('event: ended\ndata: {}\n\n');
    this.to.end();
  }
}
