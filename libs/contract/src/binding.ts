// Binding: the arguments of the reversal, taken from the facts of the execution when it is accepted (A32), and the calls it is made of.
import type { Json } from '@recourse/kernel';
import type { LegStep, MutationRef, Observation, RecoveryCall, ReversalCall, TakenArg } from '@recourse/messages';
import { checkArgs } from './args.js';
import type { DeclaredCall } from './class.js';
import { reversalCallsOf, reversalCapabilityOf } from './class.js';
import { readPointer } from './json-pointer.js';
import { jsonOfPayload, plainPayload } from './payload.js';
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

/**
 * Bound arguments that the calls of the reversal do not take: whoever told of the effect told what its undoing is called with.
 *
 * Shape:  where they stand in the contract, such as `reversal_args/amount_minor`; of a call as a whole without a name. Arguments that
 *         later compensations and looks give are not judged. `schemaOf` gives the args_schema of a capability, where it is known.
 */
export function unfitArgs(
  contract: Contract,
  facts: BindingFacts,
  schemaOf: (capability: string) => Json | undefined,
): readonly string[] {
  const found = reversalCallsOf(contract).flatMap((call) => {
    const schema = call.capability === null ? undefined : schemaOf(call.capability);
    if (schema === undefined) return [];
    const { args } = readArgs(call, facts);
    const isWhole = Object.keys(call.args).every((name) => Object.hasOwn(args, name));
    return checkArgs(args, schema).flatMap(({ code, path }) => {
      const [, name = ''] = path.split('/');
      // Of a call that lacks some of its arguments as yet, those that are there are judged each by itself.
      if (Object.hasOwn(args, name)) return [`${call.at.args.slice(1)}/${name}`];
      // By a schema that nothing can be judged by nothing fits, however much of the call is there.
      return isWhole || code === 'ARGS_SCHEMA_UNSUPPORTED' ? [call.at.args.slice(1)] : [];
    });
  });
  return [...new Set(found)];
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

// The calls of a reversal: the call a recovery makes, then those in its `then`, each under a key of its own.
//
// Boundary: pure. A reversal of one call is a list of one.

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
  const bound = jsonOfPayload(callAt(call, position)?.args);
  const taken = call.then[position - 2]?.taken ?? [];
  if (position === 1 || bound === undefined || taken.length === 0) return bound;
  const seen = taken.map((one) => {
    const last = observations.findLast(({ phase, call: of }) => phase === 'verify' && of === one.call);
    const observed = jsonOfPayload(last?.observed);
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
