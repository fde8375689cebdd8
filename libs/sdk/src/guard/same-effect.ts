// Calls of one effect that are under way at once here, as where a caller calls one off and makes it again: they share one reservation.
//
// Boundary: counts, in memory; asks nobody.
import type { Action } from '../producer/producer.js';
import { mutationOf } from './action.js';
import type { Budget } from './budget.port.js';

const underWay = new WeakMap<Budget, Map<string, number>>();

/** Makes a call, and counts it until it has ended. */
export async function counted<Answer>(
  action: Action,
  budget: Budget | undefined,
  call: () => Promise<Answer>,
): Promise<Answer> {
  if (budget === undefined) return call();
  const counts = underWay.get(budget) ?? new Map<string, number>();
  underWay.set(budget, counts);
  const id = mutationOf(action);
  counts.set(id, (counts.get(id) ?? 0) + 1);
  try {
    return await call();
  } finally {
    const left = (counts.get(id) ?? 1) - 1;
    if (left === 0) counts.delete(id);
    else counts.set(id, left);
  }
}

/** Is no other call of this effect under way here, whose reservation it is as well? */
export function isLast(action: Action, budget: Budget): boolean {
  return (underWay.get(budget)?.get(mutationOf(action)) ?? 1) <= 1;
}
