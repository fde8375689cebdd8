// How far the inputs of one partition have been read, and what of that no record says yet (L3).
import { progressAloneIsDue } from './loop.decisions.js';
import { inputId } from './input-queue.js';
import type { QueueItem } from './queue-item.js';
import type { StoredCursor } from './store.port.js';

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
