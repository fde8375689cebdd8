// What a batch holds once it is decompressed, within a bound: a few thousand octets may say that they are gigabytes.
//
// Boundary: gzip and zstd are Node's, with its bound; lz4 and snappy are read here, since the client's decoders keep the memory of all
// that is broken until there is none, and then refuse what is whole.
//
// Invariants
//   D1. What a batch becomes, and whether it can be read, follows from its bytes alone: nothing is kept from one to the next.
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { PLAIN_MAX, tooLarge } from './growing-plain.kafka.js';
import { lz4Decoded } from './lz4.kafka.js';
import { snappyDecoded } from './snappy.kafka.js';

export { PLAIN_MAX };

type Codec = (bytes: Buffer) => Buffer;
const BOUNDED: Readonly<Record<number, Codec>> = {
  0: (bytes) => bytes,
  1: (bytes) => gunzipSync(bytes, { maxOutputLength: PLAIN_MAX }),
  2: snappyDecoded,
  3: lz4Decoded,
  4: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: PLAIN_MAX }),
};

/** Decompresses the records of a batch. Errors: Error for people, for a codec nobody knows, garbage, or more than PLAIN_MAX octets. */
export function decompressed(bytes: Buffer, codec: number): Buffer {
  const plain = BOUNDED[codec];
  if (plain === undefined) throw new Error(`nobody knows the codec ${String(codec)}`);
  try {
    return plain(bytes);
  } catch (cause) {
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null;
    throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : cause;
  }
}
