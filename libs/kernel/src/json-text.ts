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
