// The parts of kafkajs 2.2.4 that are not public, with the shapes we rely on. kafkajs is pinned; kafkajs.contract.spec.ts
// fails when a shape changes. kafkajs has no public fetch without a group, so the raw reader needs its cluster.
import { createRequire } from 'node:module';
import { Failure } from '@recourse/kernel';
import type { Kafka as KafkaJs } from 'kafkajs';

export interface InternalMessage {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>>;
}

export interface InternalPartitionData {
  readonly partition: number;
  readonly highWatermark: string;
  readonly messages: readonly InternalMessage[];
}

/** Filters records below the position, control records and aborted transactions out of a fetch response. */
export interface InternalBatch {
  readonly messages: readonly InternalMessage[];
  readonly rawMessages: readonly InternalMessage[];
  lastOffset(): string;
}

/** What a broker says of one partition of a produce request. */
export interface ProducedTo {
  readonly partition: number;
  readonly baseOffset: string;
}

interface ProduceAnswer {
  readonly topics: readonly { readonly partitions: readonly ProducedTo[] }[];
}

/** A request of kafkajs' protocol with the reader of its answer; `encode` answers with what its encoders copy from. */
interface InternalRequest {
  readonly request: { readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }> };
  readonly response: object;
}

export interface InternalBroker {
  /** Picks the newest version of a request that both sides know. */
  lookupRequest(apiKey: number, versions: object): (fields: object) => InternalRequest;
  readonly connectionPool: { send(request: InternalRequest): Promise<unknown> };
  disconnect(): Promise<void>;
  fetch(request: {
    readonly isolationLevel: number;
    readonly maxWaitTime: number;
    readonly minBytes: number;
    readonly maxBytes: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        readonly partition: number;
        readonly fetchOffset: string;
        readonly maxBytes: number;
      }[];
    }[];
  }): Promise<{
    readonly responses: readonly {
      readonly topicName: string;
      readonly partitions: readonly InternalPartitionData[];
    }[];
  }>;
}

export interface InternalCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  findBroker(node: { readonly nodeId: string }): Promise<InternalBroker>;
  fetchTopicsOffset(
    topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number }[];
      readonly fromBeginning: boolean;
    }[],
  ): Promise<
    readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[]
  >;
}

export const READ_COMMITTED = 1;

/**
 * A cluster with connections of its own.
 *
 * Errors: Error when kafkajs no longer has the private factory.
 */
export function internalCluster(client: KafkaJs): InternalCluster {
  const symbol = Object.getOwnPropertySymbols(client).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (symbol === undefined)
    throw new Error('kafkajs has no private cluster factory: is it another version than 2.2.4?');
  // The property is kafkajs' private factory; its parameters are those of src/index.js in the pinned version.
  const factories = client as unknown as Readonly<Record<symbol, (options: object) => InternalCluster>>;
  const create = factories[symbol];
  if (create === undefined) throw new Error('kafkajs has no private cluster factory');
  return create({ metadataMaxAge: 300_000, allowAutoTopicCreation: false, isolationLevel: READ_COMMITTED });
}

// A private module without types; the cast states the constructor of src/consumer/batch.js.
const Batch = createRequire(import.meta.url)('kafkajs/src/consumer/batch.js') as new (
  topic: string,
  fetchedOffset: string,
  data: InternalPartitionData,
) => InternalBatch;

export function internalBatch(topic: string, fetchedOffset: number, data: InternalPartitionData): InternalBatch {
  return new Batch(topic, String(fetchedOffset), data);
}

/** A connection of kafkajs, as far as it is mended here. */
export interface InternalConnection {
  /** What came in since the last whole answer. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
  readonly socket?: { removeAllListeners(event: 'data'): void };
  isConnected(): boolean;
  connect(): Promise<boolean>;
  disconnect(): Promise<boolean>;
}

/** Bytes of the length before each answer. */
const LENGTH_BYTES = 4;

/**
 * A connection of src/network/connection.js that begins each time with nothing in hand: as it comes it keeps the piece of an answer
 * that a cut left there, and takes it for the beginning of the next connection's first answer, which ends the process or worse.
 */
export const Connection = mended(
  createRequire(import.meta.url)('kafkajs/src/network/connection.js') as new (options: object) => InternalConnection,
); // a private module without types

function mended(Base: new (options: object) => InternalConnection): new (options: object) => InternalConnection {
  const prototype = Base.prototype as InternalConnection; // of the class above
  const connect = prototype.connect; // eslint-disable-line @typescript-eslint/unbound-method -- called with its receiver below
  prototype.connect = function (this: InternalConnection): Promise<boolean> {
    if (!this.isConnected()) {
      this.socket?.removeAllListeners('data');
      this.chunks = [];
      this.bytesBuffered = 0;
      this.bytesNeeded = LENGTH_BYTES;
    }
    return connect.call(this);
  };
  return Base;
}

const PRODUCE = 0;
// A private module without types: the versions of every request, by name, of src/protocol/requests/index.js.
const { requests } = createRequire(import.meta.url)('kafkajs/src/protocol/requests/index.js') as {
  readonly requests: { readonly Produce: object };
};

/**
 * Sends a produce request whose body is encoded already, with acks of all.
 *
 * Errors: those of kafkajs: connection, time-out, or the code the broker answered with.
 */
export async function produceThrough(broker: InternalBroker, body: Buffer): Promise<readonly ProducedTo[]> {
  const { request, response } = broker.lookupRequest(PRODUCE, requests.Produce)({ acks: -1, topicData: [] });
  try {
    const answer = await broker.connectionPool.send({
      request: { ...request, encode: () => Promise.resolve({ buf: body, buffer: body }) },
      response,
    });
    // The response module of a produce request parsed it.
    return (answer as ProduceAnswer).topics.flatMap(({ partitions }) => partitions);
  } catch (error) {
    if (error instanceof Error && error.name === 'KafkaJSConnectionClosedError') await broker.disconnect();
    throw error;
  }
}

/** Connection to the leader of a partition. Errors: Failure(TOPIC_MISSING); those of kafkajs. */
export async function leaderOf(cluster: InternalCluster, topic: string, partition: number): Promise<InternalBroker> {
  await cluster.addTargetTopic(topic);
  await cluster.refreshMetadataIfNecessary();
  let [leader] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
  if (leader === undefined) {
    await cluster.refreshMetadata();
    [leader] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
  }
  if (leader === undefined) throw new Failure('TOPIC_MISSING', `${topic} has no partition ${String(partition)}`);
  return cluster.findBroker({ nodeId: leader });
}
