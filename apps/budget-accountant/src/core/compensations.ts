// Which executions are compensations: by the key of what they take back, and by the contract that says what takes it back.
//
// Boundary: looks up rows and contracts, and compares; a key alone is what anybody writes.
import type { Contract } from '@recourse/contract';
import { contractByDigest, contractByName, contractView, keyAt, reversalCapabilityOf } from '@recourse/contract';
import type { DecideContext } from '@recourse/event-log';
import type { Reservation } from '../rules/budget/budget.messages.js';
import { reversedBy } from '../rows/kinds.js';

/** What is asked for, or was done. */
interface Said {
  readonly tenant: string;
  readonly run_id: string;
  readonly effect_key: string;
  readonly capability: string;
}

/**
 * Is it a compensation, or does it only have the key of one? Caps bound no compensation and count none.
 *
 * Shape:  a compensation is a call of the run that it takes back, under the key of its place among the calls that do, of the
 *         capability that the contract of the effect names there. Where that contract was another version, a person looks.
 */
export function takenBackBy(
  context: Pick<DecideContext, 'state' | 'views'>,
  said: Said,
): { readonly isCompensation: boolean; readonly isPosing: boolean } {
  const effect = reversedBy(context.state, said.effect_key);
  if (effect === null) return { isCompensation: false, isPosing: false };
  const isOfRun = effect.tenant === said.tenant && effect.run_id === said.run_id;
  const isCompensation =
    isOfRun &&
    !NEVER_WAS.includes(effect.phase) &&
    contractsOf(context, effect).some((contract) => isTakenBackBy(contract, effect, said));
  return { isCompensation, isPosing: !isCompensation };
}

/** What never took hold, as far as anybody told, nothing takes back. */
const NEVER_WAS: readonly Reservation['phase'][] = ['absent', 'escalated', 'denied', 'released'];

function isTakenBackBy(contract: Contract, { mutation_id }: Reservation, { effect_key, capability }: Said): boolean {
  const calls = [reversalCapabilityOf(contract), ...(contract.reversal_then ?? []).map((call) => call.capability)];
  return calls.some((name, at) => name === capability && keyAt(`rev_${mutation_id}`, at + 1) === effect_key);
}

/** The one that it was reserved under, and the one in force: what is bound when it happens is one of them. */
function contractsOf(
  { views }: Pick<DecideContext, 'views'>,
  { tenant, capability, contract_digest }: Reservation,
): readonly Contract[] {
  const find = (): readonly Contract[] => {
    const view = views.view(contractView.name);
    const reserved = contract_digest === null ? undefined : contractByDigest(view, Buffer.from(contract_digest, 'hex'));
    const standing = capability === null ? undefined : contractByName(view, tenant, capability);
    return [reserved, standing].filter((found) => found !== undefined).map((found) => found.contract);
  };
  const found = find();
  if (found.length > 0) return found;
  views.readToEnd();
  return find();
}
