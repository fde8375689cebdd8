// Arguments of a compensation that come from the result of an earlier one: `steps.<capability>.result` (docs/design/contracts.md).
//
// Boundary: pure; reads the contract the mutation executed under, its execution, and the other steps of the recovery.
//
// Invariants
//   B1. Only the result of a compensation that another capability has verified is read; never that of a call that answered.
//   B2. Nothing is guessed: an argument that cannot come any more sends the step to a person, and so does one that two effects could give.
//   B3. Only an effect about the same subject gives one: a run may do the same for several.
import { bindReversal, jsonOfPayload, plainPayload, reversalCallsOf } from '@recourse/contract';
import type { BindingFacts, Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Execution, MutationRef, Payload } from '@recourse/messages';
import { answerOf } from './answer.transitions.js';
import type { StepDoc } from './step.messages.js';
import { isAtRest } from './step.transitions.js';

export type StepBinding =
  | { readonly kind: 'bound'; readonly ref: MutationRef; readonly from: readonly string[] }
  /** A compensation that may still give the argument is on its way, or has not begun. */
  | { readonly kind: 'pending'; readonly missing: readonly string[] }
  /** The compensation that would give it came to rest without, or without a result. */
  | { readonly kind: 'missing'; readonly missing: readonly string[] }
  /** It was never a matter of other steps. */
  | { readonly kind: 'incomplete' };

/** A mutation whose reversal arguments are not all there. */
export interface Unbound {
  readonly tenant: string;
  readonly mutation_id: string;
  readonly execution: Execution;
  readonly ref: MutationRef;
}

/** Capabilities whose compensations give arguments of this contract. */
export function stepSources(contract: Contract): readonly string[] {
  return [
    ...new Set(
      reversalCallsOf(contract).flatMap(({ args }) =>
        Object.values(args).flatMap((arg) => (arg.from === 'step' ? [arg.capability] : [])),
      ),
    ),
  ];
}

/**
 * Binds what is left, from the steps of the recovery.
 *
 * Shape:  `steps` are those of the run; only those of the same tenant are read.
 * Errors: none; sealed or broken payloads are `incomplete`, or `missing` where a result was wanted.
 */
export function bindFromSteps(unbound: Unbound, contract: Contract | null, steps: readonly StepDoc[]): StepBinding {
  const capabilities = contract === null ? [] : stepSources(contract);
  const base = factsOf(unbound);
  if (contract === null || capabilities.length === 0 || base === null) return { kind: 'incomplete' };
  const found = capabilities.map((capability) => ({ capability, giving: sourcesOf(capability, unbound, steps) }));
  const ambiguous = found.filter(({ giving }) => giving.length > 1);
  if (ambiguous.length > 0)
    return { kind: 'missing', missing: ambiguous.map(({ capability }) => `steps.${capability}.result`) };
  const sources = found.map(({ capability, giving: [step] }) => ({ capability, step }));
  const results = Object.fromEntries(
    sources.flatMap(({ capability, step }) => {
      const result = step === undefined ? undefined : resultOf(step);
      return result === undefined ? [] : [[capability, result]];
    }),
  );
  const binding = bindReversal(contract, { ...base, steps: results });
  if (binding.kind === 'bound')
    return {
      kind: 'bound',
      ref: { ...unbound.ref, reversal_args: plainPayload(binding.args), reversal_then: binding.then },
      from: sources.flatMap(({ step }) => legThatGave(step) ?? []),
    };
  if (binding.kind === 'none' || !binding.missing.every((place) => place.startsWith('steps.')))
    return { kind: 'incomplete' };
  // A source that has a result lacks the field; one that is at rest without a result gives none.
  return sources.every(({ step }) => step !== undefined && isAtRest(step.phase)) ||
    sources.some(({ step }) => step !== undefined && isAtRest(step.phase) && resultOf(step) === undefined)
    ? { kind: 'missing', missing: binding.missing }
    : { kind: 'pending', missing: binding.missing };
}

/** The leg in whose attempt the answer was heard. */
function legThatGave(step: StepDoc | undefined): string | undefined {
  const heard = step === undefined ? undefined : answerOf(step);
  return step?.legs.findLast(({ attempt }) => attempt === heard?.attempt)?.leg_id;
}

/** What a compensation returned, also to an attempt before the one that was verified: they carry one key. Undefined unless it was verified and its answer can be read. */
export function resultOf(step: StepDoc): Json | undefined {
  const heard = step.phase === 'compensated' ? answerOf(step) : undefined;
  return heard === undefined ? undefined : jsonOfPayload(heard.answer.observed);
}

function sourcesOf(
  capability: string,
  { tenant, mutation_id, execution }: Unbound,
  steps: readonly StepDoc[],
): readonly StepDoc[] {
  return steps.filter(
    (step) =>
      step.tenant === tenant &&
      step.mutation_id !== mutation_id &&
      step.execution.capability === capability &&
      step.execution.subject_ref === execution.subject_ref,
  );
}

function factsOf({ execution, ref }: Unbound): BindingFacts | null {
  const [args, result, priorValue] = [
    jsonOfPayload(execution.args),
    optional(execution.result),
    optional(execution.prior_value),
  ];
  if (args === undefined || result === undefined || priorValue === undefined) return null;
  return { args, result, priorValue, externalRef: ref.external_transaction_ref };
}

function optional(payload: Payload | null): Json | undefined {
  return payload === null ? null : jsonOfPayload(payload);
}
