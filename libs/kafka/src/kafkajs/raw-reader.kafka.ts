// Raw reader over kafkajs' private cluster: fetches without a group, on connections of its own, never waiting.
//
// Invariants
//   I1. An empty answer means the end of the partition: records that only kafkajs sees (control records) are stepped over.
//   I2. An error of the connection costs that connection: the next attempt makes a new cluster.
import { Failure } from '@recourse/kernel';
import type {
  FetchedBatch,
  PartitionRange,
  RawReader,
  ReadBatch,
  ReadManyOptions,
  ReadPosition,
} from '../kafka.port.js';
import { clientFor } from './client.kafka.js';
import type { KafkaOptions } from './client.kafka.js';
import { asFailure } from './failures.kafka.js';
import { internalBatch, internalCluster, leaderOf, READ_COMMITTED } from './internals.kafka.js';
import type { InternalBroker, InternalCluster, InternalPartitionData } from './internals.kafka.js';
import { asRecord } from './records.kafka.js';
import { ended, within } from './time-limit.kafka.js';

const MAX_BYTES = 1 << 20;
/** Well below ATTEMPT_WITHIN_MS: a broker that only waits is no broker that is away. */
const WAIT_MAX_MS = 5_000;
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
        if (messages.length > 0 || next === position)
          return { topic, partition, fetchedOffset: fromOffset, records: messages.map(asRecord) };
        position = next;
      }
    });
  }

  readMany(
    positions: readonly ReadPosition[],
    { waitMs = 0, maxBytes = MAX_BYTES }: ReadManyOptions = {},
  ): Promise<readonly ReadBatch[]> {
    return this.attempt(`${String(positions.length)} partitions`, async (cluster) => {
      const asked = new Map<InternalBroker, ReadPosition[]>();
      for (const position of positions) {
        const broker = await leaderOf(cluster, position.topic, position.partition);
        asked.set(broker, [...(asked.get(broker) ?? []), position]);
      }
      const found = new Map<string, ReadBatch>();
      await Promise.all(
        [...asked].map(async ([broker, wanted]) => {
          for (const batch of await fetchMany(broker, wanted, Math.min(waitMs, WAIT_MAX_MS), maxBytes))
            found.set(`${batch.topic}/${String(batch.partition)}`, batch);
        }),
      );
      return positions.map(({ topic, partition }) => {
        const batch = found.get(`${topic}/${String(partition)}`);
        if (batch === undefined) throw new Error(`${topic}/${String(partition)} is not in the answer`);
        return batch;
      });
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

async function fetchOnce(
  broker: InternalBroker,
  { topic, partition, position, maxBytes }: Fetch,
): Promise<{ readonly messages: readonly Parameters<typeof asRecord>[0][]; readonly next: number }> {
  const { responses } = await broker.fetch({
    isolationLevel: READ_COMMITTED,
    maxWaitTime: 0,
    minBytes: 1,
    maxBytes,
    topics: [{ topic, partitions: [{ partition, fetchOffset: String(position), maxBytes }] }],
  });
  const data = responses[0]?.partitions[0];
  if (data === undefined) throw new Error('no partition in the answer');
  return takenFrom(topic, position, data);
}

/** Records of an answer from a position on, and where reading goes on. */
function takenFrom(
  topic: string,
  position: number,
  data: InternalPartitionData,
): { readonly messages: readonly Parameters<typeof asRecord>[0][]; readonly next: number } {
  const batch = internalBatch(topic, position, data);
  return {
    messages: batch.messages,
    next: batch.rawMessages.length === 0 ? position : Math.max(position, Number(batch.lastOffset()) + 1),
  };
}

/** One request for all partitions of a broker. One whose answer holds only what kafkajs sees is asked for again alone. */
async function fetchMany(
  broker: InternalBroker,
  positions: readonly ReadPosition[],
  waitMs: number,
  maxBytes: number,
): Promise<readonly ReadBatch[]> {
  const topics = new Map<
    string,
    { readonly partition: number; readonly fetchOffset: string; readonly maxBytes: number }[]
  >();
  for (const { topic, partition, offset } of positions)
    topics.set(topic, [...(topics.get(topic) ?? []), { partition, fetchOffset: String(offset), maxBytes }]);
  const { responses } = await broker.fetch({
    isolationLevel: READ_COMMITTED,
    maxWaitTime: waitMs,
    minBytes: 1,
    maxBytes: maxBytes * positions.length,
    topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })),
  });
  const offsets = new Map(positions.map(({ topic, partition, offset }) => [`${topic}/${String(partition)}`, offset]));
  return Promise.all(
    responses.flatMap(({ topicName: topic, partitions }) =>
      partitions.map(async (data): Promise<ReadBatch> => {
        const { partition } = data;
        const from = offsets.get(`${topic}/${String(partition)}`) ?? 0;
        let { messages, next } = takenFrom(topic, from, data);
        for (let position = from; messages.length === 0 && next !== position;) {
          position = next;
          ({ messages, next } = await fetchOnce(broker, { topic, partition, position, maxBytes }));
        }
        return {
          topic,
          partition,
          fetchedOffset: from,
          records: messages.map(asRecord),
          end: Number(data.highWatermark),
        };
      }),
    ),
  );
}
