// Raw reader: fetches without a group, on connections of its own, never waiting unless it is asked to.
//
// Invariants
//   I1. An empty answer means the end of the partition: what no reader may see is stepped over, a request at a time, each with
//       its own time.
//       A broker that makes us wait has given no answer: it is asked again when the wait is over, and not for ever; what others
//       gave meanwhile is kept, for within their quotas they would have to give it once more.
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
import { BrokerCluster } from './cluster.kafka.js';
import { asFailure, refusalIn } from './failures.kafka.js';
import { ANY_EPOCH, fetchFrom, ISOLATION_LEVEL, Throttled } from './fetch.kafka.js';
import type { Fetched, FetchLimits } from './fetch.kafka.js';
import { LongPolls } from './long-polls.kafka.js';
import type { Poll } from './long-polls.kafka.js';

const MAX_BYTES = 1 << 20;
/** Well below ATTEMPT_WITHIN_MS: a broker that only waits is no broker that is away. */
const WAIT_MAX_MS = 5_000;
const ATTEMPTS_MAX = 3;
/** Before the second attempt; twice as long before the third. */
const PAUSE_MS = 100;
/** Above the time-out of a request, with a connection before it. */
export const ATTEMPT_WITHIN_MS = 15_000;
/** Longest time for which one question is put off by a broker whose quota we used up: several windows of a quota. */
export const THROTTLED_MAX_MS = 60_000;
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
  const reader = new BrokerRawReader(
    {
      cluster: () => new BrokerCluster(options, options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS),
      fetch: fetchFrom,
      sleep: (ms, signal) => systemClock.sleep(ms, signal),
    },
    isolation,
  );
  await reader.connect();
  return reader;
}

/** What a reader asks, and how it waits. */
export interface ReadFrom {
  readonly cluster: () => Pick<BrokerCluster, 'connect' | 'leaderOf' | 'forget' | 'close'>;
  readonly fetch: typeof fetchFrom;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

type Cluster = ReturnType<ReadFrom['cluster']>;

/** What one broker said, by place; and that it makes us wait for the rest. */
interface Answer {
  readonly batches: ReadonlyMap<string, ReadBatch>;
  readonly throttled: Throttled | null;
}

export class BrokerRawReader implements RawReader {
  private cluster: Cluster | null = null;
  private readonly over = new AbortController();
  private readonly polls = new LongPolls<Connection, Answer>();

