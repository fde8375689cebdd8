// The Kafka port: all that the rest of the project may know of a broker.
//
// Boundary: Kafka clients and the registry client are imported in this package only. Two adapters implement the port, one
// on brokers and one in memory (specs, simulation), and both pass `kafka.contract.ts`.
import type { Failure, KeyProblem, Speaker } from '@recourse/kernel';

/** A record as it is sent. Keys and values are bytes; logs always carry a key. */
export interface OutgoingRecord {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bytes that lie where records should be, and why none of them can be read. */
export interface Unreadable {
  /** Checksum, compression or framing: what is broken, for people. */
  readonly detail: string;
  /** The record batch as it is stored. */
  readonly bytes: Buffer;
}

/** What the signature of a wire record says: whom it speaks for, or why it speaks for nobody. */
export type Voucher =
  /** `heardFor`: tenants that the key of who reads it speaks for; absent where those are all, and of who has no key. */
  | { readonly kind: 'vouched'; readonly speaker: Speaker; readonly heardFor?: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: KeyProblem; readonly keyId: string | null };

/** A record as it is read. `value` is null for a tombstone, which no topic of ours allows. */
export interface FetchedRecord {
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Broker or producer time, epoch milliseconds. Never used for a decision. */
  readonly timestamp: number;
  readonly headers: Readonly<Record<string, Buffer>>;
  /** Stands for all records of a batch that cannot be read, at the first of their offsets, without key and value. */
  readonly unreadable?: Unreadable;
  /** Of wires whose records are signed; absent where signatures are not asked for. */
  readonly voucher?: Voucher;
}

/** Consecutive records of one partition. `fetchedOffset` is the position the fetch started at. */
export interface FetchedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: number;
  /** Where reading goes on: behind the last record, and behind what no reader may see (control records; of wires what was aborted). */
  readonly nextOffset: number;
  readonly records: readonly FetchedRecord[];
  /** What they hold of memory as long as one of them is kept, about, with headers and all that came with them. Default: nothing to speak of. */
  readonly octets?: number;
}

export interface PartitionRange {
  /** First offset still held. */
  readonly low: number;
  /** Offset the next record will get. */
  readonly high: number;
}

/** What is known after a send to a log. There is no "failed": whatever is not confirmed may have landed (L5). */
export type SendOutcome =
  { readonly kind: 'landed'; readonly baseOffset: number } | { readonly kind: 'unknown'; readonly cause: unknown };

/**
 * Writes to the logs of one partition loop, one send in flight, acks=all, not idempotent, no retries (L6).
 *
 * Implementations MUST answer `unknown` for every error, time-out or reply without a base offset.
 * Implementations MUST NOT retry, reorder or split a send. After `unknown` the producer is dropped by its owner.
 */
