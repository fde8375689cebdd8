// What the contract suites of the port run against: a broker, and what may be broken about it.
import type {
  InputConsumerOptions,
  Kafka,
  LogProducer,
  OutgoingRecord,
  RawReader,
  ReadsOf,
  WireProducer,
} from './kafka.port.js';
import { TestOwner, valuesOf } from './testing/owner.testing.js';

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
  /** It falls silent for good, and its group does not notice. */
  silence(): void;
  close(): Promise<void>;
}

/** What a stranger has under way. */
export interface StrangersPart {
  commit(): Promise<void>;
  abort(): Promise<void>;
}

export interface KafkaHarness {
  readonly kafka: Kafka;
  faulty(): Promise<FaultyKafka>;
  /** Retention takes the records below `offset`. */
  trim(topic: string, partition: number, offset: number): Promise<void>;
  /** A stranger sends records in a transaction, and ends it when it likes. */
  transaction(topic: string, partition: number, sent: readonly OutgoingRecord[]): Promise<StrangersPart>;
  close(): Promise<void>;
}

/** Short, so that a member that fell silent is soon missed. */
const SESSION_TIMEOUT_MS = 1_000;
/** How long a broker may wait for news: above what any of these specs waits for. */
export const NEWS_WAIT_MS = 5_000;

/** What the parts of the contract work with; what is opened through it is closed after each spec. */
export class KafkaScene {
  readonly kafka: Kafka;
  private readonly opened: { close(): Promise<void> }[] = [];
  private topicCount = 0;
  private specCount = 0;

  constructor(
    readonly harness: KafkaHarness,
    readonly marker: string,
  ) {
    this.kafka = harness.kafka;
  }

  readonly kept = <T extends { close(): Promise<void> }>(resource: T): T => {
    this.opened.push(resource);
    return resource;
  };
  readonly logProducer = async (from: Kafka = this.kafka): Promise<LogProducer> => this.kept(await from.logProducer());
  readonly wireProducer = async (): Promise<WireProducer> => this.kept(await this.kafka.wireProducer());
  readonly rawReader = async (of?: ReadsOf): Promise<RawReader> => this.kept(await this.kafka.rawReader(of));
  readonly transaction: KafkaHarness['transaction'] = (...given) => this.harness.transaction(...given);
  readonly topics = async (...partitionCounts: number[]): Promise<string[]> => {
    const specs = partitionCounts.map((partitions) => ({
      name: `${this.marker}-${String((this.topicCount += 1))}`,
      partitions,
    }));
    await this.kept(await this.kafka.admin()).ensureTopics(specs);
    return specs.map(({ name }) => name);
  };
  readonly topic = async (partitions = 1): Promise<string> => (await this.topics(partitions))[0] ?? '';
  /** Values of a partition from offset 0, as far as one read goes. */
  readonly everything = async (topic: string, partition = 0): Promise<string[]> =>
    valuesOf(await (await this.rawReader()).read(topic, partition, 0));
  /** The one group of a spec. */
  readonly group = (aligned: readonly string[], broadcast: readonly string[] = []): InputConsumerOptions => ({
    groupId: `${this.marker}-group-${String(this.specCount)}`,
    aligned,
    broadcast,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    maxWaitMs: NEWS_WAIT_MS,
  });
  readonly owner = async (from: Kafka, ...given: ConstructorParameters<typeof TestOwner>): Promise<TestOwner> => {
    const started = await new TestOwner(...given).startOn(from);
    this.kept({ close: () => started.consumer.stop() });
    return started;
  };

  async endSpec(): Promise<void> {
    this.specCount += 1;
    const opened = this.opened.splice(0).reverse();
    await Promise.all(opened.map((resource) => resource.close()));
  }
}
