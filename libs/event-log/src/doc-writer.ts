// Docs as the octets of JSON, written into one buffer that is used again: as text each would be garbage a moment later.
//
// Written by hand: JSON.stringify wants a copy in which bytes are spelled out, and takes twice as long with it.
//
// Invariants
//   W1. What is written is what JSON.stringify writes, UTF-8, but for bytes and for names that read like theirs.
//   W3. What two docs share is the very same object: docs are never changed.
//   W2. What was given out stands until the next doc is written; who keeps it copies it.
import type { Doc } from './service-core.js';

export const BYTES = '$b';
export const LIKE_BYTES = /^\$+b$/;

/** An object that stood under a name; its octets from the second time on. */
interface Shared {
  readonly value: object;
  readonly octets: Buffer | null;
}

/** The two parts of a doc: lasting members, and the others. */
export interface DocParts {
  readonly lasting: Buffer;
  readonly rest: Buffer;
}

const FIRST_SIZE = 16 * 1_024;
/** Octets that one UTF-16 unit takes at the most, as JSON writes it: `\u0000`. */
const UNIT_MAX = 6;
/** Text longer than this is copied as a whole. */
const SHORT = 200;
/** Names that are kept with their quotes; those of users would be ever more. */
const QUOTED_MAX = 4_096;
const QUOTED = new Map<string, Buffer>();
const QUOTED_BYTES = Buffer.from(`"${BYTES}":`, 'latin1');
const ASCII = 128;
/** Of the ASCII units those that JSON writes as they are. */
const IS_PLAIN = Uint8Array.from({ length: ASCII }, (_, unit) =>
  Number(unit >= 0x20 && unit !== 0x22 && unit !== 0x5c),
);
const BASE64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', 'latin1');
const [QUOTE, COMMA, EQUALS, SQUARE, SQUARE_END, BRACE, BRACE_END] = [
  0x22, 0x2c, 0x3d, 0x5b, 0x5d, 0x7b, 0x7d,
] as const;

export class DocWriter {
  #out = Buffer.allocUnsafe(FIRST_SIZE);
  #at = 0;
  /** What the members of one record have in common stands in all their docs: the newest by the name it stands under. */
  readonly #shared = new Map<string, Shared>();

  /** Writes a doc. Errors: TypeError for a value that is not plain data. */
  whole(doc: Doc): Buffer {
    this.#at = 0;
    this.#members(doc, null, false, true);
    return this.#out.subarray(0, this.#at);
  }

  /** Writes the members of a doc that are named, and apart from them the others. Errors: those of `whole`. */
  parts(lasting: ReadonlySet<string>, doc: Doc): DocParts {
    this.#at = 0;
    this.#members(doc, lasting, false, true);
    const end = this.#at;
    this.#members(doc, lasting, true, true);
    return { rest: this.#out.subarray(0, end), lasting: this.#out.subarray(end, this.#at) };
  }

  /** Writes the others alone. Shape and errors: those of `parts`. */
  rest(lasting: ReadonlySet<string>, doc: Doc): Buffer {
    this.#at = 0;
    this.#members(doc, lasting, false, true);
    return this.#out.subarray(0, this.#at);
  }

  /** All members of an object; where names are given, those that are among them, or are not. What JSON has no word for is left out. */
  #members(
    members: Readonly<Record<string, unknown>>,
    names: ReadonlySet<string> | null,
    areNamed: boolean,
    isDoc: boolean,
  ): void {
    let isFirst = true;
    this.#octet(BRACE);
    for (const name in members) {
      const value = members[name];
      if (value === undefined || (names !== null && names.has(name) !== areNamed)) continue;
      if (!isFirst) this.#octet(COMMA);
      isFirst = false;
      this.#copy(quotedName(name));
      if (isDoc && typeof value === 'object' && value !== null) this.#memberOf(name, value);
      else this.#value(value);
    }
    this.#octet(BRACE_END);
  }

