// A produce request for one partition, encoded in one pass.
//
// The clients make growing buffers and big numbers for every record, which costs more than our own chain does.
// Connections, time-outs, checksums and answers are the client's: only the body of the request is ours.
//
// Grammar (all integers big-endian; varint is zig-zag, 7 bits an octet, least significant first):
//   body    = transactional-id acks timeout topics           ; Produce, versions 3 to 7
//   topics  = %x00000001 string partitions
//   parts   = %x00000001 partition size batch
//   batch   = base-offset length leader-epoch %x02 crc attributes last-offset-delta first-time max-time
//             producer-id producer-epoch base-sequence count *record
//   crc     = uint32                                          ; CRC-32C of all after it
//   record  = size attributes time-delta offset-delta bytes(key) bytes(value) headers
//   bytes   = varint *OCTET
import { crc32c } from '@platformatic/kafka';
import type { OutgoingRecord } from '../kafka.port.js';

const BATCH_HEAD_SIZE = 61;
const LENGTH_AT = 8;
const CRC_AT = 17;
const MAGIC = 2;
const ACKS_ALL = -1;

/** Where a batch goes and how long the broker may take. */
export interface ProduceTo {
  readonly topic: string;
  readonly partition: number;
  readonly timeoutMs: number;
}

/** Body of a Produce request of version 3 to 7, without compression, transaction or idempotence. */
export function encodeProduce(
  { topic, partition, timeoutMs }: ProduceTo,
  records: readonly OutgoingRecord[],
  timestampMs: number,
): Buffer {
  const name = Buffer.from(topic, 'utf8');
  const batchSize = sizeOfBatch(records);
  const out = Buffer.allocUnsafe(2 + 2 + 4 + 4 + 2 + name.length + 4 + 4 + 4 + batchSize);
  let at = out.writeInt16BE(-1, 0);
  at = out.writeInt16BE(ACKS_ALL, at);
  at = out.writeInt32BE(timeoutMs, at);
  at = out.writeInt32BE(1, at);
  at = out.writeInt16BE(name.length, at);
  at += name.copy(out, at);
  at = out.writeInt32BE(1, at);
  at = out.writeInt32BE(partition, at);
  at = out.writeInt32BE(batchSize, at);
  writeBatch(out, at, records, timestampMs);
  return out;
}

/** One record batch, as it is stored. */
export function encodeRecordBatch(records: readonly OutgoingRecord[], timestampMs: number): Buffer {
  const out = Buffer.allocUnsafe(sizeOfBatch(records));
  writeBatch(out, 0, records, timestampMs);
  return out;
}

function writeBatch(out: Buffer, start: number, records: readonly OutgoingRecord[], timestampMs: number): void {
  let at = out.writeBigInt64BE(0n, start);
  at = out.writeInt32BE(0, at);
  at = out.writeInt32BE(0, at);
  at = out.writeInt8(MAGIC, at);
  at = out.writeUInt32BE(0, at);
  at = out.writeInt16BE(0, at);
  at = out.writeInt32BE(records.length - 1, at);
  at = out.writeBigInt64BE(BigInt(timestampMs), at);
  at = out.writeBigInt64BE(BigInt(timestampMs), at);
  at = out.writeBigInt64BE(-1n, at);
  at = out.writeInt16BE(0, at);
  at = out.writeInt32BE(0, at);
  at = out.writeInt32BE(records.length, at);
  for (let n = 0; n < records.length; n += 1) at = writeRecord(out, at, records[n], n);
  out.writeInt32BE(at - start - LENGTH_AT - 4, start + LENGTH_AT);
  out.writeUInt32BE(crc32c(out.subarray(start + CRC_AT + 4, at)), start + CRC_AT);
}

function writeRecord(out: Buffer, start: number, record: OutgoingRecord | undefined, offsetDelta: number): number {
  if (record === undefined) return start;
  let at = writeVarint(out, start, sizeOfBody(record, offsetDelta));
  out[at] = 0;
  out[at + 1] = 0;
  at = writeVarint(out, at + 2, offsetDelta);
  at = writeBytes(out, at, record.key);
  at = writeBytes(out, at, record.value);
  const headers = headersOf(record);
  at = writeVarint(out, at, headers.length);
  for (const [name, value] of headers) at = writeBytes(out, writeBytes(out, at, name), value);
  return at;
}

function writeBytes(out: Buffer, at: number, bytes: Buffer): number {
  const start = writeVarint(out, at, bytes.length);
  return start + bytes.copy(out, start);
}

/** Sizes and counts only: never negative, below 2^30. */
function writeVarint(out: Buffer, start: number, value: number): number {
  let left = value * 2;
  let at = start;
  while (left > 0x7f) {
    out[at] = (left & 0x7f) | 0x80;
    left >>>= 7;
    at += 1;
  }
  out[at] = left;
  return at + 1;
}

function sizeOfBatch(records: readonly OutgoingRecord[]): number {
  let size = BATCH_HEAD_SIZE;
  for (const [n, record] of records.entries()) {
    const body = sizeOfBody(record, n);
    size += sizeOfVarint(body) + body;
  }
  return size;
}

function sizeOfBody(record: OutgoingRecord, offsetDelta: number): number {
  const headers = headersOf(record);
  const fixed =
    2 + sizeOfVarint(offsetDelta) + sizeOfBytes(record.key) + sizeOfBytes(record.value) + sizeOfVarint(headers.length);
  return headers.reduce((size, [name, value]) => size + sizeOfBytes(name) + sizeOfBytes(value), fixed);
}

function sizeOfBytes({ length }: Buffer): number {
  return sizeOfVarint(length) + length;
}

function sizeOfVarint(value: number): number {
  let size = 1;
  for (let left = value * 2; left > 0x7f; left >>>= 7) size += 1;
  return size;
}

const NO_HEADERS: readonly (readonly [Buffer, Buffer])[] = [];

function headersOf({ headers }: OutgoingRecord): readonly (readonly [Buffer, Buffer])[] {
  return headers === undefined
    ? NO_HEADERS
    : Object.entries(headers).map(([name, value]) => [Buffer.from(name, 'utf8'), Buffer.from(value, 'utf8')] as const);
}
