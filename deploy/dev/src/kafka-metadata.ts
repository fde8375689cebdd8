// Asks a broker who it is, with one Metadata request on a raw socket.
//
// The client library lives in libs/kafka; a readiness probe needs one request and must not inherit its retries.
//
//   request   int32 length · int16 api key 3 · int16 version 4 · int32 correlation · string client id
//             · int32 topic count 0 · bool allow auto topic creation
//   response  int32 length · int32 correlation · int32 throttle ms · array of brokers (int32 id, string host, int32 port,
//             nullable string rack) · nullable string cluster id · …
import { connect } from 'node:net';

const METADATA_KEY = 3;
const METADATA_VERSION = 4;
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
export function fetchClusterMetadata(port: number, host = '127.0.0.1'): Promise<ClusterMetadata> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host });
    const chunks: Buffer[] = [];
    const fail = (cause: Error): void => {
      socket.destroy();
      reject(cause);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, () => { fail(new Error('no answer to a metadata request')); });
    socket.once('error', fail);
    socket.once('close', () => { fail(new Error('the broker closed the connection')); });
    socket.once('connect', () => { socket.write(metadataRequest()); });
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const frame = wholeFrame(Buffer.concat(chunks));
      if (frame === null) return;
      resolve(parseMetadata(frame));
      socket.destroy();
    });
  });
}

function metadataRequest(): Buffer {
  const clientId = Buffer.from(CLIENT_ID);
  const body = Buffer.alloc(2 + 2 + 4 + 2 + clientId.length + 4 + 1);
  let at = body.writeInt16BE(METADATA_KEY, 0);
  at = body.writeInt16BE(METADATA_VERSION, at);
  at = body.writeInt32BE(CORRELATION, at);
  at = body.writeInt16BE(clientId.length, at);
  at += clientId.copy(body, at);
  at = body.writeInt32BE(0, at);
  body.writeInt8(0, at);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** The first frame without its length, or null while it is incomplete. */
function wholeFrame(bytes: Buffer): Buffer | null {
  if (bytes.length < 4) return null;
  const length = bytes.readInt32BE(0);
  return bytes.length < 4 + length ? null : bytes.subarray(4, 4 + length);
}

export function parseMetadata(frame: Buffer): ClusterMetadata {
  let at = 4 + 4;
  const string = (): string | null => {
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
    const host = string();
    brokers.push(`${host ?? ''}:${String(frame.readInt32BE(at))}`);
    at += 4;
    string();
  }
  return { clusterId: string(), brokers };
}
