// A value of a program as it travels: what JSON says of it, and of which parts it says nothing.
//
// Boundary: pure, but for the getters and `toJSON` of the value itself; what they throw never leaves here.
//
// Invariants
//   J1. What JSON says nothing of is named, and left out: `{}` in its place would read as if there had been nothing.
import { types } from 'node:util';
import { pointerOf } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { wordsOf } from './tool/thrown.js';

/** A part of which JSON keeps nothing. */
export interface Lost {
  /** JSON pointer. */
  readonly path: string;
  /** With its article: `a Map`. */
  readonly what: string;
}

/** A value as JSON, less what is lost; or why there is no JSON of it. */
export type Written =
  | { readonly json: Json; readonly lost: readonly Lost[]; readonly problem: null }
  | { readonly json: null; readonly lost: readonly []; readonly problem: string };

/** Deepest that is walked: far more than any record holds, and less than any stack. */
const LEVELS_MAX = 500;
/** As many lost parts as a person reads. */
const NAMED_MAX = 3;

/** Why a value has no JSON. */
class Unwritable extends Error {}

/**
 * Anything as JSON: dates, URLs and whatever else has a `toJSON` as they say it, a bigint as its text, `undefined` left out, or null in
 * a list.
 *
 * Shape:  lost are functions, symbols, numbers that are not finite, dates that are none, maps, sets, promises, errors, and any object of a
 *         class that shows no members (a Response, what keeps its state private): left out, or null in a list and on top.
 * Errors: none; what goes round in circles, nests deeper than anybody walks or throws while it is read is a `problem`.
 */
export function written(value: unknown): Written {
  const lost: Lost[] = [];
  try {
    const json = valueOf({ value, name: '', parent: null, levels: 0 }, lost) ?? null;
    return { json, lost, problem: null };
  } catch (thrown) {
    const problem = thrown instanceof Unwritable ? thrown.message : `reading it threw: ${wordsOf(thrown)}`;
    return { json: null, lost: [], problem };
  }
}

/** What is lost, in words, with its place. */
export function lossText(lost: readonly Lost[]): string {
  const named = lost.slice(0, NAMED_MAX).map(({ path, what }) => (path === '' ? what : `${what} at ${path}`));
  const more = lost.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}, of which JSON keeps nothing`;
}

/** What a worker's tool answered, or somebody stated: nothing is no answer. */
export function writtenAnswer(given: unknown): Written {
  return given === undefined ? { json: null, lost: [], problem: 'it is undefined' } : written(given);
}

/** Why a value is not whole as JSON; null where it is. */
export function unwrittenIn({ lost, problem }: Written): string | null {
  return problem ?? (lost.length > 0 ? `it holds ${lossText(lost)}` : null);
}

/** A part of a value, and what it lies in. */
interface Part {
  readonly value: unknown;
  readonly name: string;
  readonly parent: Part | null;
  readonly levels: number;
}

function valueOf(part: Part, lost: Lost[]): Json | undefined {
  const value = said(part);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return String(value);
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? value : lose(String(value), part, lost);
    case 'function':
    case 'symbol':
      return lose(`a ${typeof value}`, part, lost);
    case 'object':
      return value === null ? null : objectOf(value, part, lost);
  }
}

/** As JSON.stringify asks it, and takes a boxed value out of its box. */
function said({ value, name }: Part): unknown {
  // An object, and by its prototype a bigint, may be read by name.
  const asked = (typeof value === 'object' || typeof value === 'bigint') && !isNoDate(value) ? value : null;
  const toJson: unknown = (asked as { readonly toJSON?: unknown } | null)?.toJSON;
  const found: unknown = typeof toJson === 'function' ? toJson.call(value, name) : value;
  return types.isBoxedPrimitive(found) ? found.valueOf() : found;
}

function objectOf(value: object, part: Part, lost: Lost[]): Json | undefined {
  const what = lossOf(value);
  if (what !== null) return lose(what, part, lost);
  if (part.levels >= LEVELS_MAX) throw new Unwritable(`it nests deeper than ${String(LEVELS_MAX)} levels`);
  const here: Part = { ...part, value };
  for (let at = part.parent; at !== null; at = at.parent)
    if (at.value === value) throw new Unwritable('it goes round in circles');
  const member = (name: string, each: unknown): Json | undefined =>
    valueOf({ value: each, name, parent: here, levels: part.levels + 1 }, lost);
  if (Array.isArray(value)) return Array.from(value, (each, index) => member(String(index), each) ?? null);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const json = member(name, each);
      return json === undefined ? [] : [[name, json]];
    }),
  );
}

function lose(what: string, part: Part, lost: Lost[]): Json | undefined {
  lost.push({ path: pathOf(part), what });
  return undefined;
}

function pathOf({ name, parent }: Part): string {
  return parent === null ? '' : `${pathOf(parent)}${pointerOf([name])}`;
}

/** What an object is, where JSON keeps nothing of it, or not what it holds. */
function lossOf(value: object): string | null {
  if (isError(value)) return `an error (${value.name})`;
  if (types.isPromise(value)) return 'a promise that nobody waited for';
  if (types.isMap(value)) return 'a Map';
  if (types.isSet(value)) return 'a Set';
  if (isNoDate(value)) return 'a date that is none';
  return isPlain(value) || Object.keys(value).length > 0 ? null : `an object of ${classOf(value)}`;
}

/** One of whichever realm. */
function isError(value: object): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
}

/** A date of no instant says null of itself. */
function isNoDate(value: unknown): boolean {
  return types.isDate(value) && Number.isNaN(Date.prototype.getTime.call(value));
}

/** Made by braces or brackets, in whichever realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function classOf({ constructor: made }: { readonly constructor?: unknown }): string {
  return typeof made === 'function' && made.name !== '' ? `the class ${made.name}` : 'a class';
}
