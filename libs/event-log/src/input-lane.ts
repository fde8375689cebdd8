// Inputs of a loop that are decided in the order in which they came, and what they hold of memory.
import type { FetchedRecord } from '@recourse/kafka';
import type { QueueItem } from './queue-item.js';
import type { InputSpec } from './service-core.js';

/** An input that nobody has judged yet. */
export interface Waiting {
  readonly spec: InputSpec;
  readonly partition: number;
  /** null: only the position moves, over what no reader may see. */
  readonly record: FetchedRecord | null;
  /** Where reading goes on behind it. */
  readonly next: number;
}

/** Records of one batch that are still here, and what it holds until the last of them is gone: they share its memory. */
interface Held {
  records: number;
  readonly octets: number;
}

export class Lane {
  readonly items: QueueItem[] = [];
  #waiting: readonly Waiting[] = [];
  readonly #held: Held[] = [];
  #octets = 0;

  get waiting(): readonly Waiting[] {
    return this.#waiting;
  }

  /** Records, judged or not. */
  get size(): number {
    return this.#waiting.length + this.items.length;
  }

  /** Octets of the batches they came in. */
  get octets(): number {
    return this.#octets;
  }

  /** `octets`: what whoever fetched them says that they hold of memory, with all that came with them. */
  add(batch: readonly Waiting[], octets: number): void {
    if (batch.length === 0) return;
    this.#waiting = this.#waiting.concat(batch);
    this.#held.push({ records: batch.length, octets });
    this.#octets += octets;
  }

  /** The first that waited are items now. */
  judged(count: number): void {
    if (count > 0) this.#waiting = this.#waiting.slice(count);
  }

  /** The first items were taken. */
  drop(count: number): void {
    this.items.splice(0, count);
    for (let left = count; left > 0;) {
      const [first] = this.#held;
      if (first === undefined) return;
      const gone = Math.min(left, first.records);
      first.records -= gone;
      left -= gone;
      if (first.records > 0) return;
      this.#held.shift();
      this.#octets -= first.octets;
    }
  }
}
