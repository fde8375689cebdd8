// Input consumer over kafkajs: one group for all inputs of a service, everything paused at every join (L13).
//
// Boundary: hands batches over at once and keeps nothing; queues, cursors and back pressure are the owner's.
//
// Invariants
//   I1. A batch is handed over only when it starts where the owner stands: stale batches of a fetch response in hand
//       (after a seek or a join) are dropped here and were never resolved. Every drop seeks again: a seek to where a batch
//       in hand begins would otherwise set kafkajs back behind the owner, and the partition would stand still.
//   I2. `fetchedOffset` is the owner's position, also when kafkajs stepped over records that only it sees.
//   I3. No offset is committed. A position outside the topic's range ends the consumer: kafkajs alone would go back to
//       the start in silence.
//   I4. A consumer that fetches nothing for STALLED_MS, not even emptiness, is over; its owner makes a new one.
import { randomUUID } from 'node:crypto';
import type { Batch, Consumer } from 'kafkajs';
import { Failure, InvariantViolation, systemClock } from '@recourse/kernel';
import type { InputConsumer, InputConsumerOptions, InputHandlers, TopicPartition } from '../kafka.port.js';
import { alignedAssigner } from './assigner.kafka.js';
import { clientFor } from './client.kafka.js';
import type { KafkaLogLine, KafkaOptions } from '../options.js';
import { asFailure } from './failures.kafka.js';
import { asRecord } from './records.kafka.js';
import { ended, within } from '../time-limit.js';

const SESSION_TIMEOUT_MS = 6_000;
const HEARTBEAT_INTERVAL_MS = 300;
/** Above the longest fetch wait, or the group never converges. */
const REBALANCE_TIMEOUT_MS = 10_000;
const MAX_WAIT_MS = 100;
const MAX_BYTES_PER_PARTITION = 1 << 20;
const RETRY = {
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  retries: 8,
  restartOnFailure: () => Promise.resolve(false),
} as const;
/** kafkajs answers an idle fetch after `maxWaitMs`, and a join within the rebalance time-out. */
const STALLED_MS = 40_000;
const LOOKED_AFTER_EVERY_MS = 2_000;
/** Above connecting, joining and all retries of both. */
const STARTED_WITHIN_MS = 60_000;
const OUT_OF_RANGE_LINE = 'Offset out of range, resetting to default offset';

interface Position {
  /** Where the owner stands: after the last record handed over, or where it sought. */
  owner: number;
  /** Where kafkajs fetches next. */
  fetch: number;
}

export class KafkaJsInputConsumer implements InputConsumer {
  private readonly consumer: Consumer;
  private readonly topics: readonly string[];
  private readonly positions = new Map<string, Position>();
  private handlers: InputHandlers | null = null;
  private held: readonly number[] = [];
  private generation = 0;
  private over = false;
  private fetchedAt = 0;
  private watchdog: NodeJS.Timeout | undefined;

  constructor(
    kafka: KafkaOptions,
    private readonly options: InputConsumerOptions,
  ) {
    this.topics = [...new Set([...options.aligned, ...options.broadcast])];
    const sessionTimeout = options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS;
    const client = clientFor({ ...kafka, clientId: `${kafka.clientId}-${randomUUID().slice(0, 8)}` }, {}, (line) => {
      this.onLog(line);
    });
    this.consumer = client.consumer({
      groupId: options.groupId,
      partitionAssigners: [
        alignedAssigner({ aligned: options.aligned, broadcast: options.broadcast, held: () => this.held }),
      ],
      sessionTimeout,
      heartbeatInterval: Math.min(HEARTBEAT_INTERVAL_MS, Math.floor(sessionTimeout / 3)),
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      maxWaitTimeInMs: options.maxWaitMs ?? MAX_WAIT_MS,
      minBytes: 1,
      maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
      allowAutoTopicCreation: false,
      retry: RETRY,
    });
  }

  async start(handlers: InputHandlers): Promise<void> {
    if (this.handlers) throw new InvariantViolation('L13', 'an input consumer starts once', 'partition');
    this.handlers = handlers;
    this.listen();
    try {
      await within(this.run(), STARTED_WITHIN_MS, this.options.groupId);
    } catch (error) {
      await this.stop();
      throw asFailure(error, this.topics.join(', '));
    }
  }

