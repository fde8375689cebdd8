// Copies of what a tool or a caller holds as well: what they do to it later is not told as what was planned, reserved and answered.
//
// Boundary: pure.
//
// Invariants
//   K1. Each function of a tool has arguments of its own: nothing it does to them is seen by us, nor by the next function.
//   K2. An answer is kept as it was given, and a call as it was made.
import { JSON_DEPTH_MAX } from '@recourse/kernel';
import type { GuardedCall } from './guard.messages.js';

/** A copy of JSON, as its fields have it. Shape: nothing records what lies deeper than JSON_DEPTH_MAX, and it stays as it is. */
export function copyOf<Value>(json: Value): Value {
  // A copy has the shape of what it is made of.
  return copied(json, JSON_DEPTH_MAX) as Value;
}

function copied(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  if (Array.isArray(value)) return value.map((each) => copied(each, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copied(each, levels - 1)]));
}

/** A call as it was made, with arguments that are its own already. Shape: its place has been found fit (`placeProblems`). */
export function callAsMade(call: GuardedCall): GuardedCall {
  const { run, assumptionRefs, derivedFrom } = call;
  return {
    ...call,
    run: { ...run, ...(run.release === undefined ? {} : { release: { ...run.release } }) },
    assumptionRefs: [...assumptionRefs],
    ...(derivedFrom === undefined ? {} : { derivedFrom: derivedFrom.map((parent) => ({ ...parent })) }),
  };
}
