// Input consumer: a kafkajs group says who owns what, and fetchers of ours read it (L13).
//
// Boundary: hands batches over at once and keeps nothing; queues, cursors and back pressure are the owner's.
//
// Invariants
//   I1. kafkajs fetches nothing: all its partitions are paused at every join, and never resumed. It heartbeats while it rests.
//   I2. No offset is committed. A position outside the topic's range ends the consumer: nothing goes back to the start in silence.
//   I3. A group that does not turn for STALLED_MS is over; its owner makes a new one.
//   I4. One that is stopped is in no group, also where it was joining meanwhile.
import { randomUUID } from 'node:crypto';
import type { Consumer } from 'kafkajs';
import { Failure, InvariantViolation, systemClock } from '@recourse/kernel';
import type { InputConsumer, InputConsumerOptions, InputHandlers, ReadsOf, TopicPartition } from '../kafka.port.js';
import { alignedAssigner } from './assigner.kafka.js';
import { clientFor } from './client.kafka.js';
import { isolationOf } from '../options.js';
import type { KafkaOptions } from '../options.js';
import type { FetcherHandlers } from '../platformatic/fetch-terms.kafka.js';
import type { PartitionFetcher } from '../platformatic/partition-fetcher.kafka.js';
import { asFailure } from './failures.kafka.js';
import { ended, within } from '../time-limit.js';

const SESSION_TIMEOUT_MS = 6_000;
/** How soon a member hears that others have come or gone. */
const HEARTBEAT_INTERVAL_MS = 100;
/** Above the longest fetch wait, or the group never converges. */
const REBALANCE_TIMEOUT_MS = 10_000;
/** Twenty polls in ten seconds of rest; with the time a broker may be silent it stays below the five seconds of P14. */
const MAX_WAIT_MS = 500;
/** Rest of a group that fetches nothing: how soon it heartbeats and hears of a rebalance. */
const GROUP_REST_MS = 50;
const RETRY = {
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  retries: 8,
  restartOnFailure: () => Promise.resolve(false),
} as const;
/** kafkajs turns every GROUP_REST_MS, and a join ends within the rebalance time-out. */
const STALLED_MS = 40_000;
const LOOKED_AFTER_EVERY_MS = 2_000;
/** Above connecting, joining and all retries of both. */
const STARTED_WITHIN_MS = 60_000;

export class KafkaJsInputConsumer implements InputConsumer {
  readonly name: string;
  private readonly consumer: Consumer;
  private readonly topics: readonly string[];
  /** One for what is read as it lies, one for what has to be committed: a long poll holds its connection. */
  private fetchers: Readonly<Record<ReadsOf, PartitionFetcher>> | null = null;
  private handlers: InputHandlers | null = null;
  private held: readonly number[] = [];
  private generation = 0;
  private over = false;
  /** Null before it asks to be let in. */
  private joining: Promise<void> | null = null;
  private fetchedAt = 0;
  private watchdog: NodeJS.Timeout | undefined;

