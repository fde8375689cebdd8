// Binding: the arguments of the reversal, taken from the facts of the execution when it is accepted (A32).
import type { Json } from '@recourse/kernel';
import type { ReversalCall, TakenArg } from '@recourse/messages';
import { reversalCallsOf, reversalCapabilityOf } from './class.js';
import type { DeclaredCall } from './class.js';
import { readPointer } from './json-pointer.js';
import { plainPayload } from './payload.js';
import type { Contract, ReversalArg } from './shape.js';
import { VERIFY_DELAY_MS } from './terms.js';

/** Facts of one execution. A null prior value counts as not captured. */
export interface BindingFacts {
  readonly args: Json;
  readonly result: Json | null;
  readonly priorValue: Json | null;
  readonly externalRef: string | null;
  /** What verified compensations of the recovery answered, by the capability they undid; there are none when an execution is accepted. */
  readonly steps?: Readonly<Record<string, Json>>;
}

export type Binding =
  /** `args` are those of the first call, `then` are the calls that follow it. */
  | { readonly kind: 'bound'; readonly args: Json; readonly then: readonly ReversalCall[] }
  /** `missing` names what is not there: `prior_value`, `external_transaction_ref`, `args/path`, `result/path`, or `steps.<capability>.result/path`. */
  | { readonly kind: 'incomplete'; readonly missing: readonly string[] }
  | { readonly kind: 'none' };

/** Binds the reversal of an execution; `none` where the contract has no reversal for machines. */
export function bindReversal(contract: Contract, facts: BindingFacts): Binding {
  if (reversalCapabilityOf(contract) === null) return { kind: 'none' };
  const [first, ...then] = reversalCallsOf(contract);
  const read = [first, ...then].map((call) => readArgs(call, facts));
  const missing = [...required(contract, facts), ...read.flatMap((one) => one.missing)];
  if (missing.length > 0) return { kind: 'incomplete', missing: [...new Set(missing)] };
  return {
    kind: 'bound',
    args: read[0]?.args ?? {},
    then: then.flatMap((call, index) => boundCall(call, read[index + 1]?.args ?? {})),
  };
}

/** The arguments of one call that can be read by now, and the places of those that cannot. */
function readArgs({ args }: DeclaredCall, facts: BindingFacts) {
  const read = Object.entries(args).flatMap(([name, source]) =>
    source.from === 'call' ? [] : [{ name, ...readSource(source, facts) }],
  );
  return {
    args: Object.fromEntries(read.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
    missing: read.flatMap(({ place, value }) => (value === undefined ? [place] : [])),
  };
}

/** A further call with what is bound of it; one that names nothing, or nothing that verifies it, is no contract's. */
function boundCall({ capability, args, verification }: DeclaredCall, bound: Json): readonly ReversalCall[] {
  if (capability === null || verification === undefined) return [];
  const taken = Object.entries(args).flatMap(([name, source]): readonly TakenArg[] =>
    source.from === 'call' ? [{ name, call: source.call, path: source.path ?? '' }] : [],
  );
  const { verify_capability, success_condition, max_attempts, delay_ms } = verification;
  return [
    {
      capability,
      args: plainPayload(bound),
      taken,
      verify_capability,
      success_condition,
      verify_max_attempts: max_attempts,
      verify_delay_ms: delay_ms ?? VERIFY_DELAY_MS,
    },
  ];
}

function required(contract: Contract, facts: BindingFacts): readonly string[] {
  return [
    ...(contract.requires_prior_value_capture === true && facts.priorValue === null ? ['prior_value'] : []),
    ...(contract.requires_external_handle === true && !hasHandle(facts) ? ['external_transaction_ref'] : []),
  ];
}

function readSource(
  source: Exclude<ReversalArg, { from: 'call' }>,
  facts: BindingFacts,
): { readonly value: Json | undefined; readonly place: string } {
  switch (source.from) {
    case 'args':
      return { value: readPointer(facts.args, source.path), place: `args${source.path}` };
    case 'result':
      return { value: readPointer(facts.result, source.path), place: `result${source.path}` };
    case 'prior_value':
      return {
        value: priorValue(facts, source.path),
        place: source.path === undefined ? 'prior_value' : `prior_value${source.path}`,
      };
    case 'external_ref':
      return { value: hasHandle(facts) ? facts.externalRef : undefined, place: 'external_transaction_ref' };
    case 'constant':
      return { value: source.value, place: 'constant' };
    case 'step':
      return { value: stepResult(facts, source), place: `steps.${source.capability}.result${source.path ?? ''}` };
  }
}

function priorValue(facts: BindingFacts, path: string | undefined): Json | undefined {
  return facts.priorValue === null ? undefined : readPointer(facts.priorValue, path ?? '');
}

function stepResult(
  { steps }: BindingFacts,
  { capability, path }: Extract<ReversalArg, { from: 'step' }>,
): Json | undefined {
  return steps !== undefined && Object.hasOwn(steps, capability)
    ? readPointer(steps[capability] ?? null, path ?? '')
    : undefined;
}

function hasHandle(facts: BindingFacts): boolean {
  return facts.externalRef !== null && facts.externalRef !== '';
}
