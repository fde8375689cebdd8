// Gates are run again: would the bundle that stands now admit a commit without what fell (E15)?
//
// Boundary: pure and deterministic: inputs and state come from the log, predicates from the registry's.
//
// Invariants
//   G1. What cannot be judged is not admitted: no bundle, no predicates, inputs that are gone, a state that is not kept.
//   G2. The state is the one before the commit without what fell; of what fell the gate sees nothing.
import { isJsonObject } from '@recourse/kernel';
import { admissionVerdict, PayloadUnreadable, readPayload } from '@recourse/contract';
import type { EntryBody, Verdict } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Gate } from '@recourse/messages';

/** A version of a policy bundle. */
export interface StandingBundle {
  readonly version: number;
  readonly body: EntryBody<'policy_bundle'>;
}

const REFUSED = (reason: string): Verdict => ({ admitted: false, code: 'POLICY_UNDECIDED', reason });

/** Runs the predicates of a bundle over the inputs of a gate and a state. */
export function runAgain(gate: Pick<Gate, 'inputs'>, bundle: StandingBundle | null, state: Json): Verdict {
  if (bundle === null || bundle.body.admission.length === 0)
    return REFUSED('no bundle with predicates stands under its name');
  const inputs = inputsOf(gate);
  return inputs === undefined
    ? REFUSED('the inputs of its gate are not kept')
    : admissionVerdict(bundle.body, { gate: inputs, state });
}

/** What the predicates read as `gate`; undefined when it cannot be read any more. */
export function inputsOf({ inputs }: Pick<Gate, 'inputs'>): Json | undefined {
  if (inputs === null) return {};
  try {
    const told = readPayload(inputs);
    return isJsonObject(told) ? (told['gate'] ?? {}) : undefined;
  } catch (cause) {
    if (cause instanceof PayloadUnreadable) return undefined;
    throw cause;
  }
}
