// Input consumer over the memory broker. Like the real one it pauses everything at a join, and may deliver a batch that
// was fetched before a pause or a seek.
//
// Invariants
//   I1. At most one fetch per partition is under way.
//   I2. Nothing arrives of an older generation, nor before the owner has resumed the partition in this one.
//   I3. A stale batch does not move the position.
//   I4. Nothing is fetched of a partition that its owner has not sought, nor while it is busy with what it got.
import { Failure, InvariantViolation } from '@recourse/kernel';
import type {
  FetchedBatch,
  InputConsumer,
  InputConsumerOptions,
  InputHandlers,
  ReadsOf,
  TopicPartition,
} from '../kafka.port.js';
import type { MemberShare } from '../partition-assignment.decisions.js';
import type { Actor } from './actor.memory.js';
import type { PartitionLog } from './partition-log.memory.js';

const MAX_BYTES = 1 << 20;

/** What the consumer needs of the broker. */
export interface ConsumerBroker {
  find(topic: string, partition: number): PartitionLog | null;
  partitionCountOf(topic: string): number | null;
  join(consumer: MemoryInputConsumer): void;
  leave(consumer: MemoryInputConsumer): void;
  /** Longest batch handed over, in records. */
  readonly batchRecordsMax: number;
}

interface Owned {
  readonly log: PartitionLog;
  /** Null until the owner has sought. */
  position: number | null;
  paused: boolean;
  fetching: boolean;
  /** The owner is busy with what it got. */
  busy: boolean;
  /** Grows with every seek, so that a fetch knows it is stale. */
  seeks: number;
}

export class MemoryInputConsumer implements InputConsumer {
  /** What it believes to own; kept through an eviction it has not heard of. */
  held: readonly number[] = [];
  private owned = new Map<string, Owned>();
  private handlers: InputHandlers | null = null;
  private announced = 0;
  private generation = 0;
  private over = false;

  constructor(
    readonly memberId: string,
    readonly actor: Actor,
    readonly options: InputConsumerOptions,
    private readonly broker: ConsumerBroker,
  ) {}

  get name(): string {
    return this.memberId;
  }

  async start(handlers: InputHandlers): Promise<void> {
    if (this.handlers) throw new InvariantViolation('L13', 'an input consumer starts once', 'partition');
    this.handlers = handlers;
    await this.actor.ask({ kind: 'connect' }, () => {
      const missing = [...this.options.aligned, ...this.options.broadcast].find(
        (topic) => this.broker.partitionCountOf(topic) === null,
      );
      if (missing !== undefined) throw new Failure('TOPIC_MISSING', missing);
      // Stopped meanwhile, it is in no group.
      if (!this.over) this.broker.join(this);
    });
  }

  seek(topic: string, partition: number, offset: number): void {
    const owned = this.find(topic, partition);
    if (!owned) return;
    owned.position = offset;
    owned.seeks += 1;
    this.pump();
  }

  pause(partitions: readonly TopicPartition[]): void {
    for (const { topic, partition } of partitions) this.setPaused(topic, partition, true);
  }

  resume(partitions: readonly TopicPartition[]): void {
    for (const { topic, partition } of partitions) this.setPaused(topic, partition, false);
    this.pump();
  }

  stop(): Promise<void> {
    this.over = true;
    if (this.actor.alive) this.broker.leave(this);
    return Promise.resolve();
  }

  /** The group's word, which reaches the member when the gate lets it. A later one overtakes it. */
  async assign(share: MemberShare, generation: number): Promise<void> {
    this.announced = generation;
    await this.actor.enter({ kind: 'assign' });
    if (this.over || this.announced !== generation) return;
    this.generation += 1;
    this.held = share.partitions;
    this.owned = new Map(
      Object.entries(share.topics).flatMap(([topic, partitions]) =>
        partitions.flatMap((partition) => {
          const log = this.broker.find(topic, partition);
          return log
            ? [
                [
                  keyOf(topic, partition),
                  { log, position: null, paused: true, fetching: false, busy: false, seeks: 0 },
                ] as const,
              ]
            : [];
        }),
      ),
    );
    void this.guarded((handlers) => {
      handlers.onAssigned({ partitions: this.held, generation: this.generation });
    });
  }

  /** Starts a fetch of every partition that has something to give. */
  pump(): void {
    if (this.over || !this.actor.alive) return;
    for (const owned of this.owned.values()) {
      const { position, paused, fetching, busy } = owned;
      if (position !== null && !paused && !fetching && !busy && this.hasMore(owned.log, position))
        void this.fetch(owned, position);
      if (this.over) return;
    }
  }

  private hasMore(log: PartitionLog, position: number): boolean {
    const { low, high } = log;
    if (position >= low && position <= high) return position < log.endOf(this.readAs(log.topic));
    this.crash(
      new Failure(
        'CURSOR_OUT_OF_RANGE',
        `${log.topic}/${String(log.partition)} holds ${String(low)} to ${String(high)}, stood at ${String(position)}`,
      ),
    );
    return false;
  }

  private async fetch(owned: Owned, position: number): Promise<void> {
    const { log, seeks } = owned;
    const { topic, partition } = log;
    owned.fetching = true;
    const maxRecords = this.broker.batchRecordsMax;
    const terms = { maxBytes: MAX_BYTES, maxRecords, of: this.readAs(topic) };
    const { records, nextOffset, octets } = log.read(position, terms);
    const verdict = await this.actor.enter({ kind: 'deliver', topic, partition, count: records.length });
    owned.fetching = false;
    if (this.over || this.owned.get(keyOf(topic, partition)) !== owned) return;
    const batch = { topic, partition, fetchedOffset: position, nextOffset, records, octets };
    const handed = verdict === 'proceed' ? this.handOver(owned, batch, seeks) : undefined;
    if (handed !== undefined) {
      owned.busy = true;
      await handed;
      owned.busy = false;
    }
    this.pump();
  }

  private readAs(topic: string): ReadsOf {
    return this.options.logs?.includes(topic) === true ? 'logs' : 'wires';
  }

  private handOver(owned: Owned, batch: FetchedBatch, seeksThen: number): Promise<void> | undefined {
    if (owned.seeks === seeksThen) owned.position = batch.nextOffset;
    return this.guarded((handlers) => handlers.onBatch(batch));
  }

  private guarded(call: (handlers: InputHandlers) => void | Promise<void>): Promise<void> | undefined {
    try {
      const done = this.handlers === null ? undefined : call(this.handlers);
      if (done instanceof Promise)
        return done.catch((error: unknown) => {
          this.crash(error);
        });
    } catch (error) {
      this.crash(error);
    }
    return undefined;
  }

  private crash(cause: unknown): void {
    this.over = true;
    this.broker.leave(this);
    this.handlers?.onCrash(cause);
  }

  private setPaused(topic: string, partition: number, paused: boolean): void {
    const owned = this.find(topic, partition);
    if (owned) owned.paused = paused;
  }

  private find(topic: string, partition: number): Owned | undefined {
    return this.owned.get(keyOf(topic, partition));
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}
