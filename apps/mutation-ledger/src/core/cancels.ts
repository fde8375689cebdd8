// Taking back what is held: by command, with its rollback, or because a ref of it fell.
import { contractByDigest } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { DecideContext } from '@recourse/event-log';
import { cancelHeld } from '../rules/mutation/hold.decider.js';
import type { LedgerPolicy } from '../rules/mutation/mutation.decider.js';
import type { CancelReason, Mutation } from '../rules/mutation/mutation.messages.js';
import type { MutationRecord } from '../rules/record.messages.js';

/** Cancels a held effect under the contract it was planned under. */
export function cancels(
  context: DecideContext,
  held: Mutation,
  { reason, eventId }: { readonly reason: CancelReason; readonly eventId: string },
  policy: LedgerPolicy,
): readonly MutationRecord[] {
  return cancelHeld(
    held,
    { reason, eventId, contract: contractOfMutation(context, held), refs: held.forward?.refs ?? [] },
    context.now,
    policy,
  );
}

/** The contract a mutation was accepted under; null when it named none. */
export function contractOfMutation({ views }: DecideContext, { terms }: Pick<Mutation, 'terms'>): Contract | null {
  return terms === null ? null : (contractByDigest(views.view('contracts'), terms.contract_digest)?.contract ?? null);
}
