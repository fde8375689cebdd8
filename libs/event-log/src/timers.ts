// Durable timers in memory: rows whose time comes within the horizon (L10). The store holds the rest.
//
// Invariants
//   T1. What the store does not have yet is known here: it may be asked at any time, and is never believed about such a row.
//   T2. A row fires at the time that its last change set, and at no other.
import type { Change, RowAddress, TimerInput } from './service-core.js';
import type { PartitionStore } from './store.port.js';

/** How far ahead due rows are kept in memory, milliseconds of database time. */
export const HORIZON_MS = 120_000;
/** Timers taken from the store at a time; more are fetched once half of them are left. */
const LOAD_MAX = 5_000;
/** Timers of one batch; inputs give way to them (`inputsBeside`). */
const FIRE_MAX = 600;

interface Waiting {
  readonly waiting: number;
  readonly next: number | null;
}

/** A row as it was changed last, and by which record at the latest. */
interface Unwritten {
  readonly address: RowAddress;
  readonly dueAt: number | null;
  readonly seq: number;
}

const NONE: readonly TimerInput[] = [];

const idOf = ({ kind, group, key }: RowAddress): string => `${kind}\u0000${group}\u0000${key}`;

export class Timers {
  #due = new Map<string, TimerInput>();
  #spent = new Map<string, number>();
  /** Rows that were changed and are not projected yet, the first changed first. */
  readonly #unwritten = new Map<string, Unwritten>();
  /** The store last told mostly of such rows: it is not asked again before it has taken some of them. */
  #isStoreOld = false;
  #horizon = -Infinity;
  #complete = true;
  /** What waits to fire, and when the first of it does; undefined when that has to be looked up. */
  #waiting: Waiting | undefined;

  clear(): void {
    this.#due.clear();
    this.#spent.clear();
    this.#unwritten.clear();
    this.#isStoreOld = false;
    this.#horizon = -Infinity;
    this.#waiting = undefined;
  }

  /** Follows the changes of an accepted batch that ended with `seq`. */
  apply(changes: readonly Change[], seq: number): void {
    this.#waiting = undefined;
    for (const change of changes) {
      const { kind, group, key } = change.op === 'put' ? change.row : change.address;
      const address = { kind, group, key };
      const id = idOf(address);
      const dueAt = change.op === 'put' ? change.row.dueAt : null;
      this.#due.delete(id);
      if (dueAt !== null && dueAt <= this.#horizon) this.#due.set(id, { source: 'timer', address, dueAt });
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
    return this.#complete ? now + HORIZON_MS / 2 > this.#horizon : this.#survey().waiting < LOAD_MAX / 2;
  }

  async load(store: PartitionStore, now: number): Promise<void> {
    const until = now + HORIZON_MS;
    // What is written while the store is asked may be missing from what it tells.
    const unwritten = new Map(this.#unwritten);
    const found = await store.due(until, LOAD_MAX);
    const fresh = found.filter(({ address }) => !unwritten.has(idOf(address)));
    for (const { address, dueAt } of fresh) this.#find(idOf(address), { source: 'timer', address, dueAt });
    this.#isStoreOld = this.#unwritten.size > 0 && fresh.length < found.length / 2;
    this.#waiting = undefined;
    this.#complete = found.length < LOAD_MAX;
    // Of the last instant that was fetched others may be left in the store: what is at hand for certain ends before it.
    this.#horizon = this.#complete ? until : Math.max(this.#horizon, (found[found.length - 1]?.dueAt ?? until) - 1);
    for (const [id, { address, dueAt }] of unwritten)
      if (dueAt !== null && dueAt <= this.#horizon) this.#find(id, { source: 'timer', address, dueAt });
  }

  #find(id: string, timer: TimerInput): void {
    const known = this.#due.get(id);
    if (known === undefined || this.#spent.get(id) === known.dueAt) this.#due.set(id, timer);
  }

  /** Timers whose time has come, earliest first. */
  ready(now: number): readonly TimerInput[] {
    const next = this.next();
    if (next === null || next > now) return NONE;
    const ready: (readonly [string, TimerInput])[] = [];
    for (const entry of this.#due)
      if (entry[1].dueAt <= now && this.#spent.get(entry[0]) !== entry[1].dueAt) ready.push(entry);
    return ready
      .sort((a, b) => a[1].dueAt - b[1].dueAt || (a[0] < b[0] ? -1 : 1))
      .slice(0, FIRE_MAX)
      .map(([, timer]) => timer);
  }

  /** A timer that fired and changed nothing does not fire again until its row changes. */
  spend(timers: readonly TimerInput[]): void {
    if (timers.length > 0) this.#waiting = undefined;
    for (const timer of timers) this.#spent.set(idOf(timer.address), timer.dueAt);
  }

  /** Earliest time something comes due, or null. */
  next(): number | null {
    return this.#survey().next;
  }

  #survey(): Waiting {
    if (this.#waiting !== undefined) return this.#waiting;
    let next: number | null = null;
    let waiting = 0;
    for (const [id, { dueAt }] of this.#due) {
      if (this.#spent.get(id) === dueAt) continue;
      waiting += 1;
      if (next === null || dueAt < next) next = dueAt;
    }
    this.#waiting = { waiting, next };
    return this.#waiting;
  }
}
