// Database time as the loop knows it: asked with each load, estimated in between by the host's monotonic clock (L1).
//
// Invariants
//   T1. Decisions are made at an estimate only while it is young; an older one is asked anew, or nothing is decided (P14).
import type { Clock } from '@recourse/kernel';

export class DatabaseClock {
  #offset = 0;
  #askedAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Takes what the database answered just now, epoch milliseconds. */
  learn(databaseNow: number): void {
    this.#askedAt = this.clock.monotonic();
    this.#offset = databaseNow - this.#askedAt;
  }

  /** Forgets what it knew: the next decision asks first. */
  forget(): void {
    this.#askedAt = -Infinity;
  }

  /** Epoch milliseconds. */
  estimate(): number {
    return Math.floor(this.clock.monotonic() + this.#offset);
  }

  /** Milliseconds since the database was asked last. */
  ageMs(): number {
    return this.clock.monotonic() - this.#askedAt;
  }
}