  private async run(): Promise<void> {
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [...this.topics], fromBeginning: true });
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 1,
      eachBatch: (payload) => {
        this.onBatch(payload);
        return Promise.resolve();
      },
    });
  }

  seek(topic: string, partition: number, offset: number): void {
    if (this.over) return;
    this.positions.set(keyOf(topic, partition), { owner: offset, fetch: offset });
    this.consumer.seek({ topic, partition, offset: String(offset) });
  }

  pause(partitions: readonly TopicPartition[]): void {
    if (!this.over) this.consumer.pause(partitions.map(({ topic, partition }) => ({ topic, partitions: [partition] })));
  }

  resume(partitions: readonly TopicPartition[]): void {
    if (!this.over)
      this.consumer.resume(partitions.map(({ topic, partition }) => ({ topic, partitions: [partition] })));
  }

  async stop(): Promise<void> {
    this.over = true;
    clearInterval(this.watchdog);
    await ended(this.consumer.disconnect());
  }

  private listen(): void {
    const { GROUP_JOIN, FETCH, START_BATCH_PROCESS, CRASH } = this.consumer.events;
    this.fetchedAt = systemClock.monotonic();
    this.watchdog = setInterval(() => {
      this.lookAfter();
    }, LOOKED_AFTER_EVERY_MS).unref();
    this.consumer.on(FETCH, () => {
      this.fetchedAt = systemClock.monotonic();
    });
    this.consumer.on(GROUP_JOIN, ({ payload }) => {
      this.onJoin(payload.memberAssignment);
    });
    this.consumer.on(START_BATCH_PROCESS, ({ payload }) => {
      if (payload.batchSize === 0) this.stepOver(payload.topic, payload.partition, Number(payload.lastOffset));
    });
    this.consumer.on(CRASH, ({ payload }) => {
      this.crash(asFailure(payload.error, this.options.groupId));
    });
  }

  private onJoin(assignment: Readonly<Record<string, readonly number[]>>): void {
    if (this.over) return;
    this.consumer.pause(this.topics.map((topic) => ({ topic })));
    this.positions.clear();
    this.generation += 1;
    const [firstAligned] = this.options.aligned;
    this.held = firstAligned === undefined ? [] : [...(assignment[firstAligned] ?? [])].sort((a, b) => a - b);
    this.guarded((handlers) => {
      handlers.onAssigned({ partitions: this.held, generation: this.generation });
    });
  }

  private onBatch({
    batch,
    resolveOffset,
  }: {
    readonly batch: Batch;
    readonly resolveOffset: (offset: string) => void;
  }): void {
    const position = this.positions.get(keyOf(batch.topic, batch.partition));
    // Typed as absent, always present: src/consumer/batch.js sets it in the constructor.
    const { fetchedOffset } = batch as Batch & { readonly fetchedOffset: string };
    if (this.over || position === undefined) return;
    if (position.fetch !== Number(fetchedOffset)) {
      this.seek(batch.topic, batch.partition, position.owner);
      return;
    }
    resolveOffset(batch.messages.at(-1)?.offset ?? batch.lastOffset());
    const handedOver = {
      topic: batch.topic,
      partition: batch.partition,
      fetchedOffset: position.owner,
      records: batch.messages.map(asRecord),
    };
    position.fetch = Number(batch.lastOffset()) + 1;
    position.owner = Number(batch.messages.at(-1)?.offset ?? position.owner - 1) + 1;
    this.guarded((handlers) => {
      handlers.onBatch(handedOver);
    });
  }

  /** A throwing handler would be retried for seconds, then crash kafkajs: its error ends the consumer at once. */
  private guarded(call: (handlers: InputHandlers) => void): void {
    try {
      if (this.handlers) call(this.handlers);
    } catch (error) {
      this.crash(error);
      void this.stop();
    }
  }

  /** kafkajs resolves a batch without visible records (control records) by itself. */
  private stepOver(topic: string, partition: number, lastOffset: number): void {
    const position = this.positions.get(keyOf(topic, partition));
    if (position) position.fetch = lastOffset + 1;
  }

  private onLog({ message, fields }: KafkaLogLine): void {
    if (message !== OUT_OF_RANGE_LINE || this.over) return;
    this.crash(
      new Failure(
        'CURSOR_OUT_OF_RANGE',
        `${String(fields['topic'])}/${String(fields['partition'])} in group ${this.options.groupId}`,
      ),
    );
    void this.stop();
  }

  /** A request that kafkajs lost track of keeps its fetch loop waiting, and nobody is told. */
  private lookAfter(): void {
    const silentMs = systemClock.monotonic() - this.fetchedAt;
    if (this.over || silentMs < STALLED_MS) return;
    this.crash(
      new Failure(
        'BROKER_UNAVAILABLE',
        `group ${this.options.groupId} has fetched nothing for ${String(Math.round(silentMs))} ms`,
      ),
    );
    void this.stop();
  }

  private crash(cause: unknown): void {
    if (this.over) return;
    this.over = true;
    clearInterval(this.watchdog);
    this.handlers?.onCrash(cause);
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}
