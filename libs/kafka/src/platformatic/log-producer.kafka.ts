// Log producer: no idempotence, no retries, one send in flight, silence until the outcome is known (L6).
//
// Invariants
//   I1. A send that was not confirmed with its base offset is `unknown`.
//   I2. After `unknown` nothing more leaves: what waits behind it is answered `unknown` unsent.
import type { LogProducer, OutgoingRecord, SendOutcome } from '../kafka.port.js';
import { CONNECTION_TIMEOUT_MS } from '../options.js';
import type { KafkaOptions } from '../options.js';
import { ended, within } from '../time-limit.js';
import { BrokerCluster } from './cluster.kafka.js';
import { asFailure } from './failures.kafka.js';
import { baseOffsetIn, produceTo } from './produce.kafka.js';
import type { ProduceAnswer } from './produce.kafka.js';

const LOG_REQUEST_TIMEOUT_MS = 5_000;

/**
 * Connects a log producer.
 *
 * Errors: Failure(BROKER_UNAVAILABLE) when no broker answers.
 */
export async function connectLogProducer(options: KafkaOptions): Promise<LogProducer> {
  const requestTimeoutMs = options.logRequestTimeoutMs ?? LOG_REQUEST_TIMEOUT_MS;
  const cluster = new BrokerCluster(options, requestTimeoutMs);
  // A connection, the question who leads, and the answer; past this nobody will settle what is under way.
  const answerWithinMs = 2 * requestTimeoutMs + (options.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS);
  try {
    await within(cluster.connect(), answerWithinMs, 'log producer');
  } catch (error) {
    void ended(cluster.close());
    throw asFailure(error, 'log producer');
  }
  return new BrokerLogProducer(cluster, requestTimeoutMs, answerWithinMs);
}

class BrokerLogProducer implements LogProducer {
  private inFlight: Promise<unknown> = Promise.resolve();
  private dead: { readonly cause: unknown } | null = null;

  constructor(
    private readonly cluster: BrokerCluster,
    private readonly requestTimeoutMs: number,
    private readonly answerWithinMs: number,
  ) {}

  send(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome> {
    const outcome = this.inFlight.then(() => this.sendNow(topic, partition, records));
    this.inFlight = outcome;
    return outcome;
  }

  async close(): Promise<void> {
    this.dead ??= { cause: new Error('the producer is closed') };
    await ended(this.cluster.close());
  }

  private async sendNow(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome> {
    if (this.dead) return { kind: 'unknown', cause: this.dead.cause };
    try {
      const answer = await within(this.produce(topic, partition, records), this.answerWithinMs, topic);
      return { kind: 'landed', baseOffset: baseOffsetIn(answer, partition) };
    } catch (error) {
      const cause = asFailure(error, topic);
      this.dead ??= { cause };
      return { kind: 'unknown', cause };
    }
  }

  private async produce(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<ProduceAnswer> {
    const broker = await this.cluster.leaderOf(topic, partition);
    return produceTo(broker, { topic, partition, timeoutMs: this.requestTimeoutMs }, records);
  }
}
