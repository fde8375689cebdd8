// Writes to one page over its stream: what moved since the last time, a beat, and once that its session ended, and why.
//
// Invariant: nothing is written to a stream that ended. One whose answer waits behind another of its connection stays open for as
// long as that one, whatever was written into it.
import type { ServerResponse } from 'node:http';
import type { EdgeName } from '../edges/edges.js';
import type { SessionEnd } from '../sign-in/sessions.js';
import { eventId, movedBetween } from './positions.js';
import type { Positions } from './positions.js';

/** What may wait for a page to read it, octets; it comes back with the last event that it had. */
const WAITING_MAX = 64 * 1_024;

export class Teller {
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
    this.#say(`id: ${eventId(this.told)}\nevent: moved\ndata: ${JSON.stringify({ moved, away })}\n\n`);
  }

  beat(): void {
    this.#say('event: beat\ndata: {}\n\n');
  }

  end(by: SessionEnd): void {
    this.#say(`event: ended\ndata: ${JSON.stringify({ by })}\n\n`);
    this.to.end();
  }

  /** Writes to the page, or ends its stream where it does not read. */
  #say(text: string): void {
    if (this.to.writableEnded || this.to.destroyed) return;
    if (this.to.writableLength > WAITING_MAX) this.to.destroy();
    else this.to.write(text);
  }
}
