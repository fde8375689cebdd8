// Arrays in PostgreSQL's binary format, as parameters: written once, where their text would be quoted here and parsed there.
//
//   array = 1:int32 nulls:int32 element:oid count:int32 1:int32 field*
import type { ColumnType, ColumnValue } from '@recourse/event-log';
import { GrowingBuffer, writeField } from './postgres-binary.js';

/** Source: pg_type.dat of PostgreSQL. */
const OIDS: Readonly<Record<ColumnType, number>> = { boolean: 16, bytea: 17, bigint: 20, text: 25 };
const HEADER_SIZE = 20;
/** What a value is expected to take, octets. */
const FIELD_SIZES: Readonly<Record<ColumnType, number>> = { boolean: 5, bytea: 512, bigint: 12, text: 48 };

/** One array for each type, with that column of each row. Shape: at least one row; `valuesOf` has one value per type, in order. */
export function encodeArrays<T>(
  types: readonly ColumnType[],
  rows: readonly T[],
  valuesOf: (row: T) => readonly ColumnValue[],
): readonly Buffer[] {
  const columns = types.map((type) => begun(type, rows.length));
  for (const row of rows) {
    const values = valuesOf(row);
    for (const [at, out] of columns.entries()) writeField(out, types[at], values[at] ?? null);
  }
  return columns.map((out) => out.finished());
}

function begun(type: ColumnType, count: number): GrowingBuffer {
  const out = new GrowingBuffer(HEADER_SIZE + count * FIELD_SIZES[type]);
  out.int32(1);
  out.int32(1);
  out.int32(OIDS[type]);
  out.int32(count);
  out.int32(1);
  return out;
}
