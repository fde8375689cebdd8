// The brokers of a cluster and who leads which partition: the connection and protocol of @platformatic/kafka, without its
// clients, which retry and batch as they see fit.
//
// Boundary: opens connections and asks for metadata; what is sent through them is the caller's.
//
// Invariants
//   I1. Nothing is sent twice: a connection that is gone is replaced before a request, never during one.
//   I2. Versions are fixed, the newest that kafkajs speaks too: no round trip to agree on them. Kafka 2.4 and newer know them.
import { Connection, metadataV8, ResponseError } from '@platformatic/kafka';
import type { ConnectionOptions, SASLOptions } from '@platformatic/kafka';
import { Failure } from '@recourse/kernel';
import { isIP } from 'node:net';
import { addressOf, CONNECTION_TIMEOUT_MS } from '../options.js';
import type { Address, KafkaOptions, KafkaSasl } from '../options.js';

const SASL_MECHANISMS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
  oauthbearer: 'OAUTHBEARER',
} as const satisfies Record<KafkaSasl['mechanism'], SASLOptions['mechanism']>;

/** A partition that nobody leads at the moment. */
export class NoLeader extends Failure {
  constructor(topic: string, partition: number) {
    super('BROKER_UNAVAILABLE', `${topic}/${String(partition)} has no leader`);
  }
}

export class BrokerCluster {
  private readonly connections = new Map<string, Promise<Connection>>();
  /** Leader's node id of each partition, by topic. */
  private readonly leaders = new Map<string, ReadonlyMap<number, number>>();
  private brokers: ReadonlyMap<number, Address> = new Map();
  private closed = false;

  /** `requestTimeoutMs`: longest wait for an answer; it costs the connection. */
  constructor(
    private readonly options: KafkaOptions,
    private readonly requestTimeoutMs: number,
  ) {}

  /** Learns who the brokers are. Errors: those of the client, when none answers. */
  async connect(): Promise<void> {
    await this.learn([]);
  }

  /** Connection to the leader of a partition. Errors: Failure(TOPIC_MISSING), NoLeader; those of the client. */
  async leaderOf(topic: string, partition: number): Promise<Connection> {
    const known = this.leaders.get(topic);
    // What was learnt, and not what stands by now: whoever met a partition without a leader has it forgotten.
    const leaders = known?.has(partition) === true ? known : await this.learnOf(topic);
    const leader = leaders.get(partition);
    if (leader === undefined) throw new Failure('TOPIC_MISSING', `${topic} has no partition ${String(partition)}`);
    const address = this.brokers.get(leader);
    if (address === undefined) {
      this.forget(topic);
      throw new NoLeader(topic, partition);
    }
    return this.connectionTo(address);
  }

  /** Partitions of a topic. Errors: Failure(TOPIC_MISSING); those of the client. */
  async partitionCount(topic: string): Promise<number> {
    const { size: count } = this.leaders.get(topic) ?? (await this.learnOf(topic));
    if (count === 0) throw new Failure('TOPIC_MISSING', `there is no topic ${topic}`);
    return count;
  }

  /** What was said of a topic, or of all of them, is asked again. */
  forget(topic?: string): void {
    if (topic === undefined) this.leaders.clear();
    else this.leaders.delete(topic);
  }

  async close(): Promise<void> {
    this.closed = true;
    const opened = [...this.connections.values()];
    this.connections.clear();
    await Promise.allSettled(opened.map(async (connection) => (await connection).close()));
  }

  /** Leaders of the partitions of a topic; none where there is no such topic. */
  private async learnOf(topic: string): Promise<ReadonlyMap<number, number>> {
    return (await this.learn([topic])).get(topic) ?? new Map();
  }

  private async learn(topics: string[]): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
    const found = await metadataV8.api.async(await this.anyConnection(), topics, false).catch(exceptOfPartitions);
    this.brokers = new Map(found.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
    const learnt = new Map(
      found.topics.map(({ name, partitions }) => [
        name,
        new Map(partitions.map(({ partitionIndex, leaderId }) => [partitionIndex, leaderId])),
      ]),
    );
    for (const [name, leaders] of learnt) this.leaders.set(name, leaders);
    return learnt;
  }

  /** To the first broker that answers: one we were told of, or one of the cluster as it was seen last. */
  async anyConnection(): Promise<Connection> {
    let failure: unknown = new Error('no broker is named');
    for (const address of [...this.options.brokers.map(addressOf), ...this.brokers.values()]) {
      try {
        return await this.connectionTo(address);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /** Connection to a broker by its address. Errors: those of the client. */
  connectionTo(address: Address): Promise<Connection> {
    const key = `${address.host}:${String(address.port)}`;
    const known = this.connections.get(key);
    if (known !== undefined) return known;
    const opened = this.open(address, () => {
      if (this.connections.get(key) === opened) this.connections.delete(key);
    });
    this.connections.set(key, opened);
    return opened;
  }

  /** Opens a connection; `forget` is called as soon as nothing can be sent through it any more. */
  private async open(address: Address, forget: () => void): Promise<Connection> {
    if (this.closed) throw new Error('the cluster is closed');
    const connection = new Connection(
      this.options.clientId,
      connectionOptions(this.options, address, this.requestTimeoutMs),
    );
    // Errors are told to whoever waits for an answer; without a listener they would end the process.
    connection.on('error', forget);
    connection.on('close', forget);
    const { host, port } = this.options.via === undefined ? address : addressOf(this.options.via);
    try {
      await connection.connect(host, port);
    } catch (error) {
      forget();
      throw error;
    }
    return connection;
  }
}

type Metadata = Awaited<ReturnType<typeof metadataV8.api.async>>;

/** An answer names all partitions also where one of them has no leader; the client throws it. Errors: where a topic is refused. */
function exceptOfPartitions(error: unknown): Metadata {
  if (!(error instanceof ResponseError)) throw error;
  const found = error['response'] as Metadata; // of the request whose error it is
  if (found.topics.some(({ errorCode }) => errorCode !== 0)) throw error;
  return found;
}

/** Options of a connection to a broker, whose certificate has to name it also when the way leads through a tunnel. */
export function connectionOptions(
  { connectionTimeoutMs, ssl, sasl }: KafkaOptions,
  { host }: Address,
  requestTimeoutMs: number,
): ConnectionOptions {
  const named = isIP(host) === 0 ? { servername: host } : {};
  return {
    connectTimeout: connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS,
    requestTimeout: requestTimeoutMs,
    ...(ssl === undefined || ssl === false ? {} : { tls: { ...named, ...(ssl === true ? {} : ssl) } }),
    ...(sasl === undefined ? {} : { sasl: saslOf(sasl) }),
  };
}

function saslOf(sasl: KafkaSasl): SASLOptions {
  const mechanism = SASL_MECHANISMS[sasl.mechanism];
  return sasl.mechanism === 'oauthbearer'
    ? { mechanism, token: sasl.token }
    : { mechanism, username: sasl.username, password: sasl.password };
}
