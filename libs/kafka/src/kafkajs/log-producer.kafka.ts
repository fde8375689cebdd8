// Log producer over kafkajs: no idempotence, no retries, one send in flight, silence until the outcome is known (L6).
//
// Invariants
//   I1. A send that was not confirmed with its base offset is `unknown`.
//   I2. After `unknown` nothing more leaves: what waits behind it is answered `unknown` unsent.
import type { LogProducer, OutgoingRecord, SendOutcome } from '../kafka.port.js';
import { asFailure } from './failures.kafka.js';
import { clientFor } from './client.kafka.js';
import type { KafkaOptions } from './client.kafka.js';
import { internalCluster, leaderOf, produceThrough } from './internals.kafka.js';
import type { InternalCluster, ProducedTo } from './internals.kafka.js';
import { encodeProduce } from './record-batch.kafka.js';
import { ended, within } from './time-limit.kafka.js';

const LOG_REQUEST_TIMEOUT_MS = 5_000;
/** kafkajs reconnects before it reports a lost connection; past this the outcome is called unknown without it. */
const RECONNECT_ALLOWANCE_MS = 5_000;

/**
 * Connects a log producer.
 *
 * Errors: Failure(BROKER_UNAVAILABLE) when no broker answers.
 */
export async function connectLogProducer(options: KafkaOptions): Promise<LogProducer> {
  const requestTimeoutMs = options.logRequestTimeoutMs ?? LOG_REQUEST_TIMEOUT_MS;
  const cluster = internalCluster(clientFor(options, { requestTimeout: requestTimeoutMs, retry: { retries: 0 } }));
  try {
    await within(cluster.connect(), requestTimeoutMs + RECONNECT_ALLOWANCE_MS, 'log producer');
  } catch (error) {
    void ended(cluster.disconnect());
    throw asFailure(error, 'log producer');
  }
  return new KafkaJsLogProducer(cluster, requestTimeoutMs);
}

class KafkaJsLogProducer implements LogProducer {
  private inFlight: Promise<unknown> = Promise.resolve();
  private dead: { readonly cause: unknown } | null = null;

  constructor(
    private readonly cluster: InternalCluster,
    private readonly requestTimeoutMs: number,
  ) {}

  send(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome> {
    const outcome = this.inFlight.then(() => this.sendNow(topic, partition, records));
    this.inFlight = outcome;
    return outcome;
  }

  async close(): Promise<void> {
    this.dead ??= { cause: new Error('the producer is closed') };
    await ended(this.cluster.disconnect());
  }

  private async sendNow(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome> {
    if (this.dead) return { kind: 'unknown', cause: this.dead.cause };
    const outcome = await this.outcomeOf(topic, partition, records);
    if (outcome.kind === 'unknown') this.dead ??= { cause: outcome.cause };
    return outcome;
  }

  private async outcomeOf(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome> {
    try {
      return confirmed(
        await within(this.produce(topic, partition, records), this.requestTimeoutMs + RECONNECT_ALLOWANCE_MS, topic),
        partition,
      );
    } catch (cause) {
      return { kind: 'unknown', cause };
    }
  }

  private async produce(
    topic: string,
    partition: number,
    records: readonly OutgoingRecord[],
  ): Promise<readonly ProducedTo[]> {
    const broker = await leaderOf(this.cluster, topic, partition);
    return produceThrough(
      broker,
      encodeProduce({ topic, partition, timeoutMs: this.requestTimeoutMs }, records, Date.now()),
    );
  }
}

/** Without a base offset nothing is known. */
function confirmed(answers: readonly ProducedTo[], partition: number): SendOutcome {
  const [answer] = answers;
  const baseOffset = Number(answer?.baseOffset ?? NaN);
  if (answers.length === 1 && answer?.partition === partition && Number.isSafeInteger(baseOffset) && baseOffset >= 0)
    return { kind: 'landed', baseOffset };
  return { kind: 'unknown', cause: new Error(`no base offset for partition ${String(partition)}`) };
}
