// Rows as stores keep them: the doc as bytes, the columns as a database can take them, and the text that is hashed.
//
//   doc    = JSON, UTF-8; bytes are {"$b": base64}; a member name of the user's own that reads `$b`, `$$b`, ... gets one more `$`
//   row    = part(kind) part(group) part(key) part(dueAt, empty for none) part(canonical doc)
//   part   = <UTF-16 length> ":" <text>
import { canonicalJson, InvariantViolation, setOwn } from '@recourse/kernel';
import { BYTES, DocWriter, LIKE_BYTES } from './doc-writer.js';
import type { DocParts } from './doc-writer.js';
import type { ColumnSpec, Doc, Row } from './service-core.js';

/** What a column may hold; null where the row has nothing to say. */
export type ColumnValue = string | number | boolean | Buffer | null;

/** Longest text of a column, in UTF-16 units: below what PostgreSQL can index, so that projection stays total (L7). */
const COLUMN_TEXT_MAX = 200;
const DOLLAR = 36;

const WRITER = new DocWriter();

/** Writes a doc as bytes. Errors: TypeError for a value that is not plain data. */
export function encodeDoc(doc: Doc): Buffer {
  return Buffer.from(WRITER.whole(doc));
}

/**
 * The bytes that `encodeDoc` writes, for who copies them at once.
 *
 * Shape:  stand until the next doc is written.
 * Errors: those of `encodeDoc`.
 */
export function docBytes(doc: Doc): Buffer {
  return WRITER.whole(doc);
}

/** Reads what `encodeDoc` wrote. */
export function decodeDoc(bytes: Buffer): Doc {
  const text = bytes.toString('utf8');
  const value: unknown = JSON.parse(text);
  // encodeDoc takes a Doc, so what it wrote is one.
  return (text.includes(`b":`) && text.includes('"$') ? fromJson(value) : value) as Doc;
}

/** A doc as a kind with lasting members keeps it: those, and the others. Shape and errors: those of `docBytes`. */
export function partedBytes(lasting: readonly string[], doc: Doc): DocParts {
  return WRITER.parts(namesIn(lasting), doc);
}

/** The others alone: for a row that keeps its lasting members, which are most of it. Shape and errors: those of `docBytes`. */
export function restBytes(lasting: readonly string[], doc: Doc): Buffer {
  return WRITER.rest(namesIn(lasting), doc);
}

/** The members of a doc that its kind calls lasting, and the others. */
function partedDoc(lasting: readonly string[], doc: Doc): { readonly lasting: Doc; readonly rest: Doc } {
  const lastingNames = namesIn(lasting);
  const rest: Record<string, unknown> = {};
  const kept: Record<string, unknown> = {};
  // Members that are deleted from a copy make it a dictionary, and everything after slow.
  for (const name in doc) (lastingNames.has(name) ? kept : rest)[name] = doc[name];
  return { lasting: kept, rest };
}

const NAMES = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Looked up for every row that is written, of lists that stand as long as the program. */
function namesIn(list: readonly string[]): ReadonlySet<string> {
  const known = NAMES.get(list) ?? new Set(list);
  NAMES.set(list, known);
  return known;
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
 * Shape:  text loses NUL and everything past 200 units, and a whole number beyond 2^53 - 1 is cut to it: columns are for finding
 *         rows, the doc is the truth.
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
      if (Number.isInteger(value))
        return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number(value), Number.MAX_SAFE_INTEGER));
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

function base64Of(bytes: Uint8Array): string {
  const whole = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return whole.toString('base64');
}

/** The same value with bytes spelled out; the value itself where it holds none. */
function toJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
      throw new TypeError(`not plain data: ${typeof value}`);
    return value;
  }
  if (value instanceof Uint8Array) return { [BYTES]: base64Of(value) };
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

/** Copied as a whole where it changes: an object that is built member by member is several times as dear. */
function objectToJson(value: object): object {
  const members = value as Readonly<Record<string, unknown>>; // any object can be read by name
  let copy: Record<string, unknown> | undefined;
  for (const name in members) {
    if (name.charCodeAt(0) === DOLLAR && LIKE_BYTES.test(name)) return renamed(members);
    const member = members[name];
    if (typeof member === 'string') continue;
    const json = toJson(member);
    if (json === member) continue;
    copy ??= { ...members };
    setOwn(copy, name, json);
  }
  return copy ?? value;
}

/** With a name in it that reads like that of bytes. */
function renamed(members: Readonly<Record<string, unknown>>): object {
  const copy: Record<string, unknown> = {};
  for (const name in members) setOwn(copy, LIKE_BYTES.test(name) ? `$${name}` : name, toJson(members[name]));
  return copy;
}

/** In place: what was just parsed is nobody else's. */
function fromJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) value[at] = fromJson(value[at]);
    return value;
  }
  const members = value as Record<string, unknown>; // any object can be read by name
  for (const name in members) if (name.charCodeAt(0) === DOLLAR && LIKE_BYTES.test(name)) return unescaped(members);
  for (const name in members) {
    const member = members[name];
    if (typeof member === 'object' && member !== null) setOwn(members, name, fromJson(member));
  }
  return members;
}

/** What stands for bytes, or has a name in it that reads like that. */
function unescaped(members: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(members);
  const bytes = members[BYTES];
  if (names.length === 1 && typeof bytes === 'string') return Buffer.from(bytes, 'base64');
  const copy: Record<string, unknown> = {};
  for (const name of names) setOwn(copy, LIKE_BYTES.test(name) ? name.slice(1) : name, fromJson(members[name]));
  return copy;
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
