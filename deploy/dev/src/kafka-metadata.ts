// Asks a broker who it is and whether groups can be joined, with single requests on a raw socket.
//
// The client library lives in libs/kafka; a readiness probe needs two requests and must not inherit its retries.
//
//   request         int32 length · int16 api key · int16 version · int32 correlation · string client id · body
//   metadata 4      body: int32 topic count 0 · bool allow auto topic creation
//                   answer: int32 correlation · int32 throttle ms · array of brokers (int32 id, string host, int32 port,
//                   nullable string rack) · nullable string cluster id · …
//   coordinator 0   body: string group
//                   answer: int32 correlation · int16 error code · …
import { connect } from 'node:net';

const METADATA = { key: 3, version: 4 };
const FIND_COORDINATOR = { key: 10, version: 0 };
const CLIENT_ID = 'recourse-probe';
const CORRELATION = 1;
const ANSWER_WITHIN_MS = 1_000;

export interface ClusterMetadata {
  readonly clusterId: string | null;
  /** Brokers that are alive, as `host:port`. */
  readonly brokers: readonly string[];
}

/**
 * Fetches a broker's view of its cluster.
 *
 * Errors: the socket's, or a time-out after one second.
 */
export async function fetchClusterMetadata(port: number, host = '127.0.0.1'): Promise<ClusterMetadata> {
  return parseMetadata(await ask(host, port, METADATA, Buffer.alloc(4 + 1)));
}

/**
 * Says whether consumer groups find their coordinator. The first question makes a new broker create its offsets topic.
 *
 * Errors: the socket's, or a time-out after one second.
 */
export async function hasCoordinator(port: number, host = '127.0.0.1'): Promise<boolean> {
  const frame = await ask(host, port, FIND_COORDINATOR, string(CLIENT_ID));
  return frame.readInt16BE(4) === 0;
}

/** Sends one request and resolves to its answer, without the length. */
function ask(
  host: string,
  port: number,
  api: { readonly key: number; readonly version: number },
  body: Buffer,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host });
    const chunks: Buffer[] = [];
    const fail = (cause: Error): void => {
      socket.destroy();
      reject(cause);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, () => {
      fail(new Error('the broker does not answer'));
    });
    socket.once('error', fail);
    socket.once('close', () => {
      fail(new Error('the broker closed the connection'));
    });
    socket.once('connect', () => {
      socket.write(requestOf(api, body));
    });
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const frame = wholeFrame(Buffer.concat(chunks));
      if (frame === null) return;
      resolve(frame);
      socket.destroy();
    });
  });
}

function requestOf(api: { readonly key: number; readonly version: number }, body: Buffer): Buffer {
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

export function parseMetadata(frame: Buffer): ClusterMetadata {
  let at = 4 + 4;
  const text = (): string | null => {
    const length = frame.readInt16BE(at);
    at += 2;
    if (length < 0) return null;
    at += length;
    return frame.toString('utf8', at - length, at);
  };
  const count = frame.readInt32BE(at);
  at += 4;
  const brokers: string[] = [];
  for (let index = 0; index < count; index += 1) {
    at += 4;
    const host = text();
    brokers.push(`${host ?? ''}:${String(frame.readInt32BE(at))}`);
    at += 4;
    text();
  }
  return { clusterId: text(), brokers };
}
