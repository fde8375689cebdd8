// Staging: the part of a reservation that is real before its effect (A51), made under the keys of the forward call.
//
// Boundary: calls the tool's `stage` and nothing else of it; what is staged is committed or given back by the ledger, through a
// worker, when the hold ends or is cancelled.
//
// Invariants
//   R1. Only what is left to the ledger is staged: whoever lets an effect go at once has nothing to stage.
//   R2. What may be staged is told: where nobody knows, the intent goes out without a handle, and a cancel still gives it back.
import type { Json } from '@recourse/kernel';
import { unfitFor } from '../producer/fitting.js';
import { copyOf } from './copied.js';
import { giveBack, objection, textOf, trouble } from './objections.js';
import type { Numbered, Situation, Stop } from './objections.js';
import { sharedWith } from './same-effect.js';
import type { ForwardContext } from './guard.messages.js';
import { verdictFor } from './verdict.decisions.js';
import { within } from '../within.js';

/** Handle of what is staged; null when nothing is, or nobody knows. */
export interface Staged {
  readonly stagedRef: string | null;
  /** The tool may have staged what it named no handle of: only its intent has that given back. */
  readonly isUnknown?: true;
}

const NOTHING_STAGED: Staged = { stagedRef: null };

type Attempted = { readonly stagedRef: string } | { readonly isRefused: boolean; readonly message: string };

/** Stages what the contract reserves; `isLeft` says that the ledger lets the effect go. */
export async function stage(situation: Numbered, isLeft: boolean): Promise<Stop | Staged> {
  const { tool, options } = situation;
  if (!isLeft || options.contract.techniques?.reservation !== true) return NOTHING_STAGED;
  const staged: Attempted =
    tool.stage === undefined
      ? { isRefused: true, message: 'the contract reserves, and the tool stages nothing' }
      : await within(options.clock, options.contract.call_timeout_ms, attempt(situation), {
          isRefused: false,
          message: `no answer within ${String(options.contract.call_timeout_ms)} ms`,
        });
  if ('stagedRef' in staged) return staged;
  if (!staged.isRefused) {
    options.onTrouble?.(trouble('STAGE_UNCERTAIN', staged.message));
    return { stagedRef: null, isUnknown: true };
  }
  await giveBack(situation);
  return (
    objection(options, trouble(tool.stage === undefined ? 'STAGE_MISSING' : 'STAGE_REFUSED', staged.message)) ??
    NOTHING_STAGED
  );
}

/** Gives back what was staged for an intent that nobody heard, unless another call of the same effect has told of it (E1). What stays is heard of, and lapses at the provider. */
export async function unstage({ tool, call, action, options }: Situation, { stagedRef }: Staged): Promise<void> {
  const shared = sharedWith(action, options);
  if (stagedRef === null || shared === 'holding') return;
  try {
    if (shared === 'asking')
      throw new Error('another call of the same effect is under way, which it is staged for as well');
    if (tool.unstage === undefined) throw new Error('the tool gives nothing back');
    await tool.unstage(copyOf(call.args), { ...contextOf(action), stagedRef });
  } catch (cause) {
    options.onTrouble?.(trouble('STAGED_LEFT', textOf(cause)));
  }
}

async function attempt({ tool, call, action }: Situation): Promise<Attempted> {
  try {
    const stagedRef: Json = (await tool.stage?.(copyOf(call.args), contextOf(action))) ?? null;
    return typeof stagedRef === 'string' && stagedRef !== '' && unfitFor('handle', { staged_ref: stagedRef }) === null
      ? { stagedRef }
      : { isRefused: false, message: 'the tool named no handle that a record holds' };
  } catch (error) {
    return { isRefused: verdictFor({ on: 'exception', error })?.effect === 'none', message: textOf(error) };
  }
}

function contextOf({ idempotencyKey, callId, runId }: Situation['action']): ForwardContext {
  return { idempotencyKey, callId, runId };
}
