// What a batch holds once it is decompressed, within a bound: a few thousand octets may say that they are gigabytes.
//
// Boundary: codecs are Node's and the client's. Where one takes no bound, what it would make is told from its frame first.
//
// Grammar
//   snappy = length:varint blocks | "\x82SNAPPY\0" version:4 compatible:4 *(size:4 snappy)      ; as Java's client frames it
//   lz4    = magic:4 flags block-max [content-size:8] [dictionary:4] checksum *block end:4 [checksum:4]
//   block  = size:4 octets [checksum:4]                                        ; the highest bit of its size: not compressed
import { compressionsAlgorithmsByBitmask } from '@platformatic/kafka';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** Octets of a batch at the most, decompressed; a topic takes 3 MiB of it compressed. */
export const PLAIN_MAX = 32 * 1_024 * 1_024;

const XERIAL = Buffer.from('82534e4150505900', 'hex');
const XERIAL_HEADER = 16;
const LZ4_MAGIC = 0x184d2204;
/** No block of LZ4 becomes larger than so many times its size. */
const LZ4_RATIO = 255;
const HIGHEST_BIT = 0x80000000;

type Codec = (bytes: Buffer) => Buffer;
const BOUNDED: Readonly<Record<number, Codec>> = {
  0: (bytes) => bytes,
  1: (bytes) => gunzipSync(bytes, { maxOutputLength: PLAIN_MAX }),
  2: (bytes) => checked(2, bytes, snappySize(bytes)),
  3: (bytes) => checked(3, bytes, lz4Size(bytes)),
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

function checked(codec: number, bytes: Buffer, size: number): Buffer {
  const algorithm = compressionsAlgorithmsByBitmask[codec];
  if (algorithm === undefined) throw new Error(`nobody knows the codec ${String(codec)}`);
  if (size > PLAIN_MAX) throw tooLarge();
  return algorithm.decompressSync(bytes);
}

function tooLarge(): Error {
  return new RangeError(`decompressed it has more than ${String(PLAIN_MAX)} bytes`);
}

/** Octets that snappy says it becomes. Errors: RangeError where it ends too soon. */
function snappySize(bytes: Buffer): number {
  if (!bytes.subarray(0, XERIAL.length).equals(XERIAL)) return lengthAt(bytes, 0);
  let sum = 0;
  for (let at = XERIAL_HEADER; at < bytes.length && sum <= PLAIN_MAX; at += 4 + bytes.readUInt32BE(at))
    sum += lengthAt(bytes, at + 4);
  return sum;
}

/** A number of 7 bits an octet, least significant first. */
function lengthAt(bytes: Buffer, from: number): number {
  let value = 0;
  for (let at = from, scale = 1; ; at += 1, scale *= 128) {
    const octet = bytes.readUInt8(at);
    value += (octet & 0x7f) * scale;
    if (octet < 0x80 || value > PLAIN_MAX) return value;
  }
}

/** Octets that LZ4 becomes at the most. Errors: RangeError where it ends too soon, Error where it is none. */
function lz4Size(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length && sum <= PLAIN_MAX;) {
    if (bytes.readUInt32LE(at) !== LZ4_MAGIC) throw new Error('this is no frame of LZ4');
    const frame = frameAt(bytes, at);
    sum += frame.size;
    at = frame.end;
  }
  return sum;
}

function frameAt(bytes: Buffer, start: number): { readonly size: number; readonly end: number } {
  const flags = bytes.readUInt8(start + 4);
  const has = (bit: number, octets: number): number => ((flags & (1 << bit)) === 0 ? 0 : octets);
  // 4, 5, 6 and 7 stand for 64 KiB, 256 KiB, 1 MiB and 4 MiB.
  const blockMax = 2 ** (8 + 2 * ((bytes.readUInt8(start + 5) >> 4) & 7));
  let size = 0;
  let at = start + 7 + has(3, 8) + has(0, 4);
  for (let block = bytes.readUInt32LE(at); block !== 0 && size <= PLAIN_MAX; block = bytes.readUInt32LE(at)) {
    const octets = block % HIGHEST_BIT;
    size += block >= HIGHEST_BIT ? octets : Math.min(blockMax, octets * LZ4_RATIO);
    at += 4 + octets + has(4, 4);
  }
  return { size, end: at + 4 + has(2, 4) };
}
