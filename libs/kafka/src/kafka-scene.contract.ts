// What the contract suites of the port run against: a broker, and what may be broken about it.
import type { Kafka, LogProducer, RawReader, WireProducer } from './kafka.port.js';

/** A process that can be harmed. */
export interface FaultyKafka {
  readonly kafka: Kafka;
  /** From now on appends land and their answers are lost. */
  loseAnswers(): void;
  /** From now on appends are under way until `release`. */
  hold(): void;
  release(): Promise<void>;
  /** It falls silent for good; its group notices in the adapter's own way. */
  kill(): void;
  close(): Promise<void>;
}

export interface KafkaHarness {
  readonly kafka: Kafka;
  faulty(): Promise<FaultyKafka>;
  /** Retention takes the records below `offset`. */
  trim(topic: string, partition: number, offset: number): Promise<void>;
  close(): Promise<void>;
}

/** What the parts of the contract work with; what is opened through it is closed after each spec. */
export interface ContractScene {
  readonly marker: string;
  harness(): KafkaHarness;
  kafka(): Kafka;
  topic(partitions?: number): Promise<string>;
  topics(...partitionCounts: number[]): Promise<string[]>;
  kept<T extends { close(): Promise<void> }>(resource: T): T;
  logProducer(from?: Kafka): Promise<LogProducer>;
  wireProducer(): Promise<WireProducer>;
  rawReader(): Promise<RawReader>;
  /** Values of a partition from offset 0, as far as one read goes. */
  everything(topic: string, partition?: number): Promise<string[]>;
}
