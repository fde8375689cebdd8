// Rows as stores keep them: the doc as bytes, the columns as a database can take them, and the text that is hashed.
//
//   doc    = JSON, UTF-8; bytes are {"$b": base64}; a member name of the user's own that reads `$b`, `$$b`, ... gets one more `$`
//   row    = part(kind) part(group) part(key) part(dueAt, empty for none) part(canonical doc)
//   part   = <UTF-16 length> ":" <text>
import { canonicalJson, InvariantViolation, setOwn } from '@recourse/kernel';
import type { ColumnSpec, Doc, Row } from './service-core.js';

/** What a column may hold; null where the row has nothing to say. */
export type ColumnValue = string | number | boolean | Buffer | null;

/** Longest text of a column, in UTF-16 units: below what PostgreSQL can index, so that projection stays total (L7). */
const COLUMN_TEXT_MAX = 200;
const BYTES = '$b';
const LIKE_BYTES = /^\$+b$/;
const DOLLAR = 36;

/** Writes a doc as bytes. Errors: TypeError for a value that is not plain data. */
export function encodeDoc(doc: Doc): Buffer {
  return Buffer.from(JSON.stringify(toJson(doc)), 'utf8');
}

/** Reads what `encodeDoc` wrote. */
export function decodeDoc(bytes: Buffer): Doc {
  const text = bytes.toString('utf8');
  const value: unknown = JSON.parse(text);
  // encodeDoc takes a Doc, so what it wrote is one.
  return (text.includes(`b":`) && text.includes('"$') ? fromJson(value) : value) as Doc;
}

/** A doc as a kind with lasting members keeps it: those, and the others. */
export function partedDoc(lasting: readonly string[], doc: Doc): { readonly lasting: Doc; readonly rest: Doc } {
  const rest: Record<string, unknown> = { ...doc };
  const kept: Record<string, unknown> = {};
  for (const name of lasting) {
    if (!(name in rest)) continue;
    kept[name] = rest[name];
    Reflect.deleteProperty(rest, name);
  }
  return { lasting: kept, rest };
}

/** The text of a row that enters the state hash: equal rows give equal text, whatever order their members were written in. */
export function canonicalRow(row: Row): string {
  return (
    part(row.kind) +
    part(row.group) +
    part(row.key) +
    part(row.dueAt === null ? '' : String(row.dueAt)) +
    part(canonicalJson(toJson(row.doc)))
  );
}

/**
 * The value of a column as PostgreSQL takes it, whatever the doc holds.
 *
 * Shape:  text loses NUL and everything past 200 units: columns are for finding rows, the doc is the truth.
 * Errors: InvariantViolation when the spec answers with another type than it declares.
 * Source: L7, projection is total.
 */
export function columnValue(column: ColumnSpec, row: Row): ColumnValue {
  const value = column.of(row);
  if (value === null) return null;
  switch (column.type) {
    case 'text':
      if (typeof value === 'string') return columnText(value);
      break;
    case 'bigint':
      if (Number.isSafeInteger(value)) return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'bytea':
      if (Buffer.isBuffer(value)) return value;
      break;
  }
  throw new InvariantViolation(
    'C3',
    `column ${column.name} of ${row.kind} is declared ${column.type} and got ${typeof value}`,
    'partition',
  );
}

/** Order of text as PostgreSQL's COLLATE "C" has it: by code point, not by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return byCodePoint(left) - byCodePoint(right);
  }
  return a.length - b.length;
}

/** Surrogates sort above the rest of the basic plane, as the code points they stand for do. */
function byCodePoint(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/** Text as a text column holds it; what a query compares with goes through it too. */
export function columnText(value: string): string {
  const text = value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  return text.length > COLUMN_TEXT_MAX ? text.slice(0, COLUMN_TEXT_MAX) : text;
}

function part(text: string): string {
  return `${String(text.length)}:${text}`;
}

/** The same value with bytes spelled out; the value itself where it holds none. */
function toJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
      throw new TypeError(`not plain data: ${typeof value}`);
    return value;
  }
  if (value instanceof Uint8Array)
    return { [BYTES]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  return Array.isArray(value) ? listToJson(value) : objectToJson(value);
}

function listToJson(list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const json = toJson(list[at]);
    if (json === list[at]) continue;
    copy ??= [...list];
    copy[at] = json;
  }
  return copy ?? list;
}

function objectToJson(value: object): object {
  const members = value as Readonly<Record<string, unknown>>; // any object can be read by name
  const names = Object.keys(members);
  let copy: Record<string, unknown> | undefined;
  for (const [at, name] of names.entries()) {
    const member = members[name];
    const json = typeof member === 'string' ? member : toJson(member);
    const isLikeBytes = name.charCodeAt(0) === DOLLAR && LIKE_BYTES.test(name);
    if (json === member && !isLikeBytes) {
      if (copy !== undefined) setOwn(copy, name, json);
      continue;
    }
    copy ??= copyOf(members, names, at);
    setOwn(copy, isLikeBytes ? `$${name}` : name, json);
  }
  return copy ?? value;
}

/** The first members of an object, which needed no change. */
function copyOf(
  members: Readonly<Record<string, unknown>>,
  names: readonly string[],
  count: number,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (let at = 0; at < count; at += 1) setOwn(copy, names[at] ?? '', members[names[at] ?? '']);
  return copy;
}

function fromJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromJson);
  const entries = Object.entries(value);
  const only = entries[0];
  if (entries.length === 1 && only?.[0] === BYTES && typeof only[1] === 'string') return Buffer.from(only[1], 'base64');
  return Object.fromEntries(
    entries.map(([name, member]) => [
      name.charCodeAt(0) === DOLLAR && LIKE_BYTES.test(name) ? name.slice(1) : name,
      fromJson(member),
    ]),
  );
}

// A row as the store in memory keeps it.

export interface StoredRow {
  readonly dueAt: number | null;
  /** Encoded, or the doc itself where the database keeps references. */
  readonly doc: Buffer | Doc;
}

/** What is stored of a row whose lasting members are not written: those it had. */
export function keeping(before: StoredRow | undefined, after: StoredRow, lasting: readonly string[]): StoredRow {
  if (before === undefined)
    throw new InvariantViolation('S4', 'a row that is not there cannot keep members', 'partition');
  const isEncoded = Buffer.isBuffer(after.doc);
  const doc = { ...partedDoc(lasting, docOf(after)).rest, ...partedDoc(lasting, docOf(before)).lasting };
  return { dueAt: after.dueAt, doc: isEncoded ? encodeDoc(doc) : doc };
}

export function docOf({ doc }: StoredRow): Doc {
  return Buffer.isBuffer(doc) ? decodeDoc(doc) : doc;
}
