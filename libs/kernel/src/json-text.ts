// JSON as text. Written canonically (keys sorted, no spaces): equal values give equal text, in every language. Read within a
// depth, so that nothing that walks over it afterwards runs out of stack.

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Writes a JSON value with sorted keys and no white space.
 *
 * Shape:  strings are escaped as JSON.stringify does; `undefined` members are left out.
 * Errors: TypeError for a number that is not finite.
 * Source: the subset of RFC 8785 that integers, text and nesting need.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`not a JSON number: ${String(value)}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object') return canonicalObject(value);
  throw new TypeError(`not JSON: ${typeof value}`);
}

function canonicalObject(value: object): string {
  const members = value as Readonly<Record<string, unknown>>; // any object can be read by name
  let text = '';
  for (const name of sortedNames(members)) {
    const member = members[name];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** Most objects are written in order already. */
function sortedNames(members: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.keys(members);
  // Without a comparison of its own, a sort is by UTF-16 units, as `<` is.
  for (let at = 1; at < names.length; at += 1) if ((names[at] ?? '') < (names[at - 1] ?? '')) return names.sort();
  return names;
}

/** Levels of lists and objects inside each other that are read at the most. */
export const JSON_DEPTH_MAX = 64;
const SQUARE = 0x5b;
const BRACE = 0x7b;

/** Reads JSON. Errors: SyntaxError; TypeError for what is nested deeper than JSON_DEPTH_MAX, RangeError for a number beyond all that can be written again. */
export function readJson(text: string): Json {
  const value = JSON.parse(text) as Json; // what JSON.parse makes is JSON
  if (mayBeTooDeep(text) && isTooDeep(value))
    throw new TypeError(`more than ${JSON_DEPTH_MAX} levels of JSON inside each other`);
  if (mayOverflow(text) && holdsInfinite(value)) throw new RangeError('a number beyond what anybody reads');
  return value;
}

/** Digits of the largest number there is. */
const DIGITS_MAX = 308;

/** What has neither an exponent of three digits nor so many digits overflows nowhere. */
function mayOverflow(text: string): boolean {
  return /[\d.][eE]\+?\d{3}/.test(text) || (text.length > DIGITS_MAX && hasDigits(text));
}

function hasDigits(text: string): boolean {
  let run = 0;
  for (let at = 0; at < text.length && run <= DIGITS_MAX; at += 1) {
    const unit = text.charCodeAt(at);
    run = unit >= ZERO && unit <= NINE ? run + 1 : 0;
  }
  return run > DIGITS_MAX;
}
const ZERO = 0x30;
const NINE = 0x39;

/** As deep as readJson lets it be. */
function holdsInfinite(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number' && !Number.isFinite(value);
  return Object.values(value).some(holdsInfinite);
}

/** What opens nothing so often is not nested so deeply. */
function mayBeTooDeep(text: string): boolean {
  let opened = 0;
  for (let at = 0; at < text.length && opened <= JSON_DEPTH_MAX; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === SQUARE || unit === BRACE) opened += 1;
  }
  return opened > JSON_DEPTH_MAX;
}

/** Is a value nested deeper than anybody reads? Goes no deeper itself. */
export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(value, JSON_DEPTH_MAX);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const members = value as Readonly<Record<string, unknown>>; // any object can be read by name
  for (const name in members) if (isDeeperThan(members[name], levels - 1)) return true;
  return false;
}

/** True for a JSON object. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a text is as JSON, at any depth; undefined where it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Sets a member of the object itself, whatever its name. */
export function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  else target[name] = value;
}

/** A character as JSON may spell it: `\uXXXX` for each of its units. */
export function escapedCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** The beginning of a text, at most `max` UTF-16 units (an escaped NUL takes one more), as a database takes it: well-formed, without NUL. */
export function excerpt(text: string, max: number): string {
  return text.slice(0, max).toWellFormed().replaceAll('\u0000', '\\0');
}
