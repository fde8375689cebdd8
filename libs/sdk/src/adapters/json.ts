// Values of a program as they travel.
import type { Json } from '@recourse/kernel';
import type { GuardOptions } from '../guard/guard.messages.js';
import { hearing, trouble } from '../guard/objections.js';

/** Anything as JSON: a bigint is its text, what JSON leaves out is null. Errors: TypeError for what goes round in circles. */
export function jsonOf(value: unknown): Json {
  const text = JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) as
    string | undefined;
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/**
 * What a tool answered, as JSON. Whoever wrote the tool is told where JSON keeps nothing of it, or of a part of it.
 *
 * Shape:  the tool has acted: what cannot be JSON at all (it goes round in circles) stays as it is, and is left out of the record by the guard.
 * Errors: those of the answer's own getters.
 */
export function answerOf(answer: unknown, options: Pick<GuardOptions, 'onTrouble'>): Json {
  const { onTrouble } = hearing(options);
  const lost = new Set<string>();
  const told = writtenOf(answer, lost);
  for (const what of lost)
    onTrouble?.(
      trouble(
        'RESULT_UNRECORDED',
        `the tool answered with ${what}, of which JSON keeps nothing: have it answer with an object`,
      ),
    );
  return told;
}

function writtenOf(answer: unknown, lost: Set<string>): Json {
  try {
    const text = JSON.stringify(answer, (_name, one: unknown) => {
      const what = lossOf(one);
      if (what !== null) lost.add(what);
      return typeof one === 'bigint' ? String(one) : one;
    }) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as Json);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return answer as Json; // it is none, and the guard finds that out
  }
}

function lossOf(value: unknown): string | null {
  if (value instanceof Error) return `an error (${value.name})`;
  if (value instanceof Promise) return 'a promise that nobody waited for';
  return value instanceof Map || value instanceof Set ? `a ${value.constructor.name}` : null;
}
