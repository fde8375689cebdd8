// Guard: puts a tool under its reversal contract.
//
// Boundary: calls the tool once, tells the ledger before and after, and gives its caller mutation ids and what the tool
// answered: reversal arguments and provider handles stay out of what an agent reads (A36, A37).
//
// Invariants
//   G1. In `enforce` nothing is called before its intent is published, its budget reserved and its people asked; the
//       reversible part of a reservation comes before its intent, which names it (staging.ts).
//   G2. An error after the request may have left is `uncertain`, never `failed`.
//   G3. A retry or replan of the same step with the same arguments has the same effect key and idempotency key.
//   G5. A call that is called off before its intent is told has no effect, and nothing is told of it; one that is told is not called off.
//   G4. With a record or claims to ask, a call that was begun is not made again before somebody found out how it ended; and never while the
//       tool has not come back from it here, though it was given up. What that one answers late is told.
import { directiveFor, hasSideEffects, OUTCOME_OF_DIRECTIVE, PLAYBOOK } from '@recourse/contract';
import type { Directive } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Action, ActionOutcome } from '../producer/producer.js';
import { actionOf, mutationOf } from './action.js';
import { prepare, rehearse, REHEARSED } from './before.js';
import { callAsMade } from './copied.js';
import { pending } from './earlier.js';
import type {
  ForwardTool,
  GuardedCall,
  GuardedResult,
  GuardedTool,
  GuardOptions,
  GuardTrouble,
} from './guard.messages.js';
import { calledOff, hearing, objection, textOf, trouble, unlessCalledOff, withoutEffect } from './objections.js';
import type { Numbered, Situation, Stop } from './objections.js';
import type { ToolFailure } from './failure.decisions.js';
import { refuseUnusable } from './given.js';
import { tellLate } from './late.js';
import { perform } from './perform.js';
import type { Performed } from './perform.js';
import { placeProblems } from './place.js';
import { argsWritten, intentProblem } from './recorded.js';
import { counted, letsGo } from './same-effect.js';
import { shownOf } from './shown.js';
import type { Shown } from './shown.js';

/**
 * Wraps a tool.
 *
 * Shape:  `off` calls the tool and tells nobody; `observe` tells and never refuses; `enforce` refuses what the contract,
 *         the budget, people, the record or an unreachable broker forbid. A contract with a hold is not executed here in
 *         `enforce`: the ledger lets it go through a worker when the hold ends.
 * Errors: Failure(GUARD_INVALID) at once, for a tool or a mode that is none; of a call Failure(BROKER_UNAVAILABLE) when the outcome of a call that was made could not be published, in `enforce`;
 *         the same call may be repeated: it has the same keys.
 */
export function guard<Value extends Json>(tool: ForwardTool<Value>, options: GuardOptions): GuardedTool<Value> {
  refuseUnusable(tool, options);
  return async (call) => {
    const { answer, value, handle = null } = await runGuarded(tool, call, options);
    if (answer.kind !== 'succeeded' || value === null) return answer as GuardedResult<Value>;
    const shown = shownOf(value, options.contract, handle);
    // The tool's own answer, less some members: what its type says.
    return { ...answer, value: shown as Shown<Value> };
  };
}

/** A guarded call with what the tool answered: for those who act on the answer, never for an agent. */
export interface Run {
  readonly answer: GuardedResult;
  readonly value: Json | null;
  /** The provider's own reference, where the tool gave one. */
  readonly handle?: string | null;
}

/** Makes one call, unless its connection is closed. */
export async function runGuarded(tool: ForwardTool, call: GuardedCall, given: GuardOptions): Promise<Run> {
  const options = hearing(given);
  const { calls, mode } = options;
  if (mode === 'off' || calls === undefined) return placed(tool, call, options);
  const closed = trouble('CONNECTION_CLOSED', 'the connection of the guard is closed');
  return calls.begin(() => placed(tool, call, options)) ?? outOfPlace(tool, call, closed, options);
}

/** Makes a call that could be recorded. */
async function placed(tool: ForwardTool, given: GuardedCall, options: GuardOptions): Promise<Run> {
  const off = calledOff(given);
  if (off !== null) return { answer: off.stop, value: null };
  const read = argsWritten(given.args);
  // Nothing tells such a call from another, so that it is made in no mode.
  if ('problem' in read) return outOfPlace(tool, given, read.problem, { ...options, mode: 'enforce' });
  const lacking = read.lost === null ? null : objection(options, read.lost);
  if (lacking !== null) return { answer: lacking.stop, value: null };
  const misplaced = options.mode === 'off' ? [] : placeProblems(given);
  if (misplaced.length > 0) return outOfPlace(tool, given, { code: 'PLACE_INVALID', problems: misplaced }, options);
  // Nothing is told of a call in `off`, and its place may be anything.
  const made = { ...given, args: read.args };
  const call = options.mode === 'off' ? made : callAsMade(made);
  const action = actionOf(call, options);
  const unfit = options.mode === 'off' ? null : intentProblem(action, options.contract);
  if (unfit !== null) return outOfPlace(tool, call, unfit, options);
  const situation = { tool, call, action, options };
  if (options.mode === 'off') return untold(situation);
  return counted(action, options, () => told(situation));
}

