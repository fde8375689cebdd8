// Values in PostgreSQL's binary formats, as COPY and parameters take them.
//
//   field = length:int32 bytes | -1:int32
//   int4, int8 = big endian; boolean = one octet; text = UTF-8; bytea = as it is, or text as its UTF-8
import type { ColumnType, ColumnValue } from '@recourse/event-log';

/** One text unit takes at most this many octets. */
const UTF8_MAX = 3;

/** Errors: TypeError for a value that is none of its type. */
export function writeField(out: GrowingBuffer, type: ColumnType | undefined, value: ColumnValue): void {
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

/** Bytes that are written one after the other. */
export class GrowingBuffer {
  private buffer: Buffer;
  private size = 0;

  constructor(firstSize: number) {
    this.buffer = Buffer.allocUnsafe(firstSize);
  }

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
