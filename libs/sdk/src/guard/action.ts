// The action a call makes: its keys, and what covers it.
import { consequenceOf, forwardDigest, knownAfterwards, subjectOf } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { markedPayload } from '../context/classification.decisions.js';
import { effectKey, mutationId } from '../effect-key.js';
import type { Action } from '../producer/producer.js';
import { releaseRef } from '../release.js';
import type { ReservationRequest } from './budget.port.js';
import type { GuardedCall, GuardOptions } from './guard.messages.js';

/** The action a call makes; the same for every retry. */
export function actionOf(
  { run, stepId, args, target, assumptionRefs, derivedFrom = [], producedBy = null, recovery }: GuardedCall,
  { contract, contractDigest }: Pick<GuardOptions, 'contract' | 'contractDigest'>,
): Action {
  // However often a recovery tries, it makes one effect: the ledger and the accountant know it by this key too.
  const key = recovery?.callId ?? effectKey({ step: stepId, capability: contract.name, target, args });
  return {
    ...run,
    stepId,
    callId: recovery?.callId ?? deriveId('call', run.tenant, run.runId, key),
    capability: contract.name,
    contractDigest,
    effectKey: key,
    idempotencyKey: recovery?.idempotencyKey ?? deriveId('fwd', run.tenant, run.runId, key),
    subjectRef: subjectOf(contract, args) ?? target,
    args,
    derivedFrom,
    producedBy,
    assumptionRefs: run.release === undefined ? assumptionRefs : [...assumptionRefs, releaseRef(run.release)],
  };
}

/** Id the ledger gives the effect. */
export function mutationOf({ tenant, runId, effectKey: key }: Action): string {
  return mutationId(tenant, runId, key);
}

/** What an approval covers: the tenant, the effect, its arguments and the contract, as one hash in hex (P4). */
export function actionDigestOf({
  tenant,
  runId,
  effectKey: key,
  capability,
  contractDigest,
  subjectRef,
  args,
}: Action): string {
  return forwardDigest({
    tenant,
    runId,
    effectKey: key,
    capability,
    contractDigest: contractDigest?.toString('hex') ?? null,
    subjectRef,
    args,
  });
}

/** What to reserve for a call, or which units nobody can read before it. */
export type Reserving =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unread'; readonly units: readonly string[] }
  | { readonly kind: 'reserve'; readonly request: ReservationRequest };

/** What to reserve: all that the call moves, in every unit the contract names, and what its arguments disclose (D61). */
export function reservationOf(action: Action, contract: Contract, reach: ReservationRequest['reach']): Reserving {
  const { tenant, runId, effectKey: key, capability, agentId, initiator, objective, args, subjectRef } = action;
  const facts = { args, argsPayload: markedPayload(args), result: null, resultPayload: null };
  const { values, unread } = consequenceOf(contract, facts);
  const later = knownAfterwards(contract);
  const units = unread.filter((unit) => !later.includes(unit));
  if (units.length > 0) return { kind: 'unread', units };
  const moved = values.filter(({ amount_minor }) => amount_minor > 0);
  if (moved.length === 0 && !isCapped(contract) && later.length === 0) return { kind: 'nothing' };
  const of = { tenant, runId, effectKey: key, capability, agentId, initiator, objective };
  return { kind: 'reserve', request: { ...of, values: moved, subjectRef, reach } };
}

/** Is there anything that bounds its calls, whatever they move? */
function isCapped({ blast_radius: caps }: Contract): boolean {
  return caps !== undefined;
}