/** Makes a call of which nobody is told, or rehearses it, which calls nothing in any mode. */
async function untold(situation: Situation): Promise<Run> {
  if (situation.call.isRehearsal === true) {
    const rehearsed = await unlessCalledOff(situation.call, rehearse(situation));
    return { answer: 'stop' in rehearsed ? rehearsed.stop : REHEARSED, value: null };
  }
  const { performed: outcome } = await perform(situation, null);
  return {
    answer: {
      kind: outcome.outcome,
      mutation_refs: [],
      error_kind: outcome.errorKind,
      ...whyOf(outcome),
      ...directed(situation, outcome, 1),
    },
    value: outcome.answered,
    handle: outcome.externalTransactionRef,
  };
}

/** Makes a call of which everybody is told: what is asked before, the call, and what came of it. */
async function told(situation: Situation): Promise<Run> {
  const { action, options } = situation;
  const ready = await prepare(situation);
  if ('stop' in ready) return { answer: ready.stop, value: null };
  const made = { ...situation, attempt: ready.attempt };
  const taken = await claim(made);
  if (taken !== null) return { answer: taken.stop, value: null };
  const { performed: outcome, late } = await perform(situation, ready.priorValue);
  if (late !== null) tellLate(made, late);
  const followed = directed(situation, outcome, ready.attempt);
  const { failure: _words, answered, ...ended } = outcome;
  await tell(
    action,
    { ...ended, handledAs: followed === null ? null : OUTCOME_OF_DIRECTIVE[followed.directive.do] },
    options,
  );
  if (outcome.outcome === 'failed') await withoutEffect(made);
  return {
    answer: {
      kind: outcome.outcome,
      mutation_refs: [mutationOf(action)],
      error_kind: outcome.errorKind,
      ...whyOf(outcome),
      ...followed,
    },
    value: answered,
    handle: outcome.externalTransactionRef,
  };
}

/** A call that nobody could record is not made, or, in `observe`, made and told to nobody. */
async function outOfPlace(
  tool: ForwardTool,
  call: GuardedCall,
  problem: GuardTrouble,
  options: GuardOptions,
): Promise<Run> {
  const stopped = objection(options, problem);
  return stopped === null
    ? await placed(tool, unplaced(call), { ...options, mode: 'off' })
    : { answer: stopped.stop, value: null };
}

/** A call of which nobody is told: what is wrong with what it relies on matters to nobody. */
function unplaced({ run, ...call }: GuardedCall): GuardedCall {
  const { release: _release, ...rest } = { ...run };
  return { ...call, run: rest, assumptionRefs: [], derivedFrom: [] };
}

/** What failed, for an answer; nothing of a call that may have had an effect. */
function whyOf({ outcome, failure }: Performed): { readonly failure?: ToolFailure } {
  return outcome === 'failed' && failure !== undefined ? { failure } : {};
}

/** What the playbook says of a call that failed; null for one that did not. */
function directed(
  { call, options }: Situation,
  { outcome, errorKind }: Performed,
  attempt: number,
): { readonly directive: Directive } | null {
  if (errorKind === null) return null;
  const { actions = PLAYBOOK, attemptsMax = ATTEMPTS_MAX } = options.playbook ?? {};
  return {
    directive: directiveFor(
      {
        kind: errorKind,
        effect: outcome === 'failed' ? 'none' : 'unknown',
        attempt,
        attemptsMax,
        // What stands as tried again was tried on refreshed evidence, whoever counts.
        refreshes: Math.max(call.refreshes ?? 0, attempt - 1),
      },
      actions,
    ),
  };
}

/** Calls of one effect, unless told. */
const ATTEMPTS_MAX = 3;

/** Makes durable, last before the call, that it is made; a read leaves nothing, and is made every time (A8). */
async function claim(made: Numbered): Promise<Stop | null> {
  const { action, options, attempt } = made;
  if (options.claims === undefined || !hasSideEffects(options.contract)) return null;
  try {
    const answer = await options.claims.claim({ id: mutationOf(action), attempt, workerId: action.agentId });
    if (answer === 'granted') return null;
    const begun = trouble('RECONCILIATION_PENDING', 'a call was begun here, and nobody knows yet how it ended');
    const stopped = objection(options, begun, pending(action));
    // What is reserved is for the call that was begun: that one gives it back, if it fails.
    if (stopped !== null) letsGo(action, options);
    return stopped;
  } catch (cause) {
    const stopped = objection(options, trouble('CLAIM_UNAVAILABLE', textOf(cause)));
    if (stopped !== null) await withoutEffect(made);
    return stopped;
  }
}

async function tell(action: Action, outcome: ActionOutcome, options: GuardOptions): Promise<void> {
  try {
    await options.producer.toolExecuted(action, outcome);
  } catch (cause) {
    options.onTrouble?.(trouble('OUTCOME_NOT_PUBLISHED', textOf(cause)));
    if (options.mode === 'enforce') throw cause;
  }
}
