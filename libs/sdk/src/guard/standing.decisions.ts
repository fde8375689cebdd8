// What the record of an effect means for calling its tool again. Pure.
import { hasSideEffects } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { textOf } from './objections.js';
import type { StandingAnswer } from './standing.port.js';

export type EarlierCall =
  /** It may be made, as this attempt. */
  | { readonly code: null; readonly attempt: number }
  | {
      readonly code:
        'ALREADY_EXECUTED' | 'CANCELLED' | 'ROLLED_BACK' | 'RECONCILIATION_PENDING' | 'STANDING_UNAVAILABLE';
      readonly message: string;
      readonly end: 'succeeded' | 'uncertain' | 'held' | 'refused';
    };

/**
 * Says whether a tool may be called, given what is on record.
 *
 * Shape: a further attempt only when the record says that those before had no effect; it is counted on from their ends, so that the claim of
 * one whose end is not on record stops it. A read may always be made: it leaves nothing, and whoever asks again wants its answer. What fell
 * was the wrong thing to do, so that the same call is not made again and its old answer is not good any more.
 */
export function earlierCall(answer: StandingAnswer, contract: Contract): EarlierCall {
  if (answer.kind === 'unavailable')
    return {
      code: 'STANDING_UNAVAILABLE',
      message: `the record of the effect cannot be read: ${textOf(answer.cause)}`,
      end: 'refused',
    };
  if (answer.kind === 'unrecorded') return { code: null, attempt: 1 };
  if (!hasSideEffects(contract)) return { code: null, attempt: 1 };
  if (answer.fell)
    return {
      code: 'ROLLED_BACK',
      message: `the effect was rolled back since, and is ${answer.recoverability}: look at why, and do another thing`,
      end: 'refused',
    };
  if (answer.recoverability === 'cancelled')
    return { code: 'CANCELLED', message: 'the effect was cancelled during its hold', end: 'refused' };
  switch (answer.execution) {
    case 'succeeded':
      return { code: 'ALREADY_EXECUTED', message: 'the effect is there', end: 'succeeded' };
    case 'failed':
      return { code: null, attempt: answer.ends + 1 };
    case 'planned':
      return waiting((contract.commit_hold_ms ?? 0) > 0 ? 'held' : 'uncertain');
    case 'executing':
    case 'uncertain':
      return waiting('uncertain');
  }
}

function waiting(end: 'held' | 'uncertain'): EarlierCall {
  return {
    code: 'RECONCILIATION_PENDING',
    message: end === 'held' ? 'the effect is held' : 'a call was begun, and nobody knows yet how it ended',
    end,
  };
}
