// Wire producer: at least once, keys to partitions as Java does.
//
// Invariants
//   I1. Each partition has its lane: one that is slow or refuses holds up no other.
//   I2. A send resolves only after every record of it was acknowledged.
//   I3. What a broker refuses of a partition, its leader is asked for anew; where no answer came, connections are new, too.
import { Failure, partitionForKey, systemClock } from '@recourse/kernel';
import type { OutgoingRecord, WireProducer } from '../kafka.port.js';
import { CONNECTION_TIMEOUT_MS } from '../options.js';
import type { KafkaOptions } from '../options.js';
import { ended, within } from '../time-limit.js';
import { BrokerCluster, NoLeader } from './cluster.kafka.js';
import { asFailure, refusalIn } from './failures.kafka.js';
import { baseOffsetIn, produceTo } from './produce.kafka.js';
import { ATTEMPTS_MAX, Lane, pauseAfter, Sending } from './wire-lane.kafka.js';
import type { Parcel } from './wire-lane.kafka.js';

const REQUEST_TIMEOUT_MS = 10_000;
/** Leaders and partitions of a topic are asked for again after this, milliseconds: others may have added some. */
const BELIEVED_MS = 300_000;

/** What a producer needs of the brokers. */
export type Leaders = Pick<BrokerCluster, 'connect' | 'partitionCount' | 'leaderOf' | 'forget' | 'close'>;

interface Waiting {
  readonly records: readonly OutgoingRecord[];
  readonly sending: Sending;
}

/**
 * Connects a wire producer.
 *
 * Errors: Failure(BROKER_UNAVAILABLE) when no broker answers.
 */
export async function connectWireProducer(options: KafkaOptions): Promise<WireProducer> {
  // A connection, the question who leads, and the answer.
  const answerWithinMs = 2 * REQUEST_TIMEOUT_MS + (options.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS);
  const producer = new BrokerWireProducer(() => new BrokerCluster(options, REQUEST_TIMEOUT_MS), answerWithinMs);
  try {
    await within(producer.connect(), answerWithinMs, 'wire producer');
  } catch (error) {
    void producer.close();
    throw asFailure(error, 'wire producer');
  }
  return producer;
}

/** `open`: a cluster that was not asked yet; each attempt ends within `answerWithinMs`. */
export class BrokerWireProducer implements WireProducer {
  private cluster: Leaders;
  private believedUntil = 0;
  /** What was not handed to its lanes yet, by topic. */
  private readonly waiting = new Map<string, Waiting[]>();
  private readonly routing = new Map<string, Promise<void>>();
  private readonly lanes = new Map<string, Lane>();
  private closed = false;

  constructor(
    private readonly open: () => Leaders,
    private readonly answerWithinMs: number,
  ) {
    this.cluster = this.opened();
  }

  connect(): Promise<void> {
    return this.cluster.connect();
  }

  send(topic: string, records: readonly OutgoingRecord[]): Promise<void> {
    if (this.closed) return Promise.reject(new Failure('BROKER_UNAVAILABLE', 'the producer is closed'));
    return new Promise((resolve, reject) => {
      const sending = new Sending(records.length, resolve, reject);
      const waiting = this.waiting.get(topic);
      if (waiting === undefined) this.waiting.set(topic, [{ records, sending }]);
      else waiting.push({ records, sending });
      if (!this.routing.has(topic)) this.routing.set(topic, this.route(topic));
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.routing.values());
    await Promise.all([...this.lanes.values()].map((lane) => lane.rest()));
    await ended(this.cluster.close());
  }

  /** In the order in which they were sent to the topic; one that nobody knows holds up no other. */
  private async route(topic: string): Promise<void> {
    // What is sent in the same turn goes together: nothing waits for it, and it is one request for each partition.
    await Promise.resolve();
    for (let taken = this.waiting.get(topic); taken !== undefined; taken = this.waiting.get(topic)) {
      this.waiting.delete(topic);
      await this.hand(topic, taken);
    }
    // In the same turn as the last look: a send in between would wait for ever.
    this.routing.delete(topic);
  }

  private async hand(topic: string, sends: readonly Waiting[]): Promise<void> {
    const count = await this.countOf(topic);
    if (count instanceof Failure) {
      for (const { sending } of sends) sending.failed(count);
      return;
    }
    const parcels = sends.flatMap(({ records, sending }) => records.map((record): Parcel => ({ record, sending })));
    for (const [partition, own] of Map.groupBy(parcels, ({ record }) => partitionForKey(record.key, count)))
      this.laneOf(topic, partition).push(own);
  }

  private async countOf(topic: string): Promise<number | Failure> {
    for (let attempt = 1; ; attempt += 1) {
      const used = this.believed();
      try {
        return await within(used.partitionCount(topic), this.answerWithinMs, topic);
      } catch (error) {
        const failure = asFailure(error, topic);
        this.doubt(used, topic, error);
        if (failure.code !== 'BROKER_UNAVAILABLE' || attempt === ATTEMPTS_MAX || this.closed) return failure;
      }
      await pauseAfter(attempt);
    }
  }

  private laneOf(topic: string, partition: number): Lane {
    const place = `${topic}/${String(partition)}`;
    const known = this.lanes.get(place);
    if (known !== undefined) return known;
    const lane = new Lane({
      place,
      send: (records) => this.sendTo(topic, partition, records),
      isClosed: () => this.closed,
    });
    this.lanes.set(place, lane);
    return lane;
  }

  private async sendTo(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<void> {
    const used = this.cluster;
    const produce = async (): Promise<void> => {
      const broker = await used.leaderOf(topic, partition);
      baseOffsetIn(await produceTo(broker, { topic, partition, timeoutMs: REQUEST_TIMEOUT_MS }, records), partition);
    };
    try {
      await within(produce(), this.answerWithinMs, 'send');
    } catch (error) {
      this.doubt(used, topic, error);
      throw error;
    }
  }

  /** The cluster as far as it is believed. */
  private believed(): Leaders {
    if (systemClock.monotonic() > this.believedUntil) {
      this.cluster.forget();
      this.believedUntil = systemClock.monotonic() + BELIEVED_MS;
    }
    return this.cluster;
  }

  /** After a failure who leads is asked for anew, and where nobody answered, by new connections: others may wait there, too. */
  private doubt(used: Leaders, topic: string, error: unknown): void {
    if (refusalIn(error) !== null || isAnswer(error)) used.forget(topic);
    else if (used === this.cluster) {
      void ended(used.close());
      this.cluster = this.opened();
    }
  }

  private opened(): Leaders {
    this.believedUntil = systemClock.monotonic() + BELIEVED_MS;
    return this.open();
  }
}

/** The cluster answered, and named no leader. */
function isAnswer(error: unknown): boolean {
  return error instanceof NoLeader || (error instanceof Failure && error.code === 'TOPIC_MISSING');
}
