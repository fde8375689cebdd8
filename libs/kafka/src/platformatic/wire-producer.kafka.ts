// Wire producer: at least once, keys to partitions as Java does.
//
// Invariants
//   I1. One round in flight, one request for each partition; what is sent meanwhile goes together in the next.
//   I2. A send resolves only after every record of it was acknowledged.
//   I3. After a failure nothing of what was known of the cluster is believed: connections and leaders are asked for anew.
import { Failure, partitionForKey, systemClock } from '@recourse/kernel';
import type { OutgoingRecord, WireProducer } from '../kafka.port.js';
import { CONNECTION_TIMEOUT_MS } from '../options.js';
import type { KafkaOptions } from '../options.js';
import { ended, within } from '../time-limit.js';
import { BrokerCluster } from './cluster.kafka.js';
import { asFailure } from './failures.kafka.js';
import { baseOffsetIn, produceTo } from './produce.kafka.js';

const REQUEST_TIMEOUT_MS = 10_000;
const ATTEMPTS_MAX = 8;
const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** Leaders and partitions of a topic are asked for again after this, milliseconds: others may have added some. */
const BELIEVED_MS = 300_000;

interface Waiting {
  readonly topic: string;
  readonly records: readonly OutgoingRecord[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What goes to one partition in one request. */
interface Part {
  readonly topic: string;
  readonly partition: number;
  readonly records: OutgoingRecord[];
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

class BrokerWireProducer implements WireProducer {
  private cluster: BrokerCluster;
  private believedUntil = 0;
  private waiting: Waiting[] = [];
  private draining = false;
  private drained: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(
    private readonly open: () => BrokerCluster,
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
      this.waiting.push({ topic, records, resolve, reject });
      if (!this.draining) this.drained = this.drain();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.drained;
    await ended(this.cluster.close());
  }

  private async drain(): Promise<void> {
    this.draining = true;
    // What is sent in the same turn goes together: nothing waits for it, and it is one round.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const round = this.waiting;
      this.waiting = [];
      await this.sendRound(round);
    }
    // In the same turn as the last look: a send in between would wait for ever.
    this.draining = false;
  }

  private async sendRound(round: readonly Waiting[]): Promise<void> {
    const failure = await this.sendWithRetries(round);
    if (failure === null)
      round.forEach(({ resolve }) => {
        resolve();
      });
    // One bad send must not fail its neighbours: alone, each gets its own answer (at least once allows the repeat).
    else if (round.length > 1 && failure.code !== 'BROKER_UNAVAILABLE')
      for (const send of round) await this.sendRound([send]);
    else
      round.forEach(({ reject }) => {
        reject(failure);
      });
  }

  private async sendWithRetries(round: readonly Waiting[]): Promise<Failure | null> {
    const topics = [...new Set(round.map(({ topic }) => topic))].join(', ');
    for (let attempt = 1; ; attempt += 1) {
      try {
        await within(this.sendNow(round), this.answerWithinMs, 'send');
        return null;
      } catch (error) {
        const failure = asFailure(error, topics);
        this.renew();
        if (failure.code !== 'BROKER_UNAVAILABLE' || attempt === ATTEMPTS_MAX || this.closed) return failure;
      }
      await systemClock.sleep(Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
    }
  }

  private async sendNow(round: readonly Waiting[]): Promise<void> {
    if (systemClock.monotonic() > this.believedUntil) this.renew();
    const parts = await this.partsOf(round);
    const answers = await Promise.allSettled(
      parts.map(async ({ topic, partition, records }) => {
        const broker = await this.cluster.leaderOf(topic, partition);
        baseOffsetIn(await produceTo(broker, { topic, partition, timeoutMs: REQUEST_TIMEOUT_MS }, records), partition);
      }),
    );
    // Every answer is in before the next round leaves: what is sent again must not overtake what is under way.
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  private async partsOf(round: readonly Waiting[]): Promise<readonly Part[]> {
    const parts = new Map<string, Part>();
    for (const { topic, records } of round) {
      const count = await this.cluster.partitionCount(topic);
      for (const record of records) {
        const partition = partitionForKey(record.key, count);
        const place = `${topic}/${String(partition)}`;
        const part = parts.get(place) ?? { topic, partition, records: [] };
        parts.set(place, part);
        part.records.push(record);
      }
    }
    return [...parts.values()];
  }

  private renew(): void {
    void ended(this.cluster.close());
    this.cluster = this.opened();
  }

  private opened(): BrokerCluster {
    this.believedUntil = systemClock.monotonic() + BELIEVED_MS;
    return this.open();
  }
}
