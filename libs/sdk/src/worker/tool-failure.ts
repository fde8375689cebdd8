// What an error of a tool means to its worker.
import type { LegRequested } from '@recourse/messages';
import { verdictFor } from '../guard/verdict.decisions.js';
import { isRejected } from '../tool/thrown.js';
import type { CallFailure } from './leg.messages.js';

/** What an error of a tool says of its call: refused, lost to somebody else, or nobody knows. */
export function failureOf(error: unknown, kind: LegRequested['kind']): CallFailure {
  if (!hadNoEffect(error, kind)) return 'TOOL_ERROR';
  return verdictFor({ on: 'exception', error })?.kind === 'EVIDENCE_STALE' ? 'TOOL_CONFLICT' : 'TOOL_REJECTED';
}

/** A forward call's errors are read as its guard reads them; a compensation is only believed what it says outright. */
function hadNoEffect(error: unknown, kind: LegRequested['kind']): boolean {
  return isRejected(error) || (kind === 'release' && verdictFor({ on: 'exception', error })?.effect === 'none');
}
