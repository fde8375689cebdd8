// Raw reader: fetches without a group, on connections of its own, never waiting unless it is asked to.
//
// Invariants
//   I1. An empty answer means the end of the partition (fetch.kafka.ts steps over what no reader may see).
//   I2. An error of a connection costs all of them: the next attempt begins with a new cluster.
import { listOffsetsV5 } from '@platformatic/kafka';
import type { Connection } from '@platformatic/kafka';
import { Failure, systemClock } from '@recourse/kernel';
import type {
  FetchedBatch,
  PartitionRange,
  RawReader,
  ReadBatch,
  ReadManyOptions,
  ReadPosition,
  TopicPartition,
} from '../kafka.port.js';
import { REQUEST_TIMEOUT_MS } from '../options.js';
import type { Isolation, KafkaOptions } from '../options.js';
import { ended, within } from '../time-limit.js';
import { BrokerCluster, NoLeader } from './cluster.kafka.js';
import { asFailure, refusalIn } from './failures.kafka.js';
import { ANY_EPOCH, fetchFrom, ISOLATION_LEVEL } from './fetch.kafka.js';
import type { FetchLimits } from './fetch.kafka.js';
import { LongPolls } from './long-polls.kafka.js';
import type { Poll } from './long-polls.kafka.js';

const MAX_BYTES = 1 << 20;
/** Well below ATTEMPT_WITHIN_MS: a broker that only waits is no broker that is away. */
const WAIT_MAX_MS = 5_000;
const ATTEMPTS_MAX = 3;
/** Before the second attempt; twice as long before the third. */
const PAUSE_MS = 100;
/** Above the time-out of a request, with a connection before it. */
const ATTEMPT_WITHIN_MS = 15_000;
/** Says in a request for offsets that no replica asks. */
const NO_REPLICA = -1;
/** Stand for the first and the next offset in a request for offsets. */
const [EARLIEST, LATEST] = [-2n, -1n];

/**
 * Connects a raw reader.
 *
 * Errors: Failure(BROKER_UNAVAILABLE) when no broker answers.
 */
export async function connectRawReader(options: KafkaOptions, isolation: Isolation): Promise<RawReader> {
  const reader = new BrokerRawReader(options, isolation);
  await reader.connect();
  return reader;
}

/** What one broker said, by place. */
type Answer = ReadonlyMap<string, ReadBatch>;

class BrokerRawReader implements RawReader {
  private cluster: BrokerCluster | null = null;
  private closed = false;
  private readonly polls = new LongPolls<Connection, Answer>();

  constructor(
    private readonly options: KafkaOptions,
    private readonly isolation: Isolation,
  ) {}

  async connect(): Promise<void> {
    await this.attempt('raw reader', (cluster) => cluster.connect());
  }

  range(topic: string, partition: number): Promise<PartitionRange> {
    return this.attempt(`${topic}/${String(partition)}`, async (cluster) => {
      const broker = await cluster.leaderOf(topic, partition);
      const at = (instant: bigint): Promise<number> => offsetAt(broker, { topic, partition }, instant, this.isolation);
      const [low, high] = await Promise.all([at(EARLIEST), at(LATEST)]);
      return { low, high };
    });
  }

  read(topic: string, partition: number, fromOffset: number, maxBytes = MAX_BYTES): Promise<FetchedBatch> {
    return this.attempt(`${topic}/${String(partition)} at ${String(fromOffset)}`, async (cluster) => {
      const broker = await cluster.leaderOf(topic, partition);
      const position = { topic, partition, offset: fromOffset };
      const found = (await fetchFrom(broker, [position], { isolation: this.isolation, waitMs: 0, maxBytes })).get(
        position,
      );
      if (found?.failure !== undefined) throw found.failure;
      const { records, nextOffset } = found ?? { records: [], nextOffset: fromOffset };
      return { topic, partition, fetchedOffset: fromOffset, nextOffset, records };
    });
  }

  readMany(
    positions: readonly ReadPosition[],
    { waitMs = 0, maxBytes = MAX_BYTES }: ReadManyOptions = {},
  ): Promise<readonly ReadBatch[]> {
    const limits = { isolation: this.isolation, waitMs: Math.min(waitMs, WAIT_MAX_MS), maxBytes };
    return this.attempt(`${String(positions.length)} partitions`, async (cluster) => {
      const asked = new Map<Connection, ReadPosition[]>();
      for (const position of positions) {
        const broker = await cluster.leaderOf(position.topic, position.partition);
        asked.set(broker, [...(asked.get(broker) ?? []), position]);
      }
      const answers = await this.polls.first(
        [...asked].map(([broker, wanted]) => ({
          broker,
          named: JSON.stringify([wanted, limits]),
          ask: () => pollOf(broker, wanted, limits),
        })),
      );
      const found = new Map(answers.flatMap((answer) => [...answer]));
      return positions.flatMap((position) => found.get(placeOf(position)) ?? []);
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.drop(this.cluster);
  }

  private async attempt<T>(what: string, act: (cluster: BrokerCluster) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.closed) throw new Failure('BROKER_UNAVAILABLE', 'the reader is closed');
      const used = (this.cluster ??= new BrokerCluster(
        this.options,
        this.options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      ));
      try {
        return await within(act(used), ATTEMPT_WITHIN_MS, what);
      } catch (error) {
        const failure = asFailure(error, what);
        if (failure.code !== 'BROKER_UNAVAILABLE') throw failure;
        // Others ask by the same connections: what a broker answered says nothing against them.
        if (error instanceof NoLeader || refusalIn(error) !== null) used.forget();
        else await this.drop(used);
        if (attempt === ATTEMPTS_MAX) throw failure;
        await systemClock.sleep(PAUSE_MS * attempt);
      }
    }
  }

  private async drop(used: BrokerCluster | null): Promise<void> {
    if (this.cluster === used) this.cluster = null;
    if (used !== null) await ended(used.close());
  }
}

/** Without a wait every answer counts: all of them are waited for. */
async function pollOf(broker: Connection, wanted: readonly ReadPosition[], limits: FetchLimits): Promise<Poll<Answer>> {
  const answer = new Map<string, ReadBatch>();
  for (const [position, { failure, ...batch }] of await fetchFrom(broker, wanted, limits)) {
    if (failure !== undefined) throw failure;
    answer.set(placeOf(position), batch);
  }
  const isNews = limits.waitMs > 0 && [...answer.values()].some(({ records }) => records.length > 0);
  return { answer, isNews };
}

function placeOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}

/** Errors: those of the client; Error without an offset in the answer. */
async function offsetAt(
  broker: Connection,
  { topic, partition }: TopicPartition,
  timestamp: bigint,
  isolation: Isolation,
): Promise<number> {
  const { topics } = await listOffsetsV5.api.async(broker, NO_REPLICA, ISOLATION_LEVEL[isolation], [
    { name: topic, partitions: [{ partitionIndex: partition, currentLeaderEpoch: ANY_EPOCH, timestamp }] },
  ]);
  const offset = Number(topics[0]?.partitions[0]?.offset ?? NaN);
  if (!Number.isSafeInteger(offset) || offset < 0) throw new Error('no offset in the answer');
  return offset;
}
