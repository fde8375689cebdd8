// The calls of a reversal: the call a recovery makes, then those in its `then`, each under a key of its own.
//
// Boundary: pure. A reversal of one call is a list of one.
import type { Json } from '@recourse/kernel';
import type { LegStep, MutationRef, Observation, RecoveryCall } from '@recourse/messages';
import { readPointer } from './json-pointer.js';
import { plainPayload, readPayload } from './payload.js';

/** How many calls undo it, from 1. */
export function callCountOf({ then }: Pick<RecoveryCall, 'then'>): number {
  return 1 + then.length;
}

/** Calls that undo a mutation, from 1: its pointer names those that follow the first. */
export function callsBehind({ reversal_then: then }: Pick<MutationRef, 'reversal_then'>): number {
  return callCountOf({ then });
}

/** Capabilities that act, in the order of the calls. */
export function capabilitiesOf({ capability, then }: Pick<RecoveryCall, 'capability' | 'then'>): readonly string[] {
  return [capability, ...then.map((one) => one.capability)];
}

/** Id or key of the call at a position: that of the first, then with `_2` and so on. */
export function keyAt(key: string, position: number): string {
  return position === 1 ? key : `${key}_${String(position)}`;
}

/**
 * The call at a position from 1, as if it were the only one.
 *
 * Shape: without what earlier calls give, which `argsAt` adds; null where there is no such call.
 */
export function callAt(call: RecoveryCall, position: number): RecoveryCall | null {
  if (position === 1) return { ...call, then: [] };
  const one = call.then[position - 2];
  if (one === undefined) return null;
  return {
    ...call,
    call_id: keyAt(call.call_id, position),
    idempotency_key: keyAt(call.idempotency_key, position),
    capability: one.capability,
    args: one.args,
    then: [],
  };
}

/**
 * Arguments of the call at a position, those among them that the verifications of earlier calls saw.
 *
 * Shape:  undefined where one of them cannot be read, or was not seen.
 */
export function argsAt(call: RecoveryCall, position: number, observations: readonly Observation[]): Json | undefined {
  const bound = readable(callAt(call, position)?.args);
  const taken = call.then[position - 2]?.taken ?? [];
  if (position === 1 || bound === undefined || taken.length === 0) return bound;
  const seen = taken.map((one) => {
    const last = observations.findLast(({ phase, call: of }) => phase === 'verify' && of === one.call);
    const observed = readable(last?.observed);
    return [one.name, observed === undefined ? undefined : readPointer(observed, one.path)] as const;
  });
  // Arguments have names: they are an object.
  return seen.some(([, value]) => value === undefined)
    ? undefined
    : { ...(bound as Readonly<Record<string, Json>>), ...(Object.fromEntries(seen) as Readonly<Record<string, Json>>) };
}

/**
 * A step of a leg as its worker makes the call at a position: what follows the first is neither checked for staleness, which the
 * calls before it ended, nor reconciled by another capability than the one that verifies it.
 *
 * Shape: null where there is no such call; `args` undefined leaves its own arguments as they are.
 */
export function stepAt(step: LegStep, position: number, args: Json | undefined): LegStep | null {
  const call = callAt(step.call, position);
  const one = step.call.then[position - 2];
  if (call === null) return null;
  if (one === undefined) return { ...step, call };
  return {
    ...step,
    step_id: keyAt(step.step_id, position),
    call: args === undefined ? call : { ...call, args: plainPayload(args) },
    reconcile_capability: null,
    stale_capability: null,
    stale_condition: null,
    stale_compares: null,
    verify_capability: one.verify_capability,
    success_condition: one.success_condition,
    verify_max_attempts: one.verify_max_attempts,
    verify_delay_ms: one.verify_delay_ms,
  };
}

function readable(payload: RecoveryCall['args'] | undefined): Json | undefined {
  try {
    return payload === undefined ? undefined : readPayload(payload);
  } catch {
    return undefined;
  }
}
