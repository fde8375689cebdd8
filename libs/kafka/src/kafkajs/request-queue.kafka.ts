// Mends the queue of requests of kafkajs 2.2.4, which is not public. kafkajs is pinned.
import { createRequire } from 'node:module';

/** A queue of requests of kafkajs, as far as it is mended here. */
export interface InternalQueue {
  /** Requests that wait to be sent. */
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

type QueueClass = new (options: object) => InternalQueue;

let mended: QueueClass | null = null;

/**
 * Makes every queue of src/network/requestQueue look again only where something waits. As it comes, it looks every
 * millisecond for as long as it lives, at a time before now, which Node warns of. What comes later to wait is looked for then.
 */
export function mendRequestQueues(): QueueClass {
  if (mended !== null) return mended;
  // A private module without types.
  mended = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as QueueClass;
  const prototype = mended.prototype as InternalQueue; // of the class above
  const schedule = prototype.scheduleCheckPendingRequests; // eslint-disable-line @typescript-eslint/unbound-method -- called with its receiver below
  prototype.scheduleCheckPendingRequests = function (this: InternalQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
  return mended;
}
