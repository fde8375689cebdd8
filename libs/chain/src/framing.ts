// The registry frame and the head of a log record, read without a schema.
//
// Grammar (all integers big-endian):
//   value     = frame avro
//   frame     = %x00 schema-id            ; schema-id is a uint32
//   avro      = seq prev-hash rest        ; of log records only
//   seq       = 1*10OCTET                 ; Avro long: zig-zag, 7 bits an octet, least significant first
//   prev-hash = 32OCTET                   ; Avro fixed(32)

/** Octets before the Avro bytes: the zero octet and the schema id. */
export const FRAME_SIZE = 5;
const HASH_SIZE = 32;
/** An Avro long of 64 bits never takes more octets. */
const LONG_SIZE_MAX = 10;

/** First two fields of a log record. */
export interface RecordHead {
  readonly seq: number;
  readonly prevHash: Buffer;
}

/**
 * Writer-schema id of a framed value, or null when the value carries no frame.
 *
 * Shape: ids are positive; zero and values above 2^31 - 1 are no frames of any registry we know.
 */
export function schemaIdOf(value: Buffer | null): number | null {
  if (value === null || value.length < FRAME_SIZE || value[0] !== 0) return null;
  const id = value.readInt32BE(1);
  return id > 0 ? id : null;
}

/** The five octets before the Avro bytes of a schema id. */
export function frameOf(schemaId: number): Buffer {
  const frame = Buffer.alloc(FRAME_SIZE);
  frame.writeInt32BE(schemaId, 1);
  return frame;
}

/**
 * Reads `seq` and `prev_hash` of a framed log record without its schema.
 *
 * Shape:  `prevHash` is a view into `value`, not a copy. null when the bytes cannot begin a log record.
 * Source: docs/design/loop.md; the first two fields of every log record are these.
 */
export function readHead(value: Buffer | null): RecordHead | null {
  if (value === null || schemaIdOf(value) === null) return null;
  let seq = 0;
  let scale = 1;
  let at = FRAME_SIZE;
  for (;;) {
    const octet = value[at];
    if (octet === undefined || at - FRAME_SIZE >= LONG_SIZE_MAX) return null;
    at += 1;
    seq += (octet & 0x7f) * scale;
    if (octet < 0x80) break;
    scale *= 128;
  }
  if (at + HASH_SIZE > value.length || seq > 2 * Number.MAX_SAFE_INTEGER) return null;
  return { seq: seq % 2 === 0 ? seq / 2 : -(seq + 1) / 2, prevHash: value.subarray(at, at + HASH_SIZE) };
}

/**
 * Whether a value says that it follows a record: it begins with a frame, `seq` in its shortest form and `prevHash`.
 *
 * Shape: makes nothing, so that verifying stays cheap. false leaves open whether it follows: `readHead` tells.
 */
export function plainlyFollows(value: Buffer, seq: number, prevHash: Buffer): boolean {
  let at = FRAME_SIZE;
  if (value.length < FRAME_SIZE + 1 + HASH_SIZE || value[0] !== 0) return false;
  let rest = seq * 2;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80), at += 1) if (value[at] !== 0x80 + (rest % 0x80)) return false;
  if (value[at] !== rest) return false;
  for (let n = 0; n < HASH_SIZE; n += 1) if (value[at + 1 + n] !== prevHash[n]) return false;
  return true;
}