  constructor(
    private readonly kafka: KafkaOptions,
    private readonly options: InputConsumerOptions,
  ) {
    this.topics = [...new Set([...options.aligned, ...options.broadcast])];
    const sessionTimeout = options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS;
    this.name = `${kafka.clientId}-${randomUUID().slice(0, 8)}`;
    const client = clientFor({ ...kafka, clientId: this.name });
    this.consumer = client.consumer({
      groupId: options.groupId,
      partitionAssigners: [
        alignedAssigner({ aligned: options.aligned, broadcast: options.broadcast, held: () => this.held }),
      ],
      sessionTimeout,
      heartbeatInterval: Math.min(HEARTBEAT_INTERVAL_MS, Math.floor(sessionTimeout / 3)),
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      maxWaitTimeInMs: GROUP_REST_MS,
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
    this.fetchers = await this.openFetchers();
    if (this.over) return this.closeFetchers();
    this.joining = this.join();
    await this.joining;
    // What was stopped meanwhile would hold partitions that nobody answers.
    if (this.over) await this.stop();
  }

  private async join(): Promise<void> {
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [...this.topics], fromBeginning: true });
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: () => Promise.resolve(),
    });
  }

  /** @platformatic/kafka is loaded by who first needs it: that takes a process half a second. */
  private async openFetchers(): Promise<Readonly<Record<ReadsOf, PartitionFetcher>>> {
    const [{ PartitionFetcher: Fetcher }, { brokersOf }] = await Promise.all([
      import('../platformatic/partition-fetcher.kafka.js'),
      import('../platformatic/fetch-terms.kafka.js'),
    ]);
    const { transactionOpenMs: heldMs } = this.kafka;
    const terms = { waitMs: this.options.maxWaitMs ?? MAX_WAIT_MS, ...(heldMs === undefined ? {} : { heldMs }) };
    const open = (of: ReadsOf): PartitionFetcher =>
      new Fetcher(brokersOf(this.kafka), { ...terms, isolation: isolationOf(this.kafka, of) }, this.heard());
    return { logs: open('logs'), wires: open('wires') };
  }

  private heard(): FetcherHandlers {
    return {
      onBatch: (batch) => this.guarded((handlers) => handlers.onBatch(batch)),
      onTrouble: (at, cause) => {
        void this.guarded((handlers) => {
          handlers.onTrouble(at, cause);
        });
      },
      onCrash: (cause) => {
        this.crash(cause);
        void this.stop();
      },
    };
  }

  seek(topic: string, partition: number, offset: number): void {
    if (!this.over) this.fetchers?.[this.readAs(topic)].seek({ topic, partition }, offset);
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.flow(partitions, false);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.flow(partitions, true);
  }

  private flow(partitions: readonly TopicPartition[], flows: boolean): void {
    if (this.over) return;
    for (const [of, some] of Map.groupBy(partitions, ({ topic }) => this.readAs(topic)))
      this.fetchers?.[of].flow(some, flows);
  }

  private readAs(topic: string): ReadsOf {
    return this.options.logs?.includes(topic) === true ? 'logs' : 'wires';
  }

  private async closeFetchers(): Promise<void> {
    await Promise.all([this.fetchers?.logs.close(), this.fetchers?.wires.close()]);
  }

  async stop(): Promise<void> {
    this.over = true;
    clearInterval(this.watchdog);
    await Promise.all([ended(this.leave()), this.closeFetchers()]);
  }

  /** kafkajs leaves no group that it is about to join: one that is stopped then has joined first. */
  private async leave(): Promise<void> {
    if (this.joining !== null)
      await within(this.joining, STARTED_WITHIN_MS, this.options.groupId).catch(() => undefined);
    await this.consumer.disconnect();
  }

  private listen(): void {
    const { GROUP_JOIN, FETCH, CRASH } = this.consumer.events;
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
    this.consumer.on(CRASH, ({ payload }) => {
      this.crash(asFailure(payload.error, this.options.groupId));
    });
  }

  private onJoin(assignment: Readonly<Record<string, readonly number[]>>): void {
    if (this.over) return;
    this.consumer.pause(this.topics.map((topic) => ({ topic })));
    this.fetchers?.logs.clear();
    this.fetchers?.wires.clear();
    this.generation += 1;
    const [firstAligned] = this.options.aligned;
    this.held = firstAligned === undefined ? [] : [...(assignment[firstAligned] ?? [])].sort((a, b) => a - b);
    void this.guarded((handlers) => {
      handlers.onAssigned({ partitions: this.held, generation: this.generation });
    });
  }

  /** An owner that throws ends the consumer at once. */
  private guarded(call: (handlers: InputHandlers) => void | Promise<void>): void | Promise<void> {
    const ends = (error: unknown): void => {
      this.crash(error);
      void this.stop();
    };
    try {
      const done = this.handlers === null ? undefined : call(this.handlers);
      if (done instanceof Promise) return done.catch(ends);
    } catch (error) {
      ends(error);
    }
  }

  /** A request that kafkajs lost track of keeps its fetch loop waiting, and nobody is told. */
  private lookAfter(): void {
    const silentMs = systemClock.monotonic() - this.fetchedAt;
    if (this.over || silentMs < STALLED_MS) return;
    this.crash(
      new Failure(
        'BROKER_UNAVAILABLE',
        `group ${this.options.groupId} has not turned for ${String(Math.round(silentMs))} ms`,
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
