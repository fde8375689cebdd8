// What a process appended itself, as whoever reads the same log in it will find it: they need not wait until the broker hands it back.
import type { FetchedBatch, OutgoingRecord } from '@recourse/kafka';

/** Records of ours that landed where they were expected, in one request. */
export interface Landed {
  readonly topic: string;
  readonly partition: number;
  /** Of the first of them. */
  readonly offset: number;
  readonly records: readonly OutgoingRecord[];
}

/** The batch that a fetch from their place brings. `now`: epoch milliseconds; nothing is decided by it. */
export function asFetched({ topic, partition, offset, records }: Landed, now: number): FetchedBatch {
  return {
    topic,
    partition,
    fetchedOffset: offset,
    nextOffset: offset + records.length,
    records: records.map(({ key, value }, at) => ({ offset: offset + at, key, value, timestamp: now, headers: {} })),
    octets: records.reduce((sum, { key, value }) => sum + key.length + value.length, 0),
  };
}
