// Mends the connection of kafkajs 2.2.4, the one part of it that is not public and that we touch. kafkajs is pinned.
import { createRequire } from 'node:module';

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

type ConnectionClass = new (options: object) => InternalConnection;

/** Bytes of the length before each answer. */
const LENGTH_BYTES = 4;

let mended: ConnectionClass | null = null;

/**
 * Makes every connection of src/network/connection.js begin with nothing in hand. As it comes, it keeps the piece of an
 * answer that a cut left there and takes it for the beginning of the next connection's first answer, which ends the
 * process or worse.
 */
export function mendConnections(): ConnectionClass {
  if (mended !== null) return mended;
  // A private module without types.
  mended = createRequire(import.meta.url)('kafkajs/src/network/connection.js') as ConnectionClass;
  const prototype = mended.prototype as InternalConnection; // of the class above
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
  return mended;
}
