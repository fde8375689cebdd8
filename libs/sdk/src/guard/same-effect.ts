// Calls of one effect that are under way at once here, as where a caller calls one off and makes it again: they share what is reserved and staged.
//
// Boundary: counts, in memory; asks nobody.
//
// Invariants
//   E1. What is reserved or staged for an effect is given back by the last of its calls here, and by none once one of them has told its
//       intent, or may have, unless that one ended without effect. A call that was given up is one of them until its tool comes back.
import type { Action } from '../producer/producer.js';
import { mutationOf } from './action.js';
import type { GuardOptions } from './guard.messages.js';

/** Calls of one effect; those that hold it have told their intent, or may have, and of those that run the tool has not come back. */
interface Effect {
  readonly calls: number;
  readonly holding: number;
  readonly running: number;
}

const NONE: Effect = { calls: 0, holding: 0, running: 0 };
const underWay = new WeakMap<object, Map<string, Effect>>();

/** What a call is seen by: who reserves for it, or who tells of it. */
type Seen = Pick<GuardOptions, 'budget' | 'producer'>;

/** Makes a call, and counts it until it has ended. */
export async function counted<Answer>(action: Action, seen: Seen, call: () => Promise<Answer>): Promise<Answer> {
  change(action, seen, { calls: 1 });
  try {
    return await call();
  } finally {
    change(action, seen, { calls: -1 });
  }
}

/** Notes that the tool of a counted call runs, until it has come back, however late. */
export async function whileRunning<Answer>(action: Action, seen: Seen, calling: Promise<Answer>): Promise<Answer> {
  change(action, seen, { running: 1 });
  try {
    return await calling;
  } finally {
    change(action, seen, { running: -1 });
  }
}

/** Has the tool been called for this effect, and not come back yet? */
export function isRunning(action: Action, seen: Seen): boolean {
  return (effectsOf(seen).get(mutationOf(action)) ?? NONE).running > 0;
}

/** From now on its effect may come: nothing of it is given back here. */
export function holds(action: Action, seen: Seen): void {
  change(action, seen, { holding: 1 });
}

/** A call that held its effect ended without it, or left it to another. */
export function letsGo(action: Action, seen: Seen): void {
  change(action, seen, { holding: -1 });
}

/** Who else what is reserved and staged for a call is for: another call that is under way, one that holds the effect, or nobody. */
export function sharedWith(action: Action, seen: Seen): 'asking' | 'holding' | null {
  const { calls, holding } = effectsOf(seen).get(mutationOf(action)) ?? NONE;
  return holding > 0 ? 'holding' : calls > 1 ? 'asking' : null;
}

function change(action: Action, seen: Seen, by: Partial<Effect>): void {
  const effects = effectsOf(seen);
  const id = mutationOf(action);
  const before = effects.get(id) ?? NONE;
  const after = {
    calls: before.calls + (by.calls ?? 0),
    holding: before.holding + (by.holding ?? 0),
    running: before.running + (by.running ?? 0),
  };
  if (after.calls === 0) effects.delete(id);
  else effects.set(id, after);
}

function effectsOf({ budget, producer }: Seen): Map<string, Effect> {
  const by = budget ?? producer;
  const effects = underWay.get(by) ?? new Map<string, Effect>();
  underWay.set(by, effects);
  return effects;
}
