// What undoes an execution, bound from its facts: all there, lacking something, or unfit for the tool that would be called (A32).
//
// Boundary: pure.
import { bindReversal, reversalCapabilityOf, unfitArgs } from '@recourse/contract';
import type { Binding, Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { unaskable } from '../handle/stand-in.decisions.js';
import type { ReasonCode } from './mutation.messages.js';

/** The contract an execution names. */
export interface NamedContract {
  readonly contract: Contract;
  readonly digest: Buffer;
  /** Whether it bound no more when the action named it (A22). */
  readonly isSuperseded: boolean;
  /** The args_schema under which the tenant calls a capability now; undefined where no contract says. */
  readonly schemaOf: (capability: string) => Json | undefined;
  /** Arguments of a capability that some contract, of whatever tenant, gives the handle of its effect to. */
  readonly handlePlacesOf: (capability: string) => ReadonlySet<string>;
}

/** A reversal as it is bound; `unfit` names the arguments that its calls do not take, `erased` has nothing to bind it from. */
export type Bound =
  Binding | { readonly kind: 'unfit'; readonly args: readonly string[] } | { readonly kind: 'erased' };

/** What an execution says of itself. */
export interface Facts {
  readonly args: Json;
  readonly result: Json | null;
  readonly priorValue: Json | null;
  readonly externalRef: string | null;
}

/** What an agent tells may not make a recovery call a tool with what the tool does not take, or with handles that nobody can be asked about. */
export function bind(named: NamedContract, facts: Facts): Bound {
  const { contract, schemaOf } = named;
  const bound = bindReversal(contract, facts);
  if (!isBindable(bound)) return bound;
  const unfit = [...new Set([...unfitArgs(contract, facts, schemaOf), ...unaskable(named, bound, facts.externalRef)])];
  return unfit.length === 0 ? bound : { kind: 'unfit', args: unfit };
}

/** The facts were erased with the data of their subject. */
export function bindErased({ contract }: NamedContract): Bound {
  return { kind: reversalCapabilityOf(contract) === null ? 'none' : 'erased' };
}

/** All that is missing comes from the results of other compensations: there are none before a recovery, and the window runs (B6). */
export function isBindable(bound: Bound): boolean {
  return (
    bound.kind === 'bound' ||
    (bound.kind === 'incomplete' && bound.missing.every((place) => place.startsWith('steps.')))
  );
}

/** Why a person is asked about what lacks. */
export function reasonOfMissing(missing: readonly string[]): ReasonCode {
  if (missing.includes('external_transaction_ref')) return 'HANDLE_MISSING';
  if (missing.includes('prior_value')) return 'PRIOR_VALUE_MISSING';
  return `REVERSAL_ARGS_INCOMPLETE:${missing.join(',')}`;
}
