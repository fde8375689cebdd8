// The record batches of a fetch answer. One that cannot be read is told as such, and those around it are read.
//
// Boundary: codecs and records are the client's; the frame of a batch and its checksum are read here.
//
// Invariants
//   R1. What is broken in one batch costs no other: each is read for itself.
//   R2. Nothing of a batch counts whose checksum does not fit, but the place it takes.
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

/**
 * Reads a set of batches as a broker sends it: the last may be cut off, and is asked for again.
 *
 * Errors: Error when a frame is broken, so that nobody can tell where the next batch begins.
 */
export function readRecordSet(set: Buffer): readonly StoredBatch[] {
  const batches: StoredBatch[] = [];
  for (let at = 0; set.length - at >= FRAME_BYTES;) {
    const length = set.readInt32BE(at + LENGTH_AT);
    if (length < HEAD_BYTES)
      throw new Error(`a batch at offset ${String(set.readBigInt64BE(at))} says that it has ${String(length)} bytes`);
    const end = at + FRAME_BYTES + length;
    if (end > set.length) break;
    batches.push(readStored(set.subarray(at, end), nextOffset(set, end)));
    at = end;
  }
  return batches;
}

/** First offset of the batch behind, when it is there. */
function nextOffset(set: Buffer, at: number): bigint | null {
  return set.length - at >= FRAME_BYTES ? set.readBigInt64BE(at) : null;
}

function readStored(bytes: Buffer, next: bigint | null): StoredBatch {
  const magic = bytes.readInt8(MAGIC_AT);
  if (magic !== MAGIC) return unreadable(bytes, next, `its format is ${String(magic)}; ${String(MAGIC)} is read`);
  if (crc32c(bytes.subarray(COVERED_AT)) !== bytes.readUInt32BE(CRC_AT))
    return unreadable(bytes, next, 'its checksum does not fit: the stored bytes were altered');
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
