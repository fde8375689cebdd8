// One call of a guarded tool, and what it said.
//
// Boundary: calls `execute` and reads what came back. A tool's error never leaves it.
import { isRejected } from '../tool/thrown.js';
import { isStream, lastOf } from '../tool/streamed.js';
import type { Written } from '../written.js';
import { readAnswer } from './answer.js';
import { copyOf } from './copied.js';
import { failureOf } from './failure.decisions.js';
import type { ToolFailure } from './failure.decisions.js';
import type { GuardOptions } from './guard.messages.js';
import { handleIn } from './handle.js';
import { trouble } from './objections.js';
import type { Situation } from './objections.js';
import { verdictFor } from './verdict.decisions.js';
import type { ToolVerdict } from './verdict.decisions.js';

/** What became of a call. */
export type Attempted =
  | { readonly answer: Written; readonly externalTransactionRef: string | null }
  | { readonly verdict: ToolVerdict; readonly failure?: ToolFailure };

/** A call that was not answered in time. */
export const LATE: Attempted = { verdict: { kind: 'TIMEOUT', effect: 'unknown' } };

/** Calls the tool once. Errors: none. */
export async function attempt({ tool, call, action, options }: Situation): Promise<Attempted> {
  const { idempotencyKey, callId, runId } = action;
  try {
    const given: unknown = await tool.execute(copyOf(call.args), { idempotencyKey, callId, runId });
    const said = isStream(given) ? await lastOf(given) : given;
    const { written: answer, error } = readAnswer(said);
    if (error !== null) return { ...error, verdict: believed(error.verdict, false, call) };
    return { answer, externalTransactionRef: handleNoted(said, { tool, options }) };
  } catch (error) {
    const verdict = verdictFor({ on: 'exception', error }) ?? { kind: 'UNKNOWN', effect: 'unknown' };
    return {
      verdict: believed(verdict, isRejected(error), call),
      failure: failureOf({ on: 'exception', error }),
    };
  }
}

/** A compensation is only believed what its tool says outright, as by its worker: one that had no effect is made again, without a key too. */
function believed(verdict: ToolVerdict, isOutright: boolean, { recovery }: Situation['call']): ToolVerdict {
  return recovery === undefined || isOutright ? verdict : { ...verdict, effect: 'unknown' };
}

/** The handle is read off the very answer of the tool, which may be more than JSON keeps of it. */
function handleNoted(given: unknown, { tool, options }: Pick<Situation, 'tool' | 'options'>): string | null {
  const { contract, onTrouble }: GuardOptions = options;
  const { handle, problem } = handleIn(tool, given);
  if (problem !== null) onTrouble?.(trouble('HANDLE_UNREADABLE', `${contract.name}: ${problem}`));
  return handle;
}
