// A broker in this process, for specs and the simulation: topics, groups, and handles bound to actors that can die.
//
// Boundary: decides nothing about time or order. What happens when, and what fails, is the gate's word.
import { Failure } from '@recourse/kernel';
import type {
  FetchedRecord,
  Kafka,
  KafkaAdmin,
  OutgoingRecord,
  RawReader,
  ReadsOf,
  TopicFacts,
  TopicSpec,
  Unreadable,
} from '../kafka.port.js';
import { Actor } from './actor.memory.js';
import { openGate } from './gate.memory.js';
import type { Gate } from './gate.memory.js';
import { groupSeenBy, MemoryGroup } from './group.memory.js';
import { MemoryInputConsumer } from './input-consumer.memory.js';
import { PartitionLog } from './partition-log.memory.js';
import type { StrangersTransaction } from './partition-log.memory.js';
import { refuseOtherCounts } from '../wanted-topics.js';
import { MemoryLogProducer, MemoryWireProducer } from './producers.memory.js';

export interface MemoryBrokerOptions {
  readonly gate?: Gate;
  /** Broker time, epoch milliseconds. Default: the wall clock. */
  readonly now?: () => number;
  /** Longest batch a consumer gets, in records. Default 500. */
  readonly batchRecordsMax?: number;
}

/** A packet that left its sender and has not arrived. */
export interface LatePacket {
  readonly actor: string;
  readonly topic: string;
  readonly partition: number;
  readonly count: number;
  /** Lands it now, once, whatever became of its sender; answers its base offset. */
  release(): number;
}

const MAX_BYTES = 1 << 20;
const BATCH_RECORDS_MAX = 500;
/** Kafka's own, where a topic says nothing. */
const RECORD_BYTES_MAX = 1_048_588;

export class MemoryBroker {
  readonly batchRecordsMax: number;
  private readonly topics = new Map<string, readonly PartitionLog[]>();
  private readonly configs = new Map<string, Readonly<Record<string, string>>>();
  private readonly groups = new Map<string, MemoryGroup>();
  private readonly consumers = new Set<MemoryInputConsumer>();
  private readonly actors = new Set<Actor>();
  private readonly evicted = new Map<MemoryInputConsumer, string>();
  private late: LatePacket[] = [];
  private memberCount = 0;
  private readonly gate: Gate;
  private readonly now: () => number;

  constructor({ gate = openGate, now = Date.now, batchRecordsMax = BATCH_RECORDS_MAX }: MemoryBrokerOptions = {}) {
    this.gate = gate;
    this.now = now;
    this.batchRecordsMax = batchRecordsMax;
  }

  /** A handle for a new incarnation of an actor: what it opens dies with it. */
  forActor(name: string): Kafka {
    const actor = new Actor(name, this.gate);
    this.actors.add(actor);
    return {
      logProducer: () => actor.ask({ kind: 'connect' }, () => new MemoryLogProducer(actor, this)),
      wireProducer: () => actor.ask({ kind: 'connect' }, () => new MemoryWireProducer(actor, this)),
      rawReader: (of) => actor.ask({ kind: 'connect' }, () => this.rawReaderOf(actor, of)),
      group: (groupId) => groupSeenBy(actor, this.groupOf(groupId), (member) => this.evicted.set(member, groupId)),
      admin: () => actor.ask({ kind: 'connect' }, () => this.adminOf(actor)),
      inputConsumer: (options) =>
        new MemoryInputConsumer(`${name}-${String((this.memberCount += 1))}`, actor, options, this),
    };
  }

  /** Kills all incarnations of an actor: no promise of theirs settles any more; its group still counts on it. */
  crash(actorName: string): void {
    for (const actor of this.actors)
      if (actor.name === actorName) {
        actor.alive = false;
        this.actors.delete(actor);
      }
    for (const consumer of this.consumers) if (!consumer.actor.alive) this.consumers.delete(consumer);
  }

  /** The session of a dead actor's members ends: others take over. */
  expireMember(actorName: string): void {
    for (const group of this.groups.values()) {
      for (const member of group.membersOf(actorName)) if (!member.actor.alive) group.leave(member);
    }
  }

  /** Makes an actor a zombie: its partitions go to others, and it is not told. */
  evict(actorName: string): void {
    for (const [groupId, group] of this.groups) {
      for (const member of group.membersOf(actorName)) {
        this.evicted.set(member, groupId);
        group.leave(member);
      }
    }
  }

  /** A zombie hears of its eviction, and joins again. */
  rejoin(actorName: string): void {
    for (const [member, groupId] of this.evicted) {
      if (member.actor.name !== actorName) continue;
      this.evicted.delete(member);
      if (member.actor.alive && this.consumers.has(member)) this.groupOf(groupId).join(member);
    }
  }

  /** Packets under way, oldest first. */
  get pendingLate(): readonly LatePacket[] {
    return this.late;
  }

  /** Cuts a log's tail, as a power loss does: the record at `offset` and all after it are gone. */
  truncate(topic: string, partition: number, offset: number): void {
    this.existing(topic, partition).cutTail(offset);
    this.pumpAll();
  }

  /** A stranger sends records in a transaction, and ends it when it likes, or never. */
  transaction(topic: string, partition: number, records: readonly OutgoingRecord[]): StrangersTransaction {
    const transaction = this.existing(topic, partition).begin(records, this.now());
    this.pumpAll();
    const then = (end: () => void): (() => void) => {
      return () => {
        end();
        this.pumpAll();
      };
    };
    return { commit: then(() => transaction.commit()), abort: then(() => transaction.abort()) };
  }

