// Why an expression was not judged, in words that hold nothing of the facts: those are sealed, and what is said of them is recorded in clear.
import { ConditionTooCostly } from './condition-cost.js';

/** By what the library says, which quotes what it was given: what a text begins with is its own. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(field not found|unresolved attribute|no such key|index .* out of bounds)/u, 'it reads what is not there'],
  [
    /^(found no matching overload|(?:cannot|unable to) convert|type mismatch|failed to parse|cannot parse|invalid )/iu,
    'a value is not of the kind that it is read as',
  ],
  [/^(unbound function|no such function)/u, 'it calls a function that there is none of'],
  [/(divide|division|modulus) by zero|overflow|out of range/u, 'a number is out of range'],
];
export const NOT_JUDGED = 'it cannot be judged over these facts';

/** `detail` is one of a closed set of sentences; `said` is what the library says, where that is another. */
export function notJudged(cause: unknown): { readonly ok: false; readonly detail: string; readonly said?: string } {
  const said = messageOf(cause);
  if (cause instanceof ConditionTooCostly) return { ok: false, detail: said };
  return { ok: false, detail: WORDS.find(([begins]) => begins.test(said))?.[1] ?? NOT_JUDGED, said };
}

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
