// Time as a loop knows it: that of the database, and what a turn takes of it.
import type { Clock } from '@recourse/kernel';

// Database time as the loop knows it: asked with each load, estimated in between by the host's monotonic clock (L1).
//
// Invariants
//   T1. Decisions are made at an estimate only while it is young; an older one is asked anew, or nothing is decided (P14).

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

// How much a turn takes, told by what the last ones cost: a turn is what an input waits for at the most, so it is bounded by
// time, whatever its inputs lead to.
//
// Boundary: remembers sums and decides nothing else. The time is that of deciding; what a turn waits for beside that is the
// same for few inputs and for many.

/** Time that deciding one batch takes, milliseconds: the append and its answer take about as long. */
const TURN_MS = 12;
/** Bytes of a part of a batch: what is decided in vain when a batch is full. A Progress is one part in three hundred of it. */
const PART_BYTES = 64_000;
/** Bytes an input is taken to lead to before any was seen. */
const FIRST_BYTES = 4_000;
/** What remains of the sums with each turn: the last five or so count. */
const REMAINS = 0.8;

/** What a batch was made of: inputs, timers and resends, and what deciding them took. */
interface TurnCost {
  readonly inputs: number;
  readonly ms: number;
  readonly bytes: number;
}

export class TurnPace {
  #inputs = 0;
  #ms = 0;
  #bytes = 0;

  learn({ inputs, ms, bytes }: TurnCost): void {
    this.#inputs = this.#inputs * REMAINS + inputs;
    this.#ms = this.#ms * REMAINS + ms;
    this.#bytes = this.#bytes * REMAINS + bytes;
  }

  /** Inputs of the next batch, from 1 to `max`. */
  inputs(max: number): number {
    if (this.#ms <= 0) return max;
    return Math.max(1, Math.min(max, Math.floor((TURN_MS * this.#inputs) / this.#ms)));
  }

  /** Inputs of one part of it. */
  partInputs(): number {
    const bytes = this.#inputs > 0 ? this.#bytes / this.#inputs : FIRST_BYTES;
    return Math.max(1, Math.floor(PART_BYTES / Math.max(1, bytes)));
  }
}
