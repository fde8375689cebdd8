// Asks a broker who it is and whether groups can be joined, with single requests on a raw socket.
//
// The client library lives in libs/kafka; a readiness probe needs two requests and must not inherit its retries.
//
//   request         int32 length · int16 api key · int16 version · int32 correlation · string client id · body
//   metadata 4      body: array of strings, the topics asked for · bool allow auto topic creation
//                   answer: int32 correlation · int32 throttle ms · array of brokers (int32 id, string host, int32 port,
//                   nullable string rack) · nullable string cluster id · int32 controller · array of topics (int16 error,
//                   string name, bool is internal, array of partitions (int16 error, int32 index, int32 leader, arrays of
//                   int32: replicas, those in sync))
//   coordinator 0   body: string group
//                   answer: int32 correlation · int16 error code · …
//   handshake 1     body: string mechanism; before anything else, where a broker asks who somebody is
//                   answer: int32 correlation · int16 error code · …
//   authenticate 0  body: int32 length · of PLAIN: 0 · user · 0 · password
//                   answer: int32 correlation · int16 error code · …
import { connect, type Socket } from 'node:net';

const METADATA = { key: 3, version: 4 };
const FIND_COORDINATOR = { key: 10, version: 0 };
const HANDSHAKE = { key: 17, version: 1 };
const AUTHENTICATE = { key: 36, version: 0 };
const CLIENT_ID = 'recourse-probe';
const CORRELATION = 1;
const HOST = '127.0.0.1';
const ANSWER_WITHIN_MS = 1_000;

export interface ClusterMetadata {
  readonly clusterId: string | null;
  /** Brokers that are alive, as `host:port`. */
  readonly brokers: readonly string[];
  /** Of the topics that were asked for. */
  readonly partitions: readonly PartitionPlace[];
}

export interface PartitionPlace {
  readonly topic: string;
  readonly partition: number;
  /** Node that leads it, as `host:port`; null: none does. */
  readonly leader: string | null;
  /** How many nodes have all of it. */
  readonly inSync: number;
}

/** Where a broker is, and as whom it is asked; null: it does not ask. */
export interface BrokerAddress {
  readonly port: number;
  readonly user: BrokerUser | null;
}

export interface BrokerUser {
  readonly name: string;
  readonly password: string;
}

interface Request {
  readonly api: { readonly key: number; readonly version: number };
  readonly body: Buffer;
}

/**
 * Fetches a broker's view of its cluster.
 *
 * Errors: the socket's, or a time-out after one second.
 */
export async function fetchClusterMetadata(
  broker: BrokerAddress,
  topics: readonly string[] = [],
): Promise<ClusterMetadata> {
  const count = Buffer.alloc(4);
  count.writeInt32BE(topics.length);
  return parseMetadata(
    await ask(broker, { api: METADATA, body: Buffer.concat([count, ...topics.map(string), Buffer.alloc(1)]) }),
  );
}

/**
 * Says whether consumer groups find their coordinator. The first question makes a new broker create its offsets topic.
 *
 * Errors: the socket's, or a time-out after one second.
 */
export async function hasCoordinator(broker: BrokerAddress): Promise<boolean> {
  return errorIn(await ask(broker, { api: FIND_COORDINATOR, body: string(CLIENT_ID) })) === 0;
}

/** Sends one request, after those that say who asks, and resolves to its answer, without the length. */
async function ask({ port, user }: BrokerAddress, request: Request): Promise<Buffer> {
  const socket = connect({ port, host: HOST });
  try {
    for (const first of user === null ? [] : introduction(user)) {
      if (errorIn(await exchange(socket, first)) !== 0) throw new Error('the broker refuses this user');
    }
    return await exchange(socket, request);
  } finally {
    socket.destroy();
  }
}

function introduction({ name, password }: BrokerUser): readonly Request[] {
  const token = Buffer.from(`\0${name}\0${password}`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(token.length);
  return [
    { api: HANDSHAKE, body: string('PLAIN') },
    { api: AUTHENTICATE, body: Buffer.concat([length, token]) },
  ];
}

function errorIn(frame: Buffer): number {
  return frame.readInt16BE(4);
}

/** Sends one request on a socket that carries nothing else meanwhile. */
function exchange(socket: Socket, request: Request): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const hear = (chunk: Buffer): void => {
    chunks.push(chunk);
    const frame = wholeFrame(Buffer.concat(chunks));
    if (frame !== null) resolve(frame);
  };
  const closed = (): void => {
    reject(new Error('the broker closed the connection'));
  };
  socket.setTimeout(ANSWER_WITHIN_MS, () => {
    reject(new Error('the broker does not answer'));
  });
  socket.on('error', reject);
  socket.on('close', closed);
  socket.on('data', hear);
  // Before the connection is there, it waits for it.
  socket.write(requestOf(request));
  return promise.finally(() => {
    socket.off('data', hear);
    socket.off('close', closed);
    // The next exchange, or the end, has a listener of its own; until then an error is nobody's.
    socket.on('error', () => undefined);
  });
}

function requestOf({ api, body }: Request): Buffer {
  const head = Buffer.alloc(2 + 2 + 4);
  head.writeInt32BE(CORRELATION, head.writeInt16BE(api.version, head.writeInt16BE(api.key, 0)));
  const request = Buffer.concat([head, string(CLIENT_ID), body]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(request.length);
  return Buffer.concat([length, request]);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The first frame without its length, or null while it is incomplete. */
function wholeFrame(bytes: Buffer): Buffer | null {
  if (bytes.length < 4) return null;
  const length = bytes.readInt32BE(0);
  return bytes.length < 4 + length ? null : bytes.subarray(4, 4 + length);
}

/** Reads one field after the other. */
class Fields {
  constructor(
    private readonly frame: Buffer,
    private at: number,
  ) {}

  skip(bytes: number): void {
    this.at += bytes;
  }

  int16(): number {
    this.at += 2;
    return this.frame.readInt16BE(this.at - 2);
  }

  int32(): number {
    this.at += 4;
    return this.frame.readInt32BE(this.at - 4);
  }

  text(): string | null {
    const length = this.int16();
    if (length < 0) return null;
    this.at += length;
    return this.frame.toString('utf8', this.at - length, this.at);
  }

  array<T>(one: () => T): readonly T[] {
    return Array.from({ length: this.int32() }, one);
  }
}

export function parseMetadata(frame: Buffer): ClusterMetadata {
  const fields = new Fields(frame, 4 + 4);
  const nodes = fields.array(() => {
    const id = fields.int32();
    const address = `${fields.text() ?? ''}:${String(fields.int32())}`;
    fields.text();
    return { id, address };
  });
  const clusterId = fields.text();
  fields.skip(4);
  const partitions = fields.array(() => topicOf(fields, new Map(nodes.map(({ id, address }) => [id, address])))).flat();
  return { clusterId, brokers: nodes.map(({ address }) => address), partitions };
}

function topicOf(fields: Fields, nodes: ReadonlyMap<number, string>): readonly PartitionPlace[] {
  fields.skip(2);
  const topic = fields.text() ?? '';
  fields.skip(1);
  return fields.array(() => {
    fields.skip(2);
    const partition = fields.int32();
    const leader = nodes.get(fields.int32()) ?? null;
    fields.array(() => fields.int32());
    return { topic, partition, leader, inSync: fields.array(() => fields.int32()).length };
  });
}
