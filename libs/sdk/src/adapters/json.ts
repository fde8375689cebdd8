// Values of a program as they travel.
import type { Json } from '@recourse/kernel';

/** Anything as JSON; what JSON leaves out is null. Errors: TypeError for what cannot travel. */
export function jsonOf(value: unknown): Json {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : (JSON.parse(text) as Json);
}
