// A call on its way through the guard, and what objects to it.
import type { Action } from '../producer/producer.js';
import { quietly } from '../quietly.js';
import { wordsOf } from '../tool/thrown.js';
import { reservationOf } from './action.js';
import { letsGo, sharedWith } from './same-effect.js';
import type {
  ForwardTool,
  GuardedCall,
  GuardedResult,
  GuardOptions,
  GuardTrouble,
  GuardTroubleCode,
} from './guard.messages.js';

/** One call on its way. */
export interface Situation {
  readonly tool: ForwardTool;
  readonly call: GuardedCall;
  readonly action: Action;
  readonly options: GuardOptions;
}

/** The same, once it is known which attempt of its effect it is. */
export interface Numbered extends Situation {
  readonly attempt: number;
}

/** What was reserved, and by which attempt. */
type Reserved = Pick<Numbered, 'action' | 'options' | 'attempt'>;

/** Why a call stops here, as its caller hears it. */
export interface Stop {
  readonly stop: GuardedResult;
}

/** In `enforce` a trouble ends the call, refused unless there is more to say; otherwise it is only heard. */
export function objection(options: GuardOptions, trouble: GuardTrouble, result?: GuardedResult): Stop | null {
  options.onTrouble?.(trouble);
  return options.mode === 'enforce' ? { stop: result ?? { kind: 'refused', mutation_refs: [], ...trouble } } : null;
}

/** A call that whoever made it no longer wants, in whatever mode: nothing was called. */
export function calledOff({ signal }: Pick<GuardedCall, 'signal'>): Stop | null {
  if (signal?.aborted !== true) return null;
  const why = `the signal of the call was aborted before it was made: ${textOf(signal.reason)}`;
  return { stop: { kind: 'refused', mutation_refs: [], ...trouble('CALLED_OFF', why) } };
}

/** What is looked at for a call, or, at once, that it was called off meanwhile: nobody waits for what is still looked at. */
export async function unlessCalledOff<Found>(
  call: Pick<GuardedCall, 'signal'>,
  looking: Promise<Found>,
): Promise<Found | Stop> {
  const { signal } = call;
  if (signal === undefined) return looking;
  const { promise: aborted, resolve } = Promise.withResolvers<null>();
  const callOff = (): void => {
    resolve(null);
  };
  signal.addEventListener('abort', callOff, { once: true });
  try {
    await Promise.race([looking, aborted]);
    return calledOff(call) ?? (await looking);
  } finally {
    signal.removeEventListener('abort', callOff);
  }
}

/** Gives back what was reserved, unless it is reserved for another call of the same effect as well (E1). A reservation that stays is cautious, and visible: the caller's answer does not wait on it. */
export async function giveBack({ action, options, attempt }: Reserved): Promise<void> {
  const { budget, contract } = options;
  const reserving = reservationOf(action, contract, null);
  if (budget !== undefined && reserving.kind === 'reserve' && sharedWith(action, options) === null)
    await budget.release({ ...reserving.request, attempt });
}

/** A call whose intent is told certainly had no effect: what was reserved for it is given back. */
export async function withoutEffect(reserved: Reserved): Promise<void> {
  letsGo(reserved.action, reserved.options);
  await giveBack(reserved);
}

/** Options whose listener takes no call with it: one that was made is told of, whatever becomes of a log. */
export function hearing<Of extends Pick<GuardOptions, 'onTrouble'>>(options: Of): Of {
  const { onTrouble } = options;
  return onTrouble === undefined ? options : { ...options, onTrouble: quietly(onTrouble) };
}

/** A trouble with one problem. */
export const trouble = (code: GuardTroubleCode, message: string): GuardTrouble => ({
  code,
  problems: [{ code, message }],
});
/** Text of whatever was thrown. */
export const textOf = (cause: unknown): string => wordsOf(cause);
