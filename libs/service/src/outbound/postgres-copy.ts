// Rows in PostgreSQL's binary COPY format.
//
//   file  = "PGCOPY\n\377\r\n\0" flags:int32 extension:int32 tuple* -1:int16
//   tuple = fields:int16 (length:int32 bytes | -1:int32)*
//   int4, int8 = big endian; boolean = one octet; text = UTF-8; bytea = as it is, or text as its UTF-8
import type { ColumnType, ColumnValue } from '@recourse/event-log';

const SIGNATURE = Buffer.from('5047434f50590aff0d0a00' + '00000000' + '00000000', 'hex');
const FIRST_SIZE = 64 * 1_024;
/** One text unit takes at most this many octets. */
const UTF8_MAX = 3;

/**
 * Writes rows of one partition, one after the other: what a row is made of is gone with the next.
 *
 * Shape:  `valuesOf` has one value per type, in order; each tuple begins with the partition as int4.
 */
export function encodeCopy<T>(
  partition: number,
  types: readonly ColumnType[],
  rows: Iterable<T>,
  valuesOf: (row: T) => readonly ColumnValue[],
): Buffer {
  const out = new GrowingBuffer();
  out.bytes(SIGNATURE);
  for (const row of rows) {
    out.int16(types.length + 1);
    out.int32(4);
    out.int32(partition);
    const values = valuesOf(row);
    for (let at = 0; at < types.length; at += 1) writeField(out, types[at], values[at] ?? null);
  }
  out.int16(-1);
  return out.finished();
}

function writeField(out: GrowingBuffer, type: ColumnType | undefined, value: ColumnValue): void {
  if (value === null) {
    out.int32(-1);
    return;
  }
  if (typeof value === 'string') {
    out.sizedText(value);
    return;
  }
  if (typeof value === 'boolean') {
    out.int32(1);
    out.octet(value ? 1 : 0);
    return;
  }
  if (typeof value === 'number' && type === 'bigint') {
    out.int32(8);
    out.int64(value);
    return;
  }
  if (Buffer.isBuffer(value)) {
    out.int32(value.length);
    out.bytes(value);
    return;
  }
  throw new TypeError(`no ${String(type)}: ${typeof value}`);
}

class GrowingBuffer {
  private buffer = Buffer.allocUnsafe(FIRST_SIZE);
  private size = 0;

  octet(value: number): void {
    this.reserve(1);
    this.size = this.buffer.writeUInt8(value, this.size);
  }
  int16(value: number): void {
    this.reserve(2);
    this.size = this.buffer.writeInt16BE(value, this.size);
  }
  int32(value: number): void {
    this.reserve(4);
    this.size = this.buffer.writeInt32BE(value, this.size);
  }
  int64(value: number): void {
    this.reserve(8);
    this.size = this.buffer.writeBigInt64BE(BigInt(value), this.size);
  }
  bytes(value: Buffer): void {
    this.reserve(value.length);
    this.size += value.copy(this.buffer, this.size);
  }

  sizedText(value: string): void {
    this.reserve(4 + value.length * UTF8_MAX);
    const written = this.buffer.write(value, this.size + 4, 'utf8');
    this.buffer.writeInt32BE(written, this.size);
    this.size += 4 + written;
  }

  finished(): Buffer {
    return this.buffer.subarray(0, this.size);
  }

  private reserve(more: number): void {
    if (this.size + more <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.size + more));
    this.buffer.copy(larger, 0, 0, this.size);
    this.buffer = larger;
  }
}
