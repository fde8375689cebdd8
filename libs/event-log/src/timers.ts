// Durable timers in memory: rows whose time comes within the horizon (L10). The store holds the rest.
import type { Change, RowAddress, TimerInput } from './service-core.js';
import type { PartitionStore } from './store.port.js';

/** How far ahead due rows are kept in memory, milliseconds of database time. */
export const HORIZON_MS = 120_000;
/** Timers taken from the store at a time. */
const LOAD_MAX = 5_000;
/** Timers of one batch. */
const FIRE_MAX = 200;

const NONE: readonly TimerInput[] = [];

const idOf = ({ kind, group, key }: RowAddress): string => `${kind}\u0000${group}\u0000${key}`;

export class Timers {
  #due = new Map<string, TimerInput>();
  #spent = new Map<string, number>();
  #horizon = -Infinity;
  #complete = true;
  /** Earliest time something comes due; undefined when that has to be looked up. */
  #next: number | null | undefined;

  clear(): void { this.#due.clear(); this.#spent.clear(); this.#horizon = -Infinity; this.#next = undefined; }

  /** Follows the changes of an accepted batch. */
  apply(changes: readonly Change[]): void {
    this.#next = undefined;
    for (const change of changes) {
      const address = change.op === 'put' ? change.row : change.address;
      const id = idOf(address);
      this.#due.delete(id);
      if (change.op === 'put' && change.row.dueAt !== null && change.row.dueAt <= this.#horizon) {
        this.#due.set(id, { source: 'timer', address: { kind: address.kind, group: address.group, key: address.key }, dueAt: change.row.dueAt });
      }
    }
  }

  /** Asks the store for what comes due, when the horizon is near. Call only when the store is as new as memory. */
  needsLoad(now: number): boolean { return now + HORIZON_MS / 2 > this.#horizon || !this.#complete; }

  async load(store: PartitionStore, now: number): Promise<void> {
    const until = now + HORIZON_MS;
    const found = await store.due(until, LOAD_MAX);
    for (const { address, dueAt } of found) {
      const id = idOf(address);
      if (!this.#due.has(id)) this.#due.set(id, { source: 'timer', address, dueAt });
    }
    this.#next = undefined;
    this.#complete = found.length < LOAD_MAX;
    this.#horizon = this.#complete ? until : Math.max(this.#horizon, found[found.length - 1]?.dueAt ?? until);
  }

  /** Timers whose time has come, earliest first. */
  ready(now: number): readonly TimerInput[] {
    const next = this.next();
    if (next === null || next > now) return NONE;
    const ready: TimerInput[] = [];
    for (const [id, timer] of this.#due) if (timer.dueAt <= now && this.#spent.get(id) !== timer.dueAt) ready.push(timer);
    return ready.sort((a, b) => a.dueAt - b.dueAt || (idOf(a.address) < idOf(b.address) ? -1 : 1)).slice(0, FIRE_MAX);
  }

  /** A timer that fired and changed nothing does not fire again until its row changes. */
  spend(timers: readonly TimerInput[]): void {
    if (timers.length > 0) this.#next = undefined;
    for (const timer of timers) this.#spent.set(idOf(timer.address), timer.dueAt);
  }

  /** Earliest time something comes due, or null. */
  next(): number | null {
    if (this.#next === undefined) this.#next = this.#earliest();
    return this.#next;
  }

  #earliest(): number | null {
    let next: number | null = null;
    for (const [id, { dueAt }] of this.#due) if (this.#spent.get(id) !== dueAt && (next === null || dueAt < next)) next = dueAt;
    return next;
  }
}
