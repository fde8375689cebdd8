// What binds effects by now, as an undo would ask: the stricter of the contract they ran under and its newest version.
import { boundNow, capabilitiesOf, contractOfOpen, contractsOfCalled, contractView } from '@recourse/contract';
import type { BoundNow, Contract } from '@recourse/contract';
import type { ServiceContext } from '@recourse/service';
import type { Mutation } from '../rules/mutation/mutation.messages.js';

/** What binds an effect by now; null without a contract. */
export type BoundNowOf = (mutation: Mutation) => BoundNow | null;

/** By the contracts that are known now; each is looked up once. Before the service has read any, what effects were bound to is all there is. */
export async function boundNowIn(service: Pick<ServiceContext, 'view'>): Promise<BoundNowOf> {
  const contracts = (await service.view?.(contractView.name)) ?? null;
  const known = new Map<string, Beside>();
  const beside = ({ tenant, terms, ref }: Mutation): Beside => {
    if (contracts === null || terms === null) return { newest: null, called: [] };
    const names = calledBy(ref);
    const key = [tenant, terms.contract_digest.toString('hex'), ...names].join('\u0000');
    const found = known.get(key) ?? {
      newest: contractOfOpen(contracts, tenant, terms)?.contract ?? null,
      called: names.flatMap((name) => contractsOfCalled(contracts, tenant, name)),
    };
    known.set(key, found);
    return found;
  };
  return (mutation) => {
    const { terms, ref, expires_at } = mutation;
    if (terms === null) return null;
    const { newest, called } = beside(mutation);
    return boundNow(
      {
        recovery_approval_mode: terms.recovery_approval_mode,
        impact: terms.impact,
        committed_at: ref?.committed_at ?? null,
        reversal_expires_at: expires_at,
      },
      newest,
      called,
    );
  };
}

interface Beside {
  readonly newest: Contract | null;
  readonly called: readonly Contract[];
}

/** What its undo calls; nothing where nothing is bound. */
function calledBy(ref: Mutation['ref']): readonly string[] {
  return ref === null || ref.reversal_capability === null
    ? []
    : capabilitiesOf({ capability: ref.reversal_capability, then: ref.reversal_then });
}
