// Durable timers in memory: rows whose time comes within the horizon (L10). The store holds the rest.
//
// Invariants
//   T1. What the store does not have yet is known here: it may be asked at any time, and is never believed about such a row.
//   T2. A row fires at the time that its last change set, and at no other.
//   T3. A timer whose decision failed holds up no other: it fires again a while later, or as soon as its row changes.
import TinyQueue from 'tinyqueue';
import type { Change, RowAddress, TimerInput } from './service-core.js';
import type { PartitionStore } from './store.port.js';

/** How far ahead due rows are kept in memory, milliseconds of database time. */
export const HORIZON_MS = 120_000;
/** Timers taken from the store at a time; more are fetched once half of them are left. */
const LOAD_MAX = 5_000;
/** Timers of one batch; inputs give way to them (`inputsBeside`). */
const FIRE_MAX = 600;

/** Time until a timer that failed fires again, milliseconds of database time. */
export const FAILED_AGAIN_MS = 10_000;

/** A timer whose decision failed. */
interface PutOff {
  readonly timer: TimerInput;
  readonly againAt: number;
  readonly problem: string;
}

/** A row as it was changed last, and by which record at the latest. */
interface Unwritten {
  readonly address: RowAddress;
  readonly dueAt: number | null;
  readonly seq: number;
}

/** Timers that wait no longer and are still queued, as a multiple of those that wait, before the queue is made anew. */
const STALE_MAX = 4;
const STALE_MIN = 1_000;

const idOf = ({ kind, group, key }: RowAddress): string => `${kind}\u0000${group}\u0000${key}`;

/** Earliest first; of one instant by what they are called, so that every replica fires them alike. */
function inOrder(one: TimerInput, other: TimerInput): number {
  return one.dueAt - other.dueAt || (idOf(one.address) < idOf(other.address) ? -1 : 1);
}

export class Timers {
  /** What waits to fire. */
  readonly #due = new Map<string, TimerInput>();
  /** The same in order; what `#due` does not have waits no longer. */
  #queue = new TinyQueue<TimerInput>([], inOrder);
  /** Timers that failed, by their rows, the first to fire again first. */
  readonly #putOff = new Map<string, PutOff>();
  /** When rows fired that did not change since. */
  readonly #spent = new Map<string, number>();
  /** Rows that were changed and are not projected yet, the first changed first. */
  readonly #unwritten = new Map<string, Unwritten>();
  /** The store last told mostly of such rows: it is not asked again before it has taken some of them. */
  #isStoreOld = false;
  #horizon = -Infinity;
  #complete = true;

  clear(): void {
    this.#due.clear();
    this.#queue = new TinyQueue<TimerInput>([], inOrder);
    this.#spent.clear();
    this.#putOff.clear();
    this.#unwritten.clear();
    this.#isStoreOld = false;
    this.#horizon = -Infinity;
  }