  /** Breaks what is stored at an offset, as a failing disk does: from now on nobody can read it. */
  spoil(topic: string, partition: number, offset: number, unreadable: Unreadable): void {
    this.existing(topic, partition).spoil(offset, unreadable);
  }

  /** Forgets the records below `offset`, as retention does. */
  trim(topic: string, partition: number, offset: number): void {
    this.existing(topic, partition).dropHead(offset);
    this.pumpAll();
  }

  /** Creates topics, or compares counts, without a gate. Errors: Failure(PARTITION_COUNT_CHANGED). */
  ensureTopics(topics: readonly TopicSpec[]): void {
    const missing = topics.filter(({ name }) => !this.topics.has(name));
    refuseOtherCounts(
      topics.filter((topic) => !missing.includes(topic)),
      (name) => this.topics.get(name)?.length,
    );
    for (const { name, partitions, config = {} } of missing) {
      this.topics.set(
        name,
        Array.from({ length: partitions }, (_, partition) => new PartitionLog(name, partition)),
      );
      this.configs.set(name, config);
    }
  }

  /** Every record, by topic and partition. */
  dump(): Readonly<Record<string, readonly (readonly FetchedRecord[])[]>> {
    return Object.fromEntries([...this.topics].map(([topic, logs]) => [topic, logs.map((log) => log.all())]));
  }

  find(topic: string, partition: number): PartitionLog | null {
    return this.topics.get(topic)?.[partition] ?? null;
  }

  partitionCountOf(topic: string): number | null {
    return this.topics.get(topic)?.length ?? null;
  }

  /** What a topic takes of one record, octets. */
  recordBytesMax(topic: string): number {
    return Number(this.configs.get(topic)?.['max.message.bytes'] ?? RECORD_BYTES_MAX);
  }

  append(log: PartitionLog, records: readonly OutgoingRecord[]): number {
    const offset = log.append(records, this.now());
    this.pumpAll();
    return offset;
  }

  appendLater(actor: Actor, log: PartitionLog, records: readonly OutgoingRecord[]): void {
    const packet: LatePacket = {
      actor: actor.name,
      topic: log.topic,
      partition: log.partition,
      count: records.length,
      release: () => {
        if (!this.late.includes(packet)) throw new Error('the packet has landed already');
        this.late = this.late.filter((other) => other !== packet);
        return this.append(log, records);
      },
    };
    this.late = [...this.late, packet];
  }

  join(consumer: MemoryInputConsumer): void {
    this.consumers.add(consumer);
    this.groupOf(consumer.options.groupId).join(consumer);
  }

  leave(consumer: MemoryInputConsumer): void {
    this.consumers.delete(consumer);
    this.evicted.delete(consumer);
    this.groupOf(consumer.options.groupId).leave(consumer);
  }

  private groupOf(groupId: string): MemoryGroup {
    const known = this.groups.get(groupId);
    if (known) return known;
    const group = new MemoryGroup((topics) =>
      Object.fromEntries(topics.map((topic) => [topic, this.partitionCountOf(topic) ?? 0])),
    );
    this.groups.set(groupId, group);
    return group;
  }

  private rawReaderOf(actor: Actor, of: ReadsOf = 'logs'): RawReader {
    return {
      range: (topic, partition) =>
        actor.ask({ kind: 'range', topic, partition }, () => this.existing(topic, partition).range(of)),
      read: (topic, partition, fromOffset, maxBytes = MAX_BYTES) =>
        actor.ask({ kind: 'read', topic, partition }, () => {
          const { records, nextOffset } = this.existing(topic, partition).read(fromOffset, { maxBytes, of });
          return { topic, partition, fetchedOffset: fromOffset, nextOffset, records };
        }),
      readMany: (positions, { maxBytes = MAX_BYTES } = {}) =>
        actor.ask({ kind: 'read' }, () =>
          positions.map(({ topic, partition, offset }) => {
            const log = this.existing(topic, partition);
            const { records, nextOffset } = log.read(offset, { maxBytes, of });
            return { topic, partition, fetchedOffset: offset, nextOffset, records, end: log.high };
          }),
        ),
      close: () => Promise.resolve(),
    };
  }

  private adminOf(actor: Actor): KafkaAdmin {
    return {
      partitionCount: (topic) => actor.ask({ kind: 'admin', topic }, () => this.partitionCountOf(topic)),
      ensureTopics: (topics) =>
        actor.ask({ kind: 'admin' }, () => {
          this.ensureTopics(topics);
        }),
      listTopics: () => actor.ask({ kind: 'admin' }, () => [...this.topics.keys()].sort()),
      topicFacts: (topics) => actor.ask({ kind: 'admin' }, () => this.factsOf(topics)),
      // It asks nobody who they are.
      accessRules: () => actor.ask({ kind: 'admin' }, () => null),
      applyAccess: () =>
        actor.ask({ kind: 'admin' }, () => {
          throw new Failure('CONFIG_INVALID', 'the cluster has no authorizer');
        }),
      setPasswords: () => actor.ask({ kind: 'admin' }, () => undefined),
      clusterId: () => actor.ask({ kind: 'admin' }, () => 'memory'),
      close: () => Promise.resolve(),
    };
  }

  private factsOf(topics: readonly string[]): readonly TopicFacts[] {
    return topics.flatMap((name) => {
      const partitions = this.partitionCountOf(name);
      return partitions === null
        ? []
        : [{ name, partitions, replicationFactor: 1, config: this.configs.get(name) ?? {} }];
    });
  }

  private existing(topic: string, partition: number): PartitionLog {
    const log = this.find(topic, partition);
    if (!log) throw new Failure('TOPIC_MISSING', `${topic}/${String(partition)}`);
    return log;
  }

  private pumpAll(): void {
    for (const consumer of this.consumers) consumer.pump();
  }
}
