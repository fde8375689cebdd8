// What a reversal puts where other contracts give the handle of their effect: it would undo whatever that names. Pure.
import { adapterOf, jsonOfPayload, readPointer, reversalCallsOf } from '@recourse/contract';
import type { Binding, Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { MutationRef } from '@recourse/messages';
import { handleRef } from './handle-ref.js';

/** A contract, and where the contracts of everybody give handles. */
interface Named {
  readonly contract: Contract;
  readonly handlePlacesOf: (capability: string) => ReadonlySet<string>;
}

/** An argument of a call that takes handles, and to which its own contract gives something else. */
interface StandIn {
  readonly call: number;
  readonly capability: string;
  readonly name: string;
  /** Where it stands in the contract. */
  readonly place: string;
  /** Is it known before the recovery? What calls and other compensations answer is not. */
  readonly isKnown: boolean;
}

function standInsOf({ contract, handlePlacesOf }: Named): readonly StandIn[] {
  return reversalCallsOf(contract).flatMap(({ capability, args, at }, call) => {
    if (capability === null) return [];
    const places = handlePlacesOf(capability);
    return Object.entries(args)
      .filter(([name, { from }]) => from !== 'external_ref' && places.has(name))
      .map(([name, { from }]) => ({
        call,
        capability,
        name,
        place: `${at.args.slice(1)}/${name}`,
        isKnown: from !== 'call' && from !== 'step',
      }));
  });
}

/** Arguments of the calls of a bound reversal, in their order. */
export function boundCallsOf({
  reversal_args,
  reversal_then,
}: Pick<MutationRef, 'reversal_args' | 'reversal_then'>): readonly (Json | undefined)[] {
  return [jsonOfPayload(reversal_args ?? undefined), ...reversal_then.map(({ args }) => jsonOfPayload(args))];
}

/** Refs of what stands in places of handles, each once. */
export function refsOfStandIns(named: Named, calls: readonly (Json | undefined)[]): readonly string[] {
  const refs = standInsOf(named).flatMap(({ call, capability, name }) => {
    const value = readPointer(calls[call] ?? null, `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    if (value === undefined) return [];
    return [handleRef(adapterOf(capability), typeof value === 'string' ? value : JSON.stringify(value))];
  });
  return [...new Set(refs)];
}

/**
 * Places of a reversal that nobody can be asked about before it goes: what is not known yet, and handles of more than one effect.
 *
 * Shape:  places in the contract, such as `reversal_args/refund_id`; none where it is asked about one handle at the most.
 */
export function unaskable(named: Named, bound: Binding, externalRef: string | null): readonly string[] {
  const found = standInsOf(named);
  const [first] = reversalCallsOf(named.contract);
  if (found.length === 0 || first.capability === null) return [];
  const places = found.map(({ place }) => place);
  if (bound.kind !== 'bound' || found.some(({ isKnown }) => !isKnown)) return places;
  const calls = [bound.args, ...bound.then.map(({ args }) => jsonOfPayload(args))];
  const isNamed = named.contract.requires_external_handle === true && externalRef !== null;
  const own = isNamed ? [handleRef(adapterOf(first.capability), externalRef)] : [];
  return new Set([...own, ...refsOfStandIns(named, calls)]).size > 1 ? places : [];
}
