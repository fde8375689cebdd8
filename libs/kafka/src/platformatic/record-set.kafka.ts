// The record batches of a fetch answer. One that cannot be read is told as such, and those around it are read.
//
// Boundary: codecs and records are the client's; the frame of a batch and its checksum are read here.
//
// Invariants
//   R1. What is broken in one batch costs no other: each is read for itself.
//   R2. Nothing of a batch counts whose checksum does not fit, but the place it takes.
//   R3. No length is believed that leads nowhere: behind it a batch begins whose own checksum fits, or reading stops before it.
//
// Grammar: see record-batch.kafka.ts.
import { crc32c, Reader, readRecordsBatch } from '@platformatic/kafka';
import type { RecordsBatch } from '@platformatic/kafka';
import type { Unreadable } from '../kafka.port.js';

/** Bytes of the offset and the length before what the length counts. */
const FRAME_BYTES = 12;
/** From the leader epoch to the count of records. */
const HEAD_BYTES = 49;
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const CRC_AT = 17;
const COVERED_AT = 21;
const LAST_DELTA_AT = 23;
const MAGIC = 2;

/** A batch as it lies in the log; without records when it cannot be read. */
export type StoredBatch = RecordsBatch & { readonly unreadable: Unreadable | null };

/** Bytes where a batch begins that does not say where it ends. */
export interface BrokenFrame {
  readonly firstOffset: bigint;
  /** What is broken, for people. */
  readonly detail: string;
  /** The first of them. */
  readonly bytes: Buffer;
}

export interface RecordSet {
  readonly batches: readonly StoredBatch[];
  /** What begins behind them and leads nowhere; null where all was read, up to a batch that is cut off. */
  readonly broken: BrokenFrame | null;
}

/** Bytes of a broken frame that are kept: its head, and what tells people whose it was. */
const BROKEN_BYTES_MAX = 4_096;

/** Reads a set of batches as a broker sends it: the last may be cut off, and is asked for again. */
export function readRecordSet(set: Buffer): RecordSet {
  const batches: StoredBatch[] = [];
  for (let at = 0; set.length - at >= FRAME_BYTES;) {
    const length = set.readInt32BE(at + LENGTH_AT);
    const end = at + FRAME_BYTES + length;
    if (length < HEAD_BYTES)
      return { batches, broken: brokenAt(set, at, `it says that it has ${String(length)} bytes`) };
    if (end > set.length) {
      // A broker gives the first batch whole; whoever reads asks for it once more, alone, before that is believed.
      const why = `it says that it has ${String(length)} bytes, and the broker gave ${String(set.length)}`;
      return { batches, broken: at === 0 ? brokenAt(set, at, why) : null };
    }
    const wrong = mismatchIn(set.subarray(at, end));
    if (wrong !== null && !isWholeBatch(set, end)) return { batches, broken: brokenAt(set, at, wrong) };
    batches.push(readStored(set.subarray(at, end), nextOffset(set, end)));
    at = end;
  }
  return { batches, broken: null };
}

function brokenAt(set: Buffer, at: number, why: string): BrokenFrame {
  const detail = `a record batch cannot be read, nor where it ends: ${why}`;
  return { firstOffset: set.readBigInt64BE(at), detail, bytes: set.subarray(at, at + BROKEN_BYTES_MAX) };
}

/** Does a batch begin there whose checksum fits? */
function isWholeBatch(set: Buffer, at: number): boolean {
  if (set.length - at < FRAME_BYTES) return false;
  const length = set.readInt32BE(at + LENGTH_AT);
  const end = at + FRAME_BYTES + length;
  return length >= HEAD_BYTES && end <= set.length && mismatchIn(set.subarray(at, end)) === null;
}

/** First offset of the batch behind, when it is there. */
function nextOffset(set: Buffer, at: number): bigint | null {
  return set.length - at >= FRAME_BYTES ? set.readBigInt64BE(at) : null;
}

/** Why nothing in a batch can be believed; null where its checksum fits. */
function mismatchIn(bytes: Buffer): string | null {
  const magic = bytes.readInt8(MAGIC_AT);
  if (magic !== MAGIC) return `its format is ${String(magic)}; ${String(MAGIC)} is read`;
  return crc32c(bytes.subarray(COVERED_AT)) === bytes.readUInt32BE(CRC_AT)
    ? null
    : 'its checksum does not fit: the stored bytes were altered';
}

function readStored(bytes: Buffer, next: bigint | null): StoredBatch {
  const wrong = mismatchIn(bytes);
  if (wrong !== null) return unreadable(bytes, next, wrong);
  try {
    return { ...readRecordsBatch(Reader.from(bytes)), unreadable: null };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const { attributes, producerId, lastOffsetDelta } = headOf(bytes);
    return { ...unreadable(bytes, next, why), attributes, producerId, lastOffsetDelta };
  }
}

/** What stands where a batch cannot be read: nobody's, and of no transaction. */
function unreadable(bytes: Buffer, next: bigint | null, why: string): StoredBatch {
  const { firstOffset } = headOf(bytes);
  return {
    ...headOf(bytes),
    attributes: 0,
    producerId: -1n,
    lastOffsetDelta: next === null ? Math.max(0, bytes.readInt32BE(LAST_DELTA_AT)) : Number(next - firstOffset) - 1,
    records: [],
    unreadable: { detail: `a record batch of ${String(bytes.length)} bytes cannot be read: ${why}`, bytes },
  };
}

function headOf(bytes: Buffer): RecordsBatch {
  return {
    firstOffset: bytes.readBigInt64BE(0),
    length: bytes.readInt32BE(LENGTH_AT),
    partitionLeaderEpoch: bytes.readInt32BE(12),
    magic: bytes.readInt8(MAGIC_AT),
    crc: bytes.readUInt32BE(CRC_AT),
    attributes: bytes.readInt16BE(COVERED_AT),
    lastOffsetDelta: bytes.readInt32BE(LAST_DELTA_AT),
    firstTimestamp: bytes.readBigInt64BE(27),
    maxTimestamp: bytes.readBigInt64BE(35),
    producerId: bytes.readBigInt64BE(43),
    producerEpoch: bytes.readInt16BE(51),
    firstSequence: bytes.readInt32BE(53),
    records: [],
  };
}
