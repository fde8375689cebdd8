// What decisions are pinned from: a partition of a log, its inputs, and the views of their times.
import type { FetchedBatch } from '@recourse/kafka';
import type { Codecs } from '@recourse/messages';
import type { PlacedRecord } from '../own-log.js';
import type { InputSpec, ServiceCore } from '../service-core.js';
import type { KeyedFields } from './compare.js';
import type { OpenKeys } from './payload-keys.js';
import type { ViewHistory } from './view-history.js';

export interface PinSource {
  readonly core: ServiceCore;
  readonly codecs: Codecs;
  readonly logId: string;
  readonly partition: number;
  readonly partitionCountOf: (topic: string) => number;
  /** Fields of records that hold what a key of the process made. */
  readonly keyed: KeyedFields;
  /** Accepted records of the partition, from the first. */
  readonly log: AsyncIterable<readonly PlacedRecord[]>;
  /** Records of an input from one offset to before another; null where they are no more, or nobody may read them. */
  readonly read: (
    at: { readonly input: InputSpec; readonly partition: number },
    from: number,
    to: number,
  ) => Promise<readonly FetchedBatch[] | null>;
  /** Opens what decisions looked into; none: they have no pins. */
  readonly keys?: OpenKeys;
  readonly views: ReadonlyMap<string, ViewHistory>;
  /** Records whose decisions are asked for, by their seq. */
  readonly wanted: ReadonlySet<number>;
}
