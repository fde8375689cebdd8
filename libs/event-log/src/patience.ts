// How long a loop waits for more to decide with what nobody waits for.
//
// Boundary: changes when a batch is decided, never what is in it before what.
import type { QueueItem } from './queue-item.js';

/** Items that are decided at once, however patient they are. */
const PATIENT_MAX = 64;

/** How long all of them may wait for more, milliseconds; 0 when one may not, or when a batch of them is worth it. */
export function patienceOf(items: readonly QueueItem[], patienceMsOf: (topic: string) => number): number {
  if (items.length > PATIENT_MAX) return 0;
  const waits = items.flatMap(({ what, cursor }) => (what.kind === 'skip' ? [] : [patienceMsOf(cursor.topic)]));
  return waits.length === 0 ? 0 : Math.min(...waits);
}

export class Patience {
  #since: number | null = null;

  /** What is left of what is allowed from the first such look on, milliseconds; 0 ends the wait. */
  left(allowedMs: number, nowMs: number): number {
    this.#since ??= nowMs;
    const left = Math.ceil(allowedMs - (nowMs - this.#since));
    if (left > 0) return left;
    this.#since = null;
    return 0;
  }
}
