// Raw reader over kafkajs' private cluster: fetches without a group, on connections of its own, never waiting.
//
// Invariants
//   I1. An empty answer means the end of the partition: records that only kafkajs sees (control records) are stepped over.
//   I2. An error of the connection costs that connection: the next attempt makes a new cluster.
import { Failure } from '@recourse/kernel';
import type { FetchedBatch, PartitionRange, RawReader } from '../kafka.port.js';
import { clientFor } from './client.kafka.js';
import type { KafkaOptions } from './client.kafka.js';
import { asFailure } from './failures.kafka.js';
import { internalBatch, internalCluster, leaderOf, READ_COMMITTED } from './internals.kafka.js';
import type { InternalBroker, InternalCluster } from './internals.kafka.js';
import { asRecord } from './records.kafka.js';
import { ended, within } from './time-limit.kafka.js';

const MAX_BYTES = 1 << 20;
const ATTEMPTS_MAX = 3;
/** Above kafkajs' own time-out of a request, with a reconnect before it. */
const ATTEMPT_WITHIN_MS = 15_000;
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, retries: 2 } as const;

/**
 * Connects a raw reader.
 *
 * Errors: Failure(BROKER_UNAVAILABLE) when no broker answers.
 */
export async function connectRawReader(options: KafkaOptions): Promise<RawReader> {
  const reader = new KafkaJsRawReader(options);
  await reader.connect();
  return reader;
}

class KafkaJsRawReader implements RawReader {
  private cluster: Promise<InternalCluster> | null = null;
  private closed = false;

  constructor(private readonly options: KafkaOptions) {}

  async connect(): Promise<void> {
    await this.attempt('raw reader', () => Promise.resolve());
  }

  range(topic: string, partition: number): Promise<PartitionRange> {
    return this.attempt(`${topic}/${String(partition)}`, async (cluster) => {
      await leaderOf(cluster, topic, partition);
      const at = async (fromBeginning: boolean): Promise<number> => {
        const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }]);
        return Number(answer?.partitions[0]?.offset ?? NaN);
      };
      const [low, high] = await Promise.all([at(true), at(false)]);
      if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high)) throw new Error('no offsets in the answer');
      return { low, high };
    });
  }

  read(topic: string, partition: number, fromOffset: number, maxBytes = MAX_BYTES): Promise<FetchedBatch> {
    return this.attempt(`${topic}/${String(partition)} at ${String(fromOffset)}`, async (cluster) => {
      const broker = await leaderOf(cluster, topic, partition);
      for (let position = fromOffset; ;) {
        const { messages, next } = await fetchOnce(broker, { topic, partition, position, maxBytes });
        if (messages.length > 0 || next === position) return { topic, partition, fetchedOffset: fromOffset, records: messages.map(asRecord) };
        position = next;
      }
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.drop();
  }

  private async attempt<T>(what: string, act: (cluster: InternalCluster) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.closed) throw new Failure('BROKER_UNAVAILABLE', 'the reader is closed');
      const used = this.connected();
      try {
        return await within(used.then(act), ATTEMPT_WITHIN_MS, what);
      } catch (error) {
        const failure = asFailure(error, what);
        if (failure.code !== 'BROKER_UNAVAILABLE') throw failure;
        await this.drop(used);
        if (attempt === ATTEMPTS_MAX) throw failure;
      }
    }
  }

  private connected(): Promise<InternalCluster> {
    this.cluster ??= this.openCluster();
    return this.cluster;
  }

  private async openCluster(): Promise<InternalCluster> {
    const cluster = internalCluster(clientFor(this.options, { retry: RETRY }));
    await cluster.connect();
    return cluster;
  }

  private async drop(used: Promise<InternalCluster> | null = this.cluster): Promise<void> {
    if (this.cluster === used) this.cluster = null;
    if (used !== null) await ended(used.then((cluster) => cluster.disconnect()));
  }
}

interface Fetch {
  readonly topic: string;
  readonly partition: number;
  readonly position: number;
  readonly maxBytes: number;
}

async function fetchOnce(broker: InternalBroker, { topic, partition, position, maxBytes }: Fetch): Promise<{ readonly messages: readonly Parameters<typeof asRecord>[0][]; readonly next: number }> {
  const { responses } = await broker.fetch({
    isolationLevel: READ_COMMITTED,
    maxWaitTime: 0,
    minBytes: 1,
    maxBytes,
    topics: [{ topic, partitions: [{ partition, fetchOffset: String(position), maxBytes }] }],
  });
  const data = responses[0]?.partitions[0];
  if (data === undefined) throw new Error('no partition in the answer');
  const batch = internalBatch(topic, position, data);
  const next = batch.rawMessages.length === 0 ? position : Math.max(position, Number(batch.lastOffset()) + 1);
  return { messages: batch.messages, next };
}
