// JSON of strangers: read within a depth, so that nothing that walks over it afterwards runs out of stack.
import type { Json } from './canonical.js';

/** Levels of lists and objects inside each other that are read at the most. */
export const JSON_DEPTH_MAX = 64;

/** Reads JSON. Errors: SyntaxError; TypeError for what is nested deeper than JSON_DEPTH_MAX. */
export function readJson(text: string): Json {
  const value = JSON.parse(text) as Json; // what JSON.parse makes is JSON
  if (isTooDeep(value)) throw new TypeError(`more than ${JSON_DEPTH_MAX} levels of JSON inside each other`);
  return value;
}

/** Is a value nested deeper than anybody reads? Looks level by level, and never calls itself. */
export function isTooDeep(value: unknown): boolean {
  let level = membersOf([value]);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > JSON_DEPTH_MAX) return true;
    level = membersOf(level.flatMap((each) => Object.values(each) as readonly unknown[]));
  }
  return false;
}

function membersOf(values: readonly unknown[]): readonly object[] {
  return values.filter((each) => typeof each === 'object' && each !== null);
}