  constructor(
    private readonly from: ReadFrom,
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

  async read(topic: string, partition: number, fromOffset: number, maxBytes = MAX_BYTES): Promise<FetchedBatch> {
    for (let offset = fromOffset; ;) {
      const found = await this.step({ topic, partition, offset }, maxBytes);
      if (found.records.length > 0 || found.nextOffset === offset) return { ...found, fetchedOffset: fromOffset };
      offset = found.nextOffset;
    }
  }

  private step(position: ReadPosition, maxBytes: number): Promise<FetchedBatch> {
    const { topic, partition, offset } = position;
    return this.attempt(`${topic}/${String(partition)} at ${String(offset)}`, async (cluster) => {
      const broker = await cluster.leaderOf(topic, partition);
      const found = (await this.from.fetch(broker, [position], { isolation: this.isolation, waitMs: 0, maxBytes })).get(
        position,
      );
      if (found === undefined) throw new Error(`${topic}/${String(partition)} is not in the answer`);
      const { failure, records, nextOffset, octets = 0 } = found;
      if (failure !== undefined) throw failure;
      return { topic, partition, fetchedOffset: offset, nextOffset, records, octets };
    });
  }

  async readMany(
    positions: readonly ReadPosition[],
    { waitMs = 0, maxBytes = MAX_BYTES }: ReadManyOptions = {},
  ): Promise<readonly ReadBatch[]> {
    const found = new Map<ReadPosition, ReadBatch>();
    let [asked, waits] = [new Map(positions.map((position) => [position, position.offset])), waitMs];
    while (asked.size > 0) {
      const passed = new Map<ReadPosition, number>();
      for (const [position, batch] of await this.stepMany(asked, { waitMs: Math.min(waits, WAIT_MAX_MS), maxBytes })) {
        found.set(position, { ...batch, fetchedOffset: position.offset });
        if (batch.records.length === 0 && batch.nextOffset > batch.fetchedOffset)
          passed.set(position, batch.nextOffset);
      }
      [asked, waits] = [passed, 0];
    }
    return positions.flatMap((position) => found.get(position) ?? []);
  }

  /** One request to each broker, and another where one made us wait for it. */
  private async stepMany(
    asked: ReadonlyMap<ReadPosition, number>,
    limits: Required<ReadManyOptions>,
  ): Promise<ReadonlyMap<ReadPosition, ReadBatch>> {
    const found = new Map<string, ReadBatch>();
    await this.attempt(`${String(asked.size)} partitions`, async (cluster) => {
      const led = new Map<Connection, (ReadPosition & { readonly of: ReadPosition })[]>();
      for (const [of, offset] of asked) {
        if (found.has(placeOf(of))) continue;
        const broker = await cluster.leaderOf(of.topic, of.partition);
        led.set(broker, [...(led.get(broker) ?? []), { topic: of.topic, partition: of.partition, offset, of }]);
      }
      const terms = { ...limits, isolation: this.isolation };
      const answers = await this.polls.first(
        [...led].map(([broker, wanted]) => ({
          broker,
          named: JSON.stringify([wanted.map(({ topic, partition, offset }) => [topic, partition, offset]), terms]),
          ask: () => pollOf(this.from.fetch(broker, wanted, terms), terms),
        })),
      );
      for (const [place, batch] of answers.flatMap(({ batches }) => [...batches])) found.set(place, batch);
      const waits = answers.find(({ throttled }) => throttled !== null);
      if (waits?.throttled) throw waits.throttled;
    });
    return new Map(
      [...asked.keys()].flatMap((of) => {
        const batch = found.get(placeOf(of));
        return batch === undefined ? [] : [[of, batch] as const];
      }),
    );
  }

  async close(): Promise<void> {
    this.over.abort();
    await this.drop(this.cluster);
  }

  private async attempt<T>(what: string, act: (cluster: Cluster) => Promise<T>): Promise<T> {
    for (let [attempt, throttledMs] = [1, 0]; ;) {
      if (this.over.signal.aborted) throw new Failure('BROKER_UNAVAILABLE', 'the reader is closed');
      const used = (this.cluster ??= this.from.cluster());
      let isAnswered = false;
      const acting = act(used).catch((error: unknown) => {
        isAnswered = error instanceof Failure || refusalIn(error) !== null;
        throw error;
      });
      try {
        return await within(acting, ATTEMPT_WITHIN_MS, what);
      } catch (error) {
        if (error instanceof Throttled) {
          const waitMs = putOffBy(error, throttledMs);
          throttledMs += waitMs;
          await this.from.sleep(waitMs, this.over.signal);
          continue;
        }
        const failure = asFailure(error, what);
        if (failure.code !== 'BROKER_UNAVAILABLE') throw failure;
        // Others ask by the same connections: what a broker answered says nothing against them.
        if (isAnswered) used.forget();
        else await this.drop(used);
        if (attempt === ATTEMPTS_MAX) throw failure;
        await this.from.sleep(PAUSE_MS * attempt, this.over.signal);
        attempt += 1;
      }
    }
  }

  private async drop(used: Cluster | null): Promise<void> {
    if (this.cluster === used) this.cluster = null;
    if (used !== null) await ended(used.close());
  }
}

/** How long the next attempt is put off, milliseconds, after others. Errors: what put it off, once that was for long enough. */
function putOffBy(error: Throttled, sinceMs: number): number {
  if (sinceMs >= THROTTLED_MAX_MS) throw error;
  return Math.min(error.waitMs, THROTTLED_MAX_MS - sinceMs);
}

/** Without a wait every answer counts: all of them are waited for, also where one broker gives some later. */
async function pollOf(
  asked: Promise<ReadonlyMap<ReadPosition, Fetched>>,
  { waitMs }: FetchLimits,
): Promise<Poll<Answer>> {
  const batches = new Map<string, ReadBatch>();
  let throttled: Throttled | null = null;
  for (const [position, { failure, isHeld: _held, isUnread: _unread, ...batch }] of await asked) {
    if (failure instanceof Throttled && waitMs === 0) throttled = failure;
    else if (failure !== undefined) throw failure;
    else batches.set(placeOf(position), batch);
  }
  const isNews =
    waitMs > 0 &&
    [...batches.values()].some(
      ({ records, fetchedOffset, nextOffset }) => records.length > 0 || nextOffset > fetchedOffset,
    );
  return { answer: { batches, throttled }, isNews };
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
