// Values of a program as they travel.
import type { Json } from '@recourse/kernel';

/** Anything as JSON: a bigint is its text, what JSON leaves out is null. Errors: TypeError for what goes round in circles. */
export function jsonOf(value: unknown): Json {
  const text = JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) as
    string | undefined;
  return text === undefined ? null : (JSON.parse(text) as Json);
}
