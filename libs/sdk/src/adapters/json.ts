// Values of a program as they travel.
import type { Json } from '@recourse/kernel';
import type { GuardOptions } from '../guard/guard.messages.js';
import { trouble } from '../guard/objections.js';

/** Anything as JSON: a bigint is its text, what JSON leaves out is null. Errors: TypeError for what goes round in circles. */
export function jsonOf(value: unknown): Json {
  const text = JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) as
    string | undefined;
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/** What a tool answered, as JSON. Whoever wrote the tool is told where JSON keeps nothing of it. Errors: as jsonOf. */
export function answerOf(answer: unknown, { onTrouble }: Pick<GuardOptions, 'onTrouble'>): Json {
  const lost = lossOf(answer);
  if (lost !== null)
    onTrouble?.(
      trouble(
        'RESULT_UNRECORDED',
        `the tool answered with ${lost}, of which JSON keeps nothing: have it answer with an object`,
      ),
    );
  return jsonOf(answer);
}

function lossOf(value: unknown): string | null {
  if (value instanceof Error) return `an error (${value.name})`;
  return value instanceof Map || value instanceof Set ? `a ${value.constructor.name}` : null;
}
