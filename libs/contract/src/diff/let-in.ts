// What a schema of arguments still lets in of names that it says less of than before: an open one lets in everything, a closed one by
// its other names and patterns.
//
// Boundary: asks which schemas take a name, and never how strict two are beyond being the same. Where nobody can tell, it is let in.
import type { Json } from '@recourse/kernel';
import { linear } from '../patterns.js';
import { keys, member, same } from './comparers.js';

/** Keywords by which a schema beside may speak of an argument, so that it counts as spoken of. */
const BESIDE: readonly string[] = [
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'],
];
/** Names that are tried against patterns of one schema at the most: some milliseconds. */
const LOOKS_MAX = 10_000;

/** Does it refuse what it does not name? */
export function isClosed(schema: Json): boolean {
  return ['additionalProperties', 'unevaluatedProperties'].some((keyword) => member(schema, keyword) === false);
}

/** What was asked of a name, or of the names of a pattern, and is asked by that name or pattern no more. */
interface Dropped {
  readonly keyword: string;
  readonly name: string;
  readonly asked: Json;
}

/** Says of what was asked and is not any more, whether `now` lets in what it was asked of, unasked. */
export function lettingOff(now: Json): (dropped: Dropped) => boolean {
  const isCertain = isClosed(now) && (member(now, 'additionalProperties') === false || !speaksBeside(now));
  const takes = taking(now);
  return ({ keyword, name, asked }) => {
    if (asked === true || same(asked, {})) return false;
    if (!isCertain) return true;
    const isAsked = (other: Json): boolean => other === false || same(other, asked);
    const others = keyword === 'properties' ? takes.name(name) : takes.pattern(name);
    if (others === null) return true;
    // Patterns that take one name all judge it; names that a pattern took are each judged by their own.
    return keyword === 'properties' ? others.length > 0 && !others.some(isAsked) : !others.every(isAsked);
  };
}

function speaksBeside(schema: Json): boolean {
  return BESIDE.some((keyword) => member(schema, keyword) !== undefined);
}

/** The schemas that take a name by its pattern, or may take a name that another pattern takes; null where nobody can tell. */
function taking(now: Json): Readonly<Record<'name' | 'pattern', (text: string) => readonly Json[] | null>> {
  const [named, spoken] = [entriesOf(now, 'properties'), entriesOf(now, 'patternProperties')];
  const compiled = new Map<string, ReturnType<typeof linear> | null>();
  let looks = 0;
  const isTaken = (pattern: string, name: string): boolean | null => {
    looks += 1;
    if (!compiled.has(pattern)) compiled.set(pattern, usable(pattern));
    return looks > LOOKS_MAX ? null : (compiled.get(pattern)?.test(name) ?? null);
  };
  const among = (
    all: readonly (readonly [string, Json])[],
    isOne: (text: string) => boolean | null,
  ): readonly Json[] | null => {
    const found = all.map(([text, schema]) => ({ schema, is: isOne(text) }));
    return found.some(({ is }) => is === null) ? null : found.filter(({ is }) => is).map(({ schema }) => schema);
  };
  return {
    name: (name) => among(spoken, (pattern) => isTaken(pattern, name)),
    pattern: (pattern) => {
      const ofNames = among(named, (name) => isTaken(pattern, name));
      return ofNames === null ? null : [...ofNames, ...spoken.map(([, schema]) => schema)];
    },
  };
}

function entriesOf(schema: Json, keyword: string): readonly (readonly [string, Json])[] {
  const held = member(schema, keyword);
  return keys(held).map((name) => [name, member(held, name) ?? true] as const);
}

/** Null for one that the engine does not know: no value can be judged by it. */
function usable(pattern: string): ReturnType<typeof linear> | null {
  try {
    return linear(pattern);
  } catch {
    return null;
  }
}
