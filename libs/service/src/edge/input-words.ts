// What is wrong with a member of an input, in plain words: what it is, and what it may be. A check of ours that has words of its own keeps them.
import { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;

/** Longest text that is quoted back, in characters. */
const QUOTED_MAX = 40;
/** Most members that are named where none of them is taken. */
const KEYS_MAX = 10;
const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
/** What a size counts. */
const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'entries', set: 'entries' };

/** Says what is wrong with a member. Pure: zod asks it where a check has no words of its own. */
export function inputWords(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is missing: it must be ${kindOf(issue.expected)}`
        : `is ${shown(issue.input)}, and must be ${kindOf(issue.expected)}`;
    case 'invalid_value':
      return `is ${shown(issue.input)}, and may be ${oneOf(issue.values)}`;
    case 'too_small':
      return sizeWords(issue, `at least ${String(issue.minimum)}`, Number(issue.minimum));
    case 'too_big':
      return sizeWords(issue, `at most ${String(issue.maximum)}`, null);
    case 'unrecognized_keys':
      return unknownWords(issue.keys, issue.inst);
    case 'invalid_union':
      return `is ${shown(issue.input)}, which has none of the forms it may have`;
    default:
      return `is ${shown(issue.input)}, and does not have the form it must have`;
  }
}

function sizeWords(
  { origin, input }: RawIssue & { readonly origin: string },
  bound: string,
  least: number | null,
): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `is ${shown(input)}, and must be ${bound}`;
  if (least === 1) return 'must not be empty';
  const size = typeof input === 'string' || Array.isArray(input) ? input.length : 0;
  return `has ${String(size)} ${unit}, and must have ${bound}`;
}

function unknownWords(keys: readonly string[], schema: unknown): string {
  const taken = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const known = taken.length === 0 ? 'it takes none' : `it takes ${taken.join(', ')}`;
  const shownKeys = keys.slice(0, KEYS_MAX).map((key) => quoted(key));
  const more = keys.length > KEYS_MAX ? ` and ${String(keys.length - KEYS_MAX)} more` : '';
  return `does not take ${shownKeys.join(', ')}${more}: ${known}`;
}

function oneOf(values: readonly unknown[]): string {
  const words = values.map((value) => String(value));
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

function kindOf(expected: string): string {
  return KINDS[expected] ?? expected;
}

/** What was given, so that who sent it finds it again: nothing of lists and objects but that they are. */
function shown(input: unknown): string {
  if (input === undefined) return 'missing';
  if (typeof input === 'string') return quoted(input);
  if (typeof input === 'number') return Number.isNaN(input) ? 'no number' : String(input);
  if (typeof input === 'boolean' || input === null) return String(input);
  return Array.isArray(input) ? 'a list' : 'an object';
}

function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text);
}
