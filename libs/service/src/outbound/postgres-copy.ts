// Rows in PostgreSQL's binary COPY format.
//
//   file  = "PGCOPY\n\377\r\n\0" flags:int32 extension:int32 tuple* -1:int16
//   tuple = fields:int16 field*
import type { ColumnType, ColumnValue } from '@recourse/event-log';
import { GrowingBuffer, writeField } from './postgres-binary.js';

const FIRST_SIZE = 64 * 1_024;
const SIGNATURE = Buffer.from('5047434f50590aff0d0a00' + '00000000' + '00000000', 'hex');

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
  const out = new GrowingBuffer(FIRST_SIZE);
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
