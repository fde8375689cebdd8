// What binds effects by now, as an undo would ask: the stricter of the contract they ran under and the version that stands.
import { boundNow, capabilitiesOf, contractByName, contractView } from '@recourse/contract';
import type { BoundNow, Contract } from '@recourse/contract';
import type { ServiceContext } from '@recourse/service';
import type { Mutation } from '../rules/mutation/mutation.messages.js';

/** What binds an effect by now; null without a contract. */
export type BoundNowOf = (mutation: Mutation) => BoundNow | null;

/** By the contracts that are known now; each is looked up once. Before the service has read any, what effects were bound to is all there is. */
export async function boundNowIn(service: Pick<ServiceContext, 'view'>): Promise<BoundNowOf> {
  const contracts = (await service.view?.(contractView.name)) ?? null;
  const known = new Map<string, Contract | undefined>();
  const standing = (tenant: string, name: string): Contract | null => {
    const key = `${tenant}\u0000${name}`;
    if (contracts !== null && !known.has(key)) known.set(key, contractByName(contracts, tenant, name)?.contract);
    return known.get(key) ?? null;
  };
  return ({ tenant, terms, ref, expires_at }) =>
    terms === null
      ? null
      : boundNow(
          {
            recovery_approval_mode: terms.recovery_approval_mode,
            impact: terms.impact,
            committed_at: ref?.committed_at ?? null,
            reversal_expires_at: expires_at,
          },
          standing(tenant, terms.contract_name),
          calledBy(ref).flatMap((name) => standing(tenant, name) ?? []),
        );
}

/** What its undo calls; nothing where nothing is bound. */
function calledBy(ref: Mutation['ref']): readonly string[] {
  return ref === null || ref.reversal_capability === null
    ? []
    : capabilitiesOf({ capability: ref.reversal_capability, then: ref.reversal_then });
}
