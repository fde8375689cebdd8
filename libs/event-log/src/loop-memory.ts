// What a loop remembers from turn to turn: how far inputs were read, the time of the database, what a turn takes, and what
// inputs lacked.
import type { Clock } from '@recourse/kernel';
import { inputId } from './input-queue.js';
import type { Lacks } from './lacks.js';
import { progressAloneIsDue } from './loop.decisions.js';
import type { QueueItem } from './queue-item.js';
import { sealedUnder } from './sealing/sealing.js';
import type { Input, TimerInput } from './service-core.js';
import type { StoredCursor } from './store.port.js';

// Time as a loop knows it: that of the database, and what a turn takes of it.

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

// How much a turn takes, told by what the last ones cost. While little waits, a turn is what an input waits for at the most, so
// it is bounded by time. Where more waits than that holds, what is behind waits for all the turns before it, and each has an
// append, its readers and a transaction of its own: so a turn takes half of what waits, and the bound is how long the process
// may hear nothing.
//
// Boundary: remembers sums and decides nothing else. The time is that of deciding; what a turn waits for beside that is the
// same for few inputs and for many.

/** Time that deciding one batch takes while little waits, milliseconds: the append and its answer take about as long. */
const TURN_MS = 12;
/** Part of a backlog that one batch takes: timers and what goes first wait for no more than that. */
const BACKLOG_PART = 1 / 2;
/** Time that deciding any batch takes, milliseconds. */
const TURN_MAX_MS = 150;
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

  /** Inputs of the next batch, from 1 to `max`, of so many that wait. */
  inputs(max: number, waiting: number): number {
    if (this.#ms <= 0) return max;
    const part = Math.min(waiting * BACKLOG_PART, this.#inputsIn(TURN_MAX_MS));
    return Math.max(1, Math.min(max, Math.floor(Math.max(this.#inputsIn(TURN_MS), part))));
  }

  #inputsIn(ms: number): number {
    return (ms * this.#inputs) / this.#ms;
  }

  /** Inputs of one part of it. */
  partInputs(): number {
    const bytes = this.#inputs > 0 ? this.#bytes / this.#inputs : FIRST_BYTES;
    return Math.max(1, Math.floor(PART_BYTES / Math.max(1, bytes)));
  }
}

// What inputs of a type lacked before, so that it is brought for the next of them before they are decided.
//
// Boundary: saves time and decides nothing: what is not foreseen is lacked, brought, and the decision made again.

interface Foreseen {
  /** Views are to be read to their end. */
  readonly views: boolean;
  readonly keys: readonly string[];
}

const NOTHING: Foreseen = { views: false, keys: [] };

export class Foresight {
  readonly #views = new Set<string>();
  readonly #keys = new Set<string>();

  /** An input could not be decided at once. */
  learn(input: Input, lacks: Lacks): void {
    const name = nameOf(input);
    if (lacks.views) this.#views.add(name);
    if (lacks.keys.length > 0 && input.source !== 'timer') this.#keys.add(name);
  }

  /** Whether timers lacked the end of the views before. */
  viewsOf(timers: readonly TimerInput[]): boolean {
    return this.#views.size > 0 && timers.some((timer) => this.#views.has(nameOf(timer)));
  }

  /** What these will lack, as far as others of their type did. */
  of(items: readonly QueueItem[]): Foreseen {
    if (this.#views.size === 0 && this.#keys.size === 0) return NOTHING;
    const keys = new Set<string>();
    let views = false;
    for (const { what } of items) {
      if (what.kind !== 'record') continue;
      const name = nameOf(what.input);
      views ||= this.#views.has(name);
      // A wire is not believed when it names a key.
      if (what.input.source === 'log' && this.#keys.has(name))
        for (const key of sealedUnder(what.input.body)) keys.add(key);
    }
    return { views, keys: [...keys] };
  }
}

function nameOf(input: Input): string {
  return input.source === 'timer' ? `timer/${input.address.kind}` : `${input.topic}/${input.type}`;
}

// How far the inputs of one partition have been read, and what of that no record says yet (L3).

export class Cursors {
  #read = new Map<string, StoredCursor>();
  /** Moved by inputs that led to nothing, since the last record. */
  #unsaid = new Map<string, StoredCursor>();
  #meaningful = 0;
  #sinceMs = 0;

  /** Begins anew at what the store knows. */
  reset(stored: readonly StoredCursor[]): void {
    this.#read = byInput(stored);
    this.#unsaid.clear();
    this.#meaningful = 0;
  }

  all(): readonly StoredCursor[] {
    return [...this.#read.values()];
  }

  offsetOf(topic: string, partition: number): number {
    return this.#read.get(inputId(topic, partition))?.offset ?? 0;
  }

  /** Follows the cursors of a Progress of the own log. */
  follow(cursors: readonly StoredCursor[]): void {
    for (const cursor of cursors) this.#read.set(inputId(cursor.topic, cursor.partition), plainCursor(cursor));
  }

  /** Inputs were taken into an accepted batch, which says so. */
  accept(items: readonly QueueItem[]): void {
    this.#move(items);
    this.#unsaid.clear();
    this.#meaningful = 0;
  }

  /** Inputs led to nothing: their positions move in memory, and in the log when that is worth a record. */
  pass(items: readonly QueueItem[], nowMs: number): void {
    this.#move(items);
    if (this.#meaningful === 0) this.#sinceMs = nowMs;
    this.#meaningful += items.filter(({ isMeaningful }) => isMeaningful).length;
    for (const { cursor } of items) this.#unsaid.set(inputId(cursor.topic, cursor.partition), cursor);
  }

  unsaid(): readonly StoredCursor[] {
    return [...this.#unsaid.values()];
  }

  /** How long what passed may still go unsaid, milliseconds; null when nothing that matters has passed. */
  waitMs(nowMs: number, lazyMs: number): number | null {
    return this.#meaningful === 0 ? null : Math.max(1, lazyMs - (nowMs - this.#sinceMs));
  }

  isDue(nowMs: number, lazyMs: number): boolean {
    return progressAloneIsDue({ meaningful: this.#meaningful, sinceMs: nowMs - this.#sinceMs }, lazyMs);
  }

  #move(items: readonly QueueItem[]): void {
    for (const { cursor } of items) this.#read.set(inputId(cursor.topic, cursor.partition), cursor);
  }
}

function byInput(cursors: readonly StoredCursor[]): Map<string, StoredCursor> {
  return new Map(cursors.map((cursor) => [inputId(cursor.topic, cursor.partition), cursor]));
}

/** A cursor as the store keeps it, without what else a decoded record carries. */
function plainCursor({ topic, partition, offset, seq, hash }: StoredCursor): StoredCursor {
  return { topic, partition, offset, seq, hash };
}
