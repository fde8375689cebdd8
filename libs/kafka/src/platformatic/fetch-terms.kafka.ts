// What a partition fetcher is given: brokers to ask, how long to wait for them, and who is told.
import type { Failure } from '@recourse/kernel';
import type { FetchedBatch, TopicPartition } from '../kafka.port.js';
import { REQUEST_TIMEOUT_MS } from '../options.js';
import type { Isolation, KafkaOptions } from '../options.js';
import { BrokerCluster } from './cluster.kafka.js';
import { fetchFrom } from './fetch.kafka.js';

/** What a fetcher asks: the brokers of a cluster, and one of them for records. */
export interface FetchedFrom {
  readonly cluster: () => Pick<BrokerCluster, 'leaderOf' | 'forget' | 'close'>;
  readonly fetch: typeof fetchFrom;
}

/** A cluster of real brokers. */
export function brokersOf(options: KafkaOptions): FetchedFrom {
  return {
    cluster: () => new BrokerCluster(options, options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS),
    fetch: fetchFrom,
  };
}

export interface FetcherHandlers {
  /** Nothing more of its partition is asked for before a promise it answers with settles. */
  onBatch(batch: FetchedBatch): void | Promise<void>;
  /** A fetch of the partition had no answer, and is made again; null once it has one. */
  onTrouble(at: TopicPartition, cause: Failure | null): void;
  /** The fetcher is over. */
  onCrash(cause: Failure): void;
}

export interface FetchTerms {
  /** What is seen of transactions. */
  readonly isolation: Isolation;
  /** Longest wait of a broker for records, milliseconds; a tenth of a second while the owner has paused some. */
  readonly waitMs: number;
  /** Time beyond that after which an owner hears that a broker says nothing, milliseconds. Default 3,000. */
  readonly silentMs?: number;
  /** Time without a seek after which a poll may wait long, milliseconds. Default 1,000. */
  readonly settledMs?: number;
  /** Time for which an open transaction may hold a partition before an owner hears of it, milliseconds. Default 30,000. */
  readonly heldMs?: number;
}