export interface LogProducer {
  send(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome>;
  close(): Promise<void>;
}

/**
 * Writes to wires, at least once, partitioned by murmur2 of the key as Java does.
 *
 * Implementations MUST retry until acknowledged or throw Failure(BROKER_UNAVAILABLE); a record may be duplicated.
 */
export interface WireProducer {
  send(topic: string, records: readonly OutgoingRecord[]): Promise<void>;
  /** Whom it speaks for now, by this process's own keyring; absent where nothing is signed. Errors: Failure(KEY_NOT_BELIEVED). */
  readonly speaker?: () => Speaker;
  close(): Promise<void>;
}

/** Where reading one partition goes on. */
export interface ReadPosition extends TopicPartition {
  readonly offset: number;
}

/** What one request brought of one partition. */
export interface ReadBatch extends FetchedBatch {
  /** Offset the next record would get when the broker answered. */
  readonly end: number;
}

export interface ReadManyOptions {
  /** Longest time brokers may hold an answer without a record, milliseconds; who has none is left out where another has one. Default 0. */
  readonly waitMs?: number;
  /** Of each partition; at least one record when there is one. Default 1 MiB. */
  readonly maxBytes?: number;
}

/**
 * Reads partitions without a group: tails, rewinds, views and audits (L13).
 *
 * Implementations MUST NOT wait for new records unless they are asked to: at the end `records` is empty.
 * Errors: Failure(CURSOR_OUT_OF_RANGE) below `low` or above `high`; Failure(TOPIC_MISSING); Failure(BROKER_UNAVAILABLE).
 */
export interface RawReader {
  range(topic: string, partition: number): Promise<PartitionRange>;
  /** At most about `maxBytes` (default 1 MiB), at least one record when there is one. */
  read(topic: string, partition: number, fromOffset: number, maxBytes?: number): Promise<FetchedBatch>;
  /**
   * Many partitions with one request to each of their brokers; the answers stand in the order of the positions, each of which names another partition.
   *
   * Shape:  a partition without records where `end` lies further must be asked for again: an answer has a size.
   */
  readMany(positions: readonly ReadPosition[], options?: ReadManyOptions): Promise<readonly ReadBatch[]>;
  close(): Promise<void>;
}

/** What a member of a service's group owns: partition numbers of the aligned topics, and all of the broadcast ones. */
export interface Assignment {
  /** Same numbers for every aligned topic. */
  readonly partitions: readonly number[];
  readonly generation: number;
}

export interface InputConsumerOptions {
  readonly groupId: string;
  /** Topics with equal partition counts; a member gets the same numbers of all of them. */
  readonly aligned: readonly string[];
  /** Topics of which every member reads every partition. */
  readonly broadcast: readonly string[];
  /** Those of them that are logs: their chains say what counts, and no transaction does. Default: none. */
  readonly logs?: readonly string[];
  /** Default 6,000. */
  readonly sessionTimeoutMs?: number;
  /** Longest time a fetch waits for data at the broker while nothing is paused. Default 500. */
  readonly maxWaitMs?: number;
}

export interface InputHandlers {
  /**
   * A (re)join ended. Everything is paused; nothing arrives until the owner has sought and resumed.
   * Called synchronously in order of generations; a slow owner is overtaken by the next call, never waited for.
   */
  onAssigned(assignment: Assignment): void;
  /**
   * Hands over a batch; returns at once. Batches fetched before a pause or seek may still arrive: check `fetchedOffset`.
   * A batch without records only says where reading goes on. Who answers with a promise is not done before it settles, and gets
   * nothing more of that partition until then.
   */
  onBatch(batch: FetchedBatch): void | Promise<void>;
  /** The broker cannot answer for a partition; it is asked again, and the others go on. Null once it answers. */
  onTrouble(at: TopicPartition, cause: Failure | null): void;
  /** The consumer is dead and will not come back; the owner makes a new one. */
  onCrash(cause: unknown): void;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * Reads a service's inputs through one consumer group (L13). No offset is ever committed: cursors live in the logs.
 *
 * Implementations MUST pause all topics synchronously at every (re)join, before any batch of the new generation.
 * Implementations MUST NOT resume by themselves, nor hand over what the owner has not sought.
 */
export interface InputConsumer {
  /** Under which its group knows it; no other consumer has it. */
  readonly name: string;
  start(handlers: InputHandlers): Promise<void>;
  seek(topic: string, partition: number, offset: number): void;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  /** Leaves the group, so that others take over at once. */
  stop(): Promise<void>;
}

/** Somebody in a consumer group, as the broker sees them. */
export interface GroupMember {
  /** The broker's own word. */
  readonly memberId: string;
  /** What they call themselves. */
  readonly name: string;
  /** Address they came from. */
  readonly host: string;
  /** Partitions they were told to own, of all topics. */
  readonly partitions: number;
}

/**
 * A consumer group seen from the side.
 *
 * Errors: Failure(BROKER_UNAVAILABLE, BROKER_REFUSED); the next question begins anew.
 */
export interface ConsumerGroup {
  members(): Promise<readonly GroupMember[]>;
  /** Puts members out, so that others take over at once; nothing where they have left. Who lives joins again. */
  remove(memberIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor?: number;
  readonly config?: Readonly<Record<string, string>>;
}

/** A topic as it stands. */
export interface TopicFacts {
  readonly name: string;
  readonly partitions: number;
  /** Of the partition that has the fewest. */
  readonly replicationFactor: number;
  /** Every setting that holds for it, whoever made it. */
  readonly config: Readonly<Record<string, string>>;
}

/** One rule of access, in Kafka's own words. */
export interface AccessRule {
  /** `User:<name>`, or `User:*` for everybody. */
  readonly principal: string;
  readonly host: string;
  readonly permission: 'ALLOW' | 'DENY';
  readonly operation:
    | 'ALL'
    | 'READ'
    | 'WRITE'
    | 'CREATE'
    | 'DELETE'
    | 'ALTER'
    | 'DESCRIBE'
    | 'CLUSTER_ACTION'
    | 'DESCRIBE_CONFIGS'
    | 'ALTER_CONFIGS'
    | 'IDEMPOTENT_WRITE';
  readonly resource: 'TOPIC' | 'GROUP' | 'CLUSTER' | 'TRANSACTIONAL_ID' | 'DELEGATION_TOKEN';
  /** Name, or beginning of names; of the cluster `kafka-cluster`. */
  readonly name: string;
  readonly pattern: 'LITERAL' | 'PREFIXED';
}

export interface KafkaAdmin {
  /** Partition count, or null when the topic does not exist. */
  partitionCount(topic: string): Promise<number | null>;
  /** Creates what is missing. Errors: Failure(PARTITION_COUNT_CHANGED) when a topic exists with another count: nothing is created then. */
  ensureTopics(topics: readonly TopicSpec[]): Promise<void>;
  listTopics(): Promise<readonly string[]>;
  /** Those of the topics that exist, as they stand. */
  topicFacts(topics: readonly string[]): Promise<readonly TopicFacts[]>;
  /** Every rule of access; null where the cluster asks nobody who they are. */
  accessRules(): Promise<readonly AccessRule[] | null>;
  /** Makes these the rules of access, and no other. Errors: Failure(CONFIG_INVALID) where the cluster asks nobody who they are. */
  applyAccess(rules: readonly AccessRule[]): Promise<void>;
  /** Lets users in by SCRAM-SHA-512 with these passwords, whatever they had before. */
  setPasswords(passwords: Readonly<Record<string, string>>): Promise<void>;
  clusterId(): Promise<string>;
  close(): Promise<void>;
}

/**
 * What a reader reads, and so what it sees of transactions, which are all of others: we make none (L6).
 *
 * Of `logs` every record: the chain says what counts, so that nobody's open transaction holds a reader up (L13).
 * Of `wires` what was committed, unless the process is told otherwise: who sends in a transaction may take it back.
 */
export type ReadsOf = 'logs' | 'wires';

/** One broker cluster. Every call makes a new connection or client of its own; the caller closes what it opened. */
export interface Kafka {
  logProducer(): Promise<LogProducer>;
  wireProducer(): Promise<WireProducer>;
  /** Default: of logs. */
  rawReader(of?: ReadsOf): Promise<RawReader>;
  inputConsumer(options: InputConsumerOptions): InputConsumer;
  /** Connects nothing before the first question. */
  group(groupId: string): ConsumerGroup;
  admin(): Promise<KafkaAdmin>;
}

/**
 * The schema registry, as far as writers and readers need it.
 *
 * Implementations MUST cache promises, so that a burst of cold look-ups makes one request.
 * Errors: Failure(UNKNOWN_SCHEMA) for an id it does not know; Failure(REGISTRY_UNAVAILABLE) when it does not answer.
 */
export interface SchemaRegistry {
  /** Writer schema (Avro JSON text, references inlined) by id. */
  schemaById(id: number): Promise<string>;
  /** Id of a schema registered under a subject; registers it when `register` is set. */
  idOf(subject: string, schema: string, options?: { readonly register?: boolean }): Promise<number>;
}