  /** Written anew while it is met for the first time: most objects are in one doc alone. */
  #memberOf(name: string, value: object): void {
    const known = this.#shared.get(name);
    if (known?.value === value && known.octets !== null) {
      this.#reserve(known.octets.length);
      known.octets.copy(this.#out, this.#at);
      this.#at += known.octets.length;
      return;
    }
    const from = this.#at;
    this.#object(value);
    const octets = known?.value === value ? Buffer.from(this.#out.subarray(from, this.#at)) : null;
    if (known !== undefined || this.#shared.size < QUOTED_MAX) this.#shared.set(name, { value, octets });
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.#text(value);
        return;
      case 'number':
        this.#ascii(Number.isFinite(value) ? String(value) : 'null');
        return;
      case 'boolean':
        this.#ascii(value ? 'true' : 'false');
        return;
      case 'undefined':
        this.#ascii('null');
        return;
      case 'object':
        if (value === null) this.#ascii('null');
        else this.#object(value);
        return;
      default:
        throw new TypeError(`not plain data: ${typeof value}`);
    }
  }

  #object(value: object): void {
    if (value instanceof Uint8Array) this.#bytes(value);
    else if (Array.isArray(value)) this.#list(value);
    else this.#members(value as Readonly<Record<string, unknown>>, null, false, false); // any object can be read by name
  }

  #list(values: readonly unknown[]): void {
    this.#octet(SQUARE);
    for (let at = 0; at < values.length; at += 1) {
      if (at > 0) this.#octet(COMMA);
      this.#value(values[at]);
    }
    this.#octet(SQUARE_END);
  }

  #bytes(bytes: Uint8Array): void {
    this.#octet(BRACE);
    this.#copy(QUOTED_BYTES);
    this.#octet(QUOTE);
    this.#base64(bytes);
    this.#octet(QUOTE);
    this.#octet(BRACE_END);
  }

  #base64(bytes: Uint8Array): void {
    this.#reserve(4 + Math.ceil(bytes.length / 3) * 4);
    const out = this.#out;
    let to = this.#at;
    for (let at = 0; at < bytes.length; at += 3) {
      const left = bytes.length - at;
      const bits = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      out[to] = BASE64[bits >> 18] ?? 0;
      out[to + 1] = BASE64[(bits >> 12) & 63] ?? 0;
      out[to + 2] = left > 1 ? (BASE64[(bits >> 6) & 63] ?? 0) : EQUALS;
      out[to + 3] = left > 2 ? (BASE64[bits & 63] ?? 0) : EQUALS;
      to += 4;
    }
    this.#at = to;
  }

  /** A string with its quotes: unit by unit while all of it is plain. */
  #text(value: string): void {
    this.#reserve(value.length * UNIT_MAX + 2);
    const { length } = value;
    const out = this.#out;
    let to = this.#at + 1;
    if (length <= SHORT) {
      let at = 0;
      for (; at < length; at += 1) {
        const unit = value.charCodeAt(at);
        if (unit >= ASCII || IS_PLAIN[unit] === 0) break;
        out[to] = unit;
        to += 1;
      }
      if (at === length) {
        out[this.#at] = QUOTE;
        out[to] = QUOTE;
        this.#at = to + 1;
        return;
      }
    }
    this.#at += out.write(JSON.stringify(value), this.#at, 'utf8');
  }

  /** A few ASCII units. */
  #ascii(text: string): void {
    this.#reserve(text.length);
    const out = this.#out;
    for (let at = 0; at < text.length; at += 1) out[this.#at + at] = text.charCodeAt(at);
    this.#at += text.length;
  }

  #copy(bytes: Buffer): void {
    this.#reserve(bytes.length);
    const out = this.#out;
    if (bytes.length > SHORT) bytes.copy(out, this.#at);
    else for (let at = 0; at < bytes.length; at += 1) out[this.#at + at] = bytes[at] ?? 0;
    this.#at += bytes.length;
  }

  #octet(octet: number): void {
    this.#reserve(1);
    this.#out[this.#at] = octet;
    this.#at += 1;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#out.length) return;
    const larger = Buffer.allocUnsafe(Math.ceil(Math.max(this.#out.length * 2, this.#at + more)));
    this.#out.copy(larger, 0, 0, this.#at);
    this.#out = larger;
  }
}

function quotedName(name: string): Buffer {
  const known = QUOTED.get(name);
  if (known !== undefined) return known;
  const quoted = Buffer.from(`${JSON.stringify(LIKE_BYTES.test(name) ? `$${name}` : name)}:`, 'utf8');
  if (QUOTED.size < QUOTED_MAX) QUOTED.set(name, quoted);
  return quoted;
}
