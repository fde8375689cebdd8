// Decodes frames of LZ4. Ours, since the client's decoder never gives back the memory of a frame that is broken.
//
// Boundary: checksums of LZ4 are passed over; the batch around it has one, which was looked at.
//
// Grammar (all integers little-endian)
//   frames   = *frame
//   frame    = magic:4 flags block-max [content-size:8] checksum:1 *block end:4 [checksum:4]
//   block    = size:4 octets [checksum:4]                        ; the highest bit of its size: not compressed
//   octets   = *( token literals offset:2 [more] ) token literals  ; halves of a token: literals, and 4 less than a match has
//   flags    = version:2 independent:1 block-checksum:1 content-size:1 checksum:1 reserved:1 dictionary:1
import { GrowingPlain } from './growing-plain.kafka.js';

const MAGIC = 0x184d2204;
const HIGHEST_BIT = 0x80000000;
/** Octets of magic, flags and block-max. */
const HEAD = 6;
const VERSION = 1;
const MATCH_MIN = 4;
/** A half of a token that says: and more, in octets of their own. */
const AND_MORE = 15;

/** Octets of some frames, one after the other. Errors: Error for people, for what is none, or more than PLAIN_MAX octets. */
export function lz4Decoded(bytes: Buffer): Buffer {
  const plain = new GrowingPlain(bytes.length);
  for (let at = 0; at < bytes.length;) at = addFrame(bytes, at, plain);
  return plain.whole();
}

/** Decodes a frame, and gives where it ends. */
function addFrame(bytes: Buffer, start: number, plain: GrowingPlain): number {
  if (uint32At(bytes, start) !== MAGIC) throw new Error('this is no frame of LZ4');
  const flags = octetAt(bytes, start + 4);
  const has = (bit: number, octets: number): number => ((flags & (1 << bit)) === 0 ? 0 : octets);
  if (flags >> 6 !== VERSION) throw new Error(`nobody knows version ${String(flags >> 6)} of LZ4`);
  if (has(0, 1) === 1) throw new Error('it wants a dictionary, which nobody has');
  const blockMax = blockMaxOf(octetAt(bytes, start + 5));
  const first = plain.size;
  let at = start + HEAD + has(3, 8) + 1;
  for (let block = uint32At(bytes, at); block !== 0; block = uint32At(bytes, at)) {
    const [from, before] = [at + 4, plain.size];
    const end = from + (block % HIGHEST_BIT);
    if (end > bytes.length) throw new RangeError('it ends inside a block');
    if (block >= HIGHEST_BIT) plain.literal(bytes, from, end - from);
    else
      addBlock(bytes.subarray(from, end), plain, { floor: has(5, 1) === 1 ? before : first, max: before + blockMax });
    if (plain.size - before > blockMax) throw blockTooLarge();
    at = end + has(4, 4);
  }
  const end = at + 4 + has(2, 4);
  if (end > bytes.length) throw new RangeError('it ends inside its checksum');
  return end;
}

function blockTooLarge(): Error {
  return new RangeError('a block has more than it may');
}

/** 4, 5, 6 and 7 stand for 64 KiB, 256 KiB, 1 MiB and 4 MiB. */
function blockMaxOf(octet: number): number {
  const code = (octet >> 4) & 7;
  if (code < 4) throw new Error(`nobody knows blocks of the size ${String(code)}`);
  return 2 ** (8 + 2 * code);
}

/** Decodes a block: no match reaches before `floor`, and nothing is made behind `max`. */
function addBlock(block: Buffer, plain: GrowingPlain, { floor, max }: { floor: number; max: number }): void {
  let at = 0;
  /** A length whose first part is half a token. */
  const lengthFrom = (half: number): number => {
    if (half < AND_MORE) return half;
    for (let sum = half; ;) {
      const octet = octetAt(block, at);
      at += 1;
      sum += octet;
      if (octet < 0xff) return sum;
    }
  };
  for (;;) {
    const token = octetAt(block, at);
    at += 1;
    const literals = lengthFrom(token >> 4);
    if (plain.size + literals > max) throw blockTooLarge();
    plain.literal(block, at, literals);
    at += literals;
    if (at === block.length) return;
    const offset = octetAt(block, at) + 0x100 * octetAt(block, at + 1);
    at += 2;
    const count = lengthFrom(token & 0xf) + MATCH_MIN;
    if (plain.size + count > max) throw blockTooLarge();
    plain.match(offset, count, floor);
  }
}

function octetAt(block: Buffer, at: number): number {
  const octet = block[at];
  if (octet === undefined) throw new RangeError('it ends inside a block');
  return octet;
}

function uint32At(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) throw new RangeError('it ends inside a number');
  return bytes.readUInt32LE(at);
}