  /** Follows the changes of an accepted batch that ended with `seq`. */
  apply(changes: readonly Change[], seq: number): void {
    for (const change of changes) {
      const { kind, group, key } = change.op === 'put' ? change.row : change.address;
      const address = { kind, group, key };
      const id = idOf(address);
      const dueAt = change.op === 'put' ? change.row.dueAt : null;
      this.#due.delete(id);
      this.#putOff.delete(id);
      if (this.#spent.get(id) !== dueAt) this.#spent.delete(id);
      if (dueAt !== null && dueAt <= this.#horizon) this.#find(id, { source: 'timer', address, dueAt });
      this.#unwritten.delete(id);
      this.#unwritten.set(id, { address, dueAt, seq });
    }
  }

  /** The store has the changes of all records up to `seq`. */
  written(seq: number): void {
    this.#isStoreOld = false;
    for (const [id, row] of this.#unwritten) {
      if (row.seq > seq) return;
      this.#unwritten.delete(id);
    }
  }

  /** Asks the store for what comes due, when the horizon is near. */
  needsLoad(now: number): boolean {
    if (this.#isStoreOld) return false;
    return this.#complete ? now + HORIZON_MS / 2 > this.#horizon : this.#due.size < LOAD_MAX / 2;
  }

  async load(store: PartitionStore, now: number): Promise<void> {
    const until = now + HORIZON_MS;
    // What is written while the store is asked may be missing from what it tells.
    const unwritten = new Map(this.#unwritten);
    // What failed, or fired and changed nothing, is known to be first there.
    const max = LOAD_MAX + this.#putOff.size + this.#spent.size;
    const found = await store.due(until, max);
    const fresh = found.filter(({ address }) => !unwritten.has(idOf(address)));
    for (const { address, dueAt } of fresh) this.#find(idOf(address), { source: 'timer', address, dueAt });
    this.#isStoreOld = this.#unwritten.size > 0 && fresh.length < found.length / 2;
    this.#complete = found.length < max;
    // Of the last instant that was fetched others may be left in the store: what is at hand for certain ends before it.
    this.#horizon = this.#complete ? until : Math.max(this.#horizon, (found[found.length - 1]?.dueAt ?? until) - 1);
    for (const [id, { address, dueAt }] of unwritten)
      if (dueAt !== null && dueAt <= this.#horizon) this.#find(id, { source: 'timer', address, dueAt });
  }

  /** One that is known stays as it is, and one that fired and changed nothing waits for its row. */
  #find(id: string, timer: TimerInput): void {
    if (this.#due.has(id) || this.#putOff.has(id) || this.#spent.get(id) === timer.dueAt) return;
    this.#due.set(id, timer);
    this.#queue.push(timer);
    if (this.#queue.length > this.#due.size * STALE_MAX + STALE_MIN)
      this.#queue = new TinyQueue<TimerInput>([...this.#due.values()], inOrder);
  }

  /** Timers whose time has come, earliest first. */
  ready(now: number): readonly TimerInput[] {
    this.#takeBack(now);
    const ready: TimerInput[] = [];
    for (let first = this.#first(); first !== undefined && first.dueAt <= now; first = this.#first()) {
      if (ready.length === FIRE_MAX) break;
      ready.push(first);
      this.#queue.pop();
    }
    for (const timer of ready) this.#queue.push(timer);
    return ready;
  }

  /** A timer that fired and changed nothing does not fire again until its row changes. */
  spend(timers: readonly TimerInput[]): void {
    for (const { address, dueAt } of timers) {
      const id = idOf(address);
      this.#spent.set(id, dueAt);
      if (this.#due.get(id)?.dueAt === dueAt) this.#due.delete(id);
    }
  }

  /** Timers whose decision failed at `now` wait before they fire again. */
  putOff(failed: readonly { readonly timer: TimerInput; readonly problem: string }[], now: number): void {
    for (const { timer, problem } of failed) {
      const id = idOf(timer.address);
      // What else was decided with it may have given its row another time.
      if (this.#due.get(id) !== timer) continue;
      this.#due.delete(id);
      this.#putOff.set(id, { timer, problem, againAt: now + FAILED_AGAIN_MS });
    }
  }

  /** What is wrong with those that failed, until their rows change or they succeed; null where none did. */
  get trouble(): string | null {
    const [first] = this.#putOff.values();
    if (first === undefined) return null;
    const others = this.#putOff.size - 1;
    return others === 0 ? first.problem : `${first.problem}; and ${others} more timers`;
  }

  #takeBack(now: number): void {
    for (const [id, { timer, againAt }] of this.#putOff) {
      if (againAt > now) return;
      this.#putOff.delete(id);
      this.#find(id, timer);
    }
  }

  /** Earliest time something comes due, or null. */
  next(): number | null {
    const [putOff] = this.#putOff.values();
    const times = [this.#first()?.dueAt, putOff?.againAt].filter((time) => time !== undefined);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** The first that waits; those before it that no longer do leave the queue. */
  #first(): TimerInput | undefined {
    for (let first = this.#queue.peek(); first !== undefined; first = this.#queue.peek()) {
      if (this.#due.get(idOf(first.address)) === first) return first;
      this.#queue.pop();
    }
    return undefined;
  }
}
