// The call itself, and what came of it: bounded, read, and said to whoever runs the tool.
//
// Boundary: calls the tool once, through `attempt`; what is told of it and what its caller hears is the guard's.
import type { BindingFacts } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { ActionOutcome } from '../producer/producer.js';
import { within } from '../within.js';
import { lossText } from '../written.js';
import type { Written } from '../written.js';
import { attempt, LATE } from './attempt.js';
import type { Attempted } from './attempt.js';
import type { ToolFailure } from './failure.decisions.js';
import type { GuardOptions } from './guard.messages.js';
import { missingFor } from './handle.js';
import { trouble } from './objections.js';
import type { Situation } from './objections.js';
import { resultProblem } from './recorded.js';
import { whileRunning } from './same-effect.js';
import type { ToolVerdict } from './verdict.decisions.js';

/** What came of a call. */
export type Performed = Omit<ActionOutcome, 'errorKind'> & {
  readonly errorKind: ToolVerdict['kind'] | null;
  readonly failure?: ToolFailure;
  /** All that the tool said; `result` is what is recorded of it. */
  readonly answered: Json | null;
};

/** What came of a call that was made, or given up. */
export interface Made {
  readonly performed: Performed;
  /** What comes of it all the same, where it was given up: the tool goes on. */
  readonly late: Promise<Performed> | null;
}

/** Makes the call. Errors: none, nor of what comes late. */
export async function perform(situation: Situation, priorValue: Json | null): Promise<Made> {
  const { action, options } = situation;
  // The window may only be shortened by us: it counts from before the call.
  const committedAt = options.clock.now();
  const read = (attempted: Attempted): Performed => performedOf(attempted, situation, { priorValue, committedAt });
  const calling = attempt(situation);
  const coming = options.mode === 'off' ? calling : whileRunning(action, options, calling);
  const attempted = await bounded(coming, situation);
  return { performed: read(attempted), late: attempted === LATE ? coming.then(read) : null };
}

function performedOf(
  attempted: Attempted,
  situation: Situation,
  { priorValue, committedAt }: Pick<Performed, 'priorValue' | 'committedAt'>,
): Performed {
  const { call, options } = situation;
  notedIfUnknown(attempted, options);
  const base = { result: null, answered: null, priorValue, externalTransactionRef: null, committedAt };
  if ('verdict' in attempted)
    return {
      ...base,
      outcome: attempted.verdict.effect === 'none' ? 'failed' : 'uncertain',
      errorKind: attempted.verdict.kind,
      ...(attempted.failure === undefined ? {} : { failure: attempted.failure }),
    };
  const { answer, externalTransactionRef: externalRef } = attempted;
  const result = recordedOf(situation, priorValue, answer);
  notedIfIncomplete({ args: call.args, result, priorValue, externalRef }, options);
  const said = { result, answered: answer.json, externalTransactionRef: externalRef };
  return { ...base, ...said, outcome: 'succeeded', errorKind: null };
}

/** Given up when it takes longer than the contract says; who asks for a recovery gives up itself, and has to know whether the call still runs (C43). */
function bounded(calling: Promise<Attempted>, { call, options }: Situation): Promise<Attempted> {
  const { clock, contract } = options;
  return call.recovery === undefined ? within(clock, contract.call_timeout_ms, calling, LATE) : calling;
}

/** The call was made, so that it is told of whatever the tool answered: without what no record holds. */
function recordedOf({ action, options }: Situation, priorValue: Json | null, answer: Written): Json | null {
  const { json, lost } = answer;
  const why = answer.problem ?? (options.mode === 'off' ? null : resultProblem(action, priorValue, json));
  const what =
    why !== null
      ? `its answer is left out: ${why}`
      : lost.length > 0
        ? `the tool answered with ${lossText(lost)}, and it is left out: have it answer with text, numbers, lists and plain objects`
        : null;
  if (what !== null)
    options.onTrouble?.(trouble('RESULT_UNRECORDED', `${options.contract.name} has acted, and ${what}`));
  return why === null ? json : null;
}

/** Said while whoever wrote the tool looks at it, and not on the day on which the effect has to be undone. */
function notedIfIncomplete(facts: BindingFacts, { contract, mode, onTrouble }: GuardOptions): void {
  const missing = mode === 'off' ? [] : missingFor(contract, facts);
  if (missing.length > 0)
    onTrouble?.(
      trouble(
        'HANDLE_INCOMPLETE',
        `${contract.name} has acted, and what it is undone with was not captured: ${missing.join(', ')}. Undoing it will be a person's. ` +
          'Have the tool answer with it, or correct what the contract reads',
      ),
    );
}

/** What failed in a call that may have had an effect is no business of an agent; whoever runs the tool has to read it somewhere. */
function notedIfUnknown(attempted: Attempted, { onTrouble }: GuardOptions): void {
  if (!('verdict' in attempted) || attempted.verdict.effect !== 'unknown') return;
  const { kind } = attempted.verdict;
  const said =
    attempted.failure === undefined ? 'no answer in time' : `${attempted.failure.code}: ${attempted.failure.message}`;
  onTrouble?.(trouble('TOOL_UNCERTAIN', `${kind}: ${said}`));
}
