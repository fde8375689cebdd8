// Binding: the arguments of the reversal, taken from the facts of the execution when it is accepted (A32).
import type { Json } from '@recourse/kernel';
import { reversalCapabilityOf } from './class.js';
import { readPointer } from './json-pointer.js';
import type { Contract, ReversalArg } from './shape.js';

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
  | { readonly kind: 'bound'; readonly args: Json }
  /** `missing` names what is not there: `prior_value`, `external_transaction_ref`, `args/path`, `result/path`, or `steps.<capability>.result/path`. */
  | { readonly kind: 'incomplete'; readonly missing: readonly string[] }
  | { readonly kind: 'none' };

/** Binds the reversal of an execution; `none` where the contract has no reversal for machines. */
export function bindReversal(contract: Contract, facts: BindingFacts): Binding {
  if (reversalCapabilityOf(contract) === null) return { kind: 'none' };
  const read = Object.entries(contract.reversal_args ?? {}).map(([name, source]) => ({
    name,
    ...readSource(source, facts),
  }));
  const missing = [
    ...required(contract, facts),
    ...read.filter((arg) => arg.value === undefined).map((arg) => arg.place),
  ];
  if (missing.length > 0) return { kind: 'incomplete', missing: [...new Set(missing)] };
  return { kind: 'bound', args: Object.fromEntries(read.map((arg) => [arg.name, arg.value as Json])) };
}

function required(contract: Contract, facts: BindingFacts): readonly string[] {
  return [
    ...(contract.requires_prior_value_capture === true && facts.priorValue === null ? ['prior_value'] : []),
    ...(contract.requires_external_handle === true && !hasHandle(facts) ? ['external_transaction_ref'] : []),
  ];
}

function readSource(
  source: ReversalArg,
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
