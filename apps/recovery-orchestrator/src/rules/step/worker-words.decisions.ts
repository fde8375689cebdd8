// What a worker said of a step that did not end well: for whoever has to mend it, and never the reason of a verdict.
import { plainPayload } from '@recourse/contract';
import { excerpt } from '@recourse/kernel';
import type { LegVerdict, StepReport } from '@recourse/messages';
import type { KeptWords } from './last-outcome.messages.js';

/** What was said of a step, beside what was seen of it. */
export type WorkerWords = Pick<LegVerdict, 'error_kind' | 'said'>;

export const SAID_NOTHING: WorkerWords = { error_kind: null, said: null };

/** Of a sentence as much is kept, UTF-16 units: an error's message, and not its dump. */
const SAID_MAX = 1_000;
/** Kinds of errors are a closed set of workers, which later versions may widen; they stand in the clear, so free text is none. */
const ERROR_KIND = /^[A-Z][A-Z_]{0,39}$/;

/** The words of a report. The sentence may quote what the tool was called with: it is sealed as what was observed is. */
export function wordsOf(report: Pick<StepReport, 'error_kind' | 'detail'> | undefined): WorkerWords {
  if (report === undefined) return SAID_NOTHING;
  const { error_kind: kind, detail } = report;
  return {
    error_kind: kind !== null && ERROR_KIND.test(kind) ? kind : null,
    said: detail === null || detail.trim() === '' ? null : plainPayload(excerpt(detail, SAID_MAX)),
  };
}

/** The words of a record as a row keeps them: without what was not said, so that rows of records from before there were words stay what they were. */
export function wordsIn({ error_kind, said }: WorkerWords): KeptWords {
  return { ...(error_kind === null ? {} : { error_kind }), ...(said === null ? {} : { said }) };
}
