// Wire producer over kafkajs: at least once, keys to partitions as Java does.
//
// Invariants
//   I1. One request round in flight; what is sent meanwhile goes together in the next (kafkajs reorders concurrent sends).
//   I2. A send resolves only after every record of it was acknowledged.
import { Partitioners } from 'kafkajs';
import type { Message, Producer, TopicMessages } from 'kafkajs';
import { Failure, systemClock } from '@recourse/kernel';
import type { OutgoingRecord, WireProducer } from '../kafka.port.js';
import { asFailure } from './failures.kafka.js';
import { clientFor } from './client.kafka.js';
import type { KafkaOptions } from '../options.js';
import { ended, within } from '../time-limit.js';

/** For connections. Sends are retried here: kafkajs would try for seconds to find a topic that does not exist. */
const CONNECTION_RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 } as const;
const ATTEMPTS_MAX = 8;
const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** Above kafkajs' own time-out of a request, with connections and their retries before it. */
const ANSWER_WITHIN_MS = 30_000;

interface Waiting {
  readonly topic: string;
  readonly messages: Message[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Connects a wire producer.
 *
 * Errors: Failure(BROKER_UNAVAILABLE) when no broker answers.
 */
export async function connectWireProducer(options: KafkaOptions): Promise<WireProducer> {
  const producer = clientFor(options, { retry: CONNECTION_RETRY }).producer({
    idempotent: false,
    allowAutoTopicCreation: false,
    retry: { retries: 0 },
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  try {
    await within(producer.connect(), ANSWER_WITHIN_MS, 'wire producer');
  } catch (error) {
    void ended(producer.disconnect());
    throw asFailure(error, 'wire producer');
  }
  return new KafkaJsWireProducer(producer);
}

class KafkaJsWireProducer implements WireProducer {
  private waiting: Waiting[] = [];
  private draining = false;
  private drained: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(private readonly producer: Producer) {}

  send(topic: string, records: readonly OutgoingRecord[]): Promise<void> {
    if (this.closed) return Promise.reject(new Failure('BROKER_UNAVAILABLE', 'the producer is closed'));
    const messages = records.map(({ key, value, headers }) => ({
      key,
      value,
      ...(headers ? { headers: { ...headers } } : {}),
    }));
    return new Promise((resolve, reject) => {
      this.waiting.push({ topic, messages, resolve, reject });
      if (!this.draining) this.drained = this.drain();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.drained;
    await ended(this.producer.disconnect());
  }

  private async drain(): Promise<void> {
    this.draining = true;
    // What is sent in the same turn goes together: nothing waits for it, and it is one request.
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
    const byTopic = Map.groupBy(round, ({ topic }) => topic);
    const topicMessages = [...byTopic].map(([topic, sends]) => ({
      topic,
      messages: sends.flatMap(({ messages }) => messages),
    }));
    const failure = await this.sendWithRetries(topicMessages);
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

  private async sendWithRetries(topicMessages: TopicMessages[]): Promise<Failure | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await within(this.producer.sendBatch({ acks: -1, topicMessages }), ANSWER_WITHIN_MS, 'send');
        return null;
      } catch (error) {
        const failure = asFailure(error, topicMessages.map(({ topic }) => topic).join(', '));
        if (failure.code !== 'BROKER_UNAVAILABLE' || attempt === ATTEMPTS_MAX || this.closed) return failure;
      }
      await systemClock.sleep(Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
    }
  }
}
