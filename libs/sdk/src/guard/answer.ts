// What a tool answered, read: as JSON, and whether it says that something went wrong.
//
// Boundary: pure. Whoever reads it has a call to tell of, which has had an effect or not: nothing here throws.
import type { Json } from '@recourse/kernel';
import { memberOf } from '../tool/thrown.js';
import { written } from '../written.js';
import type { Written } from '../written.js';
import { failureOf } from './failure.decisions.js';
import type { ToolFailure } from './failure.decisions.js';
import { verdictFor } from './verdict.decisions.js';
import type { ToolVerdict } from './verdict.decisions.js';

/** An error that an answer carries. */
export interface AnsweredError {
  readonly verdict: ToolVerdict;
  readonly failure: ToolFailure;
}

/** An answer as it stands now; `error` is null where it carries none. */
export interface Answer {
  readonly written: Written;
  readonly error: AnsweredError | null;
}

/** Reads an answer. Errors: none. */
export function readAnswer(given: unknown): Answer {
  const text = written(given);
  // JSON may keep nothing of an error that the answer itself names.
  return { written: text, error: errorIn(text.json) ?? errorIn(signsOf(given)) };
}

function errorIn(result: Json): AnsweredError | null {
  try {
    const verdict = verdictFor({ on: 'result', result });
    return verdict === null ? null : { verdict, failure: failureOf({ on: 'result', result }) };
  } catch {
    return null;
  }
}

/** Members by which a result says that something went wrong. */
const SIGNS = ['isError', 'ok', 'success', 'error', 'error_code', 'code', 'message', 'status', 'status_code'];

function signsOf(given: unknown): Json {
  const said = SIGNS.map((name) => [name, memberOf(given, name)] as const);
  const kept = said.filter(([, sign]) => sign !== undefined && typeof sign !== 'function');
  // Whoever reads it looks at each, and takes what is no text and no number for none.
  return Object.fromEntries(kept) as Json;
}
