// Where a record lies, and since when.
import type { FetchedRecord } from './kafka.port.js';

/** When its broker took it is in epoch milliseconds: logs have the broker's time, whatever a producer says. */
export type StampedOffset = Pick<FetchedRecord, 'offset' | 'timestamp'>;

export function stampOf({ offset, timestamp }: StampedOffset): StampedOffset {
  return { offset, timestamp };
}
