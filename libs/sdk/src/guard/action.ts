// The action a call makes: its keys, and what covers it.
import { EXPOSURE, exposureOf, forwardDigest, subjectOf, valueOf } from '@recourse/contract';
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

/** What to reserve: the money the contract names, and what the arguments disclose (D61). */
export function reservationsOf(
  { tenant, runId, effectKey: key, capability, agentId, initiator, objective, args }: Action,
  contract: Contract,
): readonly ReservationRequest[] {
  const disclosed = exposureOf(contract, markedPayload(args));
  const values = [
    valueOf(contract, args),
    disclosed === 0 ? null : { amount_minor: disclosed, currency: EXPOSURE },
  ].filter((value) => value !== null);
  return values.map((value) => ({ tenant, runId, effectKey: key, capability, agentId, initiator, objective, value }));
}
