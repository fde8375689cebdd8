// What is known of an earlier call of the same effect, before it is made again.
//
// Boundary: asks the record; what it means is decided in standing.decisions.ts.
import { hasSideEffects } from '@recourse/contract';
import type { Action } from '../producer/producer.js';
import { mutationOf } from './action.js';
import type { GuardedResult, GuardOptions } from './guard.messages.js';
import { objection, trouble } from './objections.js';
import type { Situation, Stop } from './objections.js';
import { isRunning } from './same-effect.js';
import { earlierCall } from './standing.decisions.js';

const RUNS = trouble('RECONCILIATION_PENDING', 'a call that was begun here has not come back yet');

/** Asks whether the call still runs here, and the record whether it was made before. A recovery's attempts are reconciled by who asks for them. */
export async function standingOf({ call, action, options }: Situation): Promise<Stop | { readonly attempt: number }> {
  if (call.recovery !== undefined) return { attempt: call.recovery.attempt };
  // Whatever the record says of it meanwhile: what is under way may still have its effect.
  const beside =
    isRunning(action, options) && hasSideEffects(options.contract) ? objection(options, RUNS, pending(action)) : null;
  if (beside !== null) return beside;
  if (options.standing === undefined) return { attempt: 1 };
  const earlier = earlierCall(await options.standing.of(mutationOf(action), action.runId), options.contract);
  if (earlier.code === null) return { attempt: earlier.attempt };
  return (
    objection(options, trouble(earlier.code, earlier.message), endOf(earlier.end, action, options)) ?? { attempt: 1 }
  );
}

function endOf(
  end: 'succeeded' | 'uncertain' | 'held' | 'refused',
  action: Action,
  options: GuardOptions,
): GuardedResult | undefined {
  const mutation_refs = [mutationOf(action)];
  switch (end) {
    case 'succeeded':
      return { kind: 'succeeded', mutation_refs, error_kind: null };
    case 'uncertain':
      return pending(action);
    case 'held':
      return heldResult(action, options);
    case 'refused':
      return undefined;
  }
}

/** The answer while nobody knows how an earlier call ended. */
export function pending(action: Action): GuardedResult {
  return { kind: 'uncertain', mutation_refs: [mutationOf(action)], error_kind: 'RECONCILIATION_PENDING' };
}

/** The answer while the ledger holds an effect. */
export function heldResult(action: Action, { contract }: GuardOptions): GuardedResult {
  return { kind: 'held', mutation_refs: [mutationOf(action)], error_kind: null, hold_ms: contract.commit_hold_ms ?? 0 };
}
