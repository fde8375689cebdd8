// Holds: an effect that is left to the ledger goes when its hold ends, or never (A24, A50, A51, A60).
//
// Invariants
//   H1. The order of the log decides between letting go and cancelling: what was let go is not cancelled, and the reverse.
//   H2. At the end of a hold everything the effect relies on is judged again, and the registry is asked; in doubt it does not go (P14).
//   H3. What is staged at the provider is given back when its effect is cancelled, or was let go and refused.
import { classUnder } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { MutationRef } from '@recourse/messages';
import { contentHash } from '../identity.js';
import { askWorker } from './asking.decider.js';
import type { Asked, AskPolicy } from './asking.decider.js';
import { RECOVERABILITY_AFTER } from './mutation.transitions.js';
import type { Ask, CancelReason, Forward, Mutation } from './mutation.messages.js';
import type { Judgement } from './refs.decider.js';
import type { MutationRecord } from '../record.messages.js';

/** A mutation whose effect is held; what a decision about the hold looks at. */
export type Held = Asked & Pick<Mutation, 'recoverability' | 'forward'>;

/** A mutation that waits for the end of its hold. */
export type HeldMutation = Mutation & { readonly forward: Forward };

/** Why a held effect is cancelled, and under which event. */
export interface Cancel {
  readonly reason: CancelReason;
  readonly eventId: string;
  readonly contract: Contract | null;
  readonly refs: readonly string[];
}

/** Is the effect still held, so that it can be cancelled? */
export function isHeld(mutation: Mutation | undefined): mutation is HeldMutation {
  return (
    mutation !== undefined &&
    mutation.forward !== null &&
    mutation.forward.hold !== null &&
    mutation.execution_state === 'planned' &&
    mutation.recoverability === 'pending_commit'
  );
}

/** Cancels a held effect; what is staged is given back by a worker. */
export function cancelHeld(held: Held, cancel: Cancel, now: number, policy: AskPolicy): readonly MutationRecord[] {
  const { mutation_id, execution, terms, recoverability } = held;
  const { reason, eventId } = cancel;
  const cancelled: MutationRecord = {
    type: 'MutationRecorded',
    body: {
      mutation_id,
      execution,
      execution_state: 'failed',
      recoverability: RECOVERABILITY_AFTER[recoverability].cancelled ?? recoverability,
      reason,
      terms,
      ref: cancelledRef(held, cancel, now),
      consequence: [],
      judged: [],
      event_id: eventId,
      content_sha256: contentHash('Cancelled', { mutation_id, reason, cause: eventId }),
      conclude_by: null,
      reconcile_at: null,
      warn_at: null,
      review_by: null,
      rollback_id: null,
      found_out: null,
      signing_key: null,
      handle_ref: null,
      action_digest: null,
    },
  };
  return [cancelled, ...giveBackStaged(held, now, policy)];
}

/** Has what is staged given back, once the effect is known not to happen (H3). */
export function giveBackStaged(held: Asked, now: number, policy: AskPolicy): readonly MutationRecord[] {
  const isStaged = held.execution.staged_ref !== null || held.terms?.hold?.is_reservation === true;
  return isStaged ? [askWorker({ ...held, execution_state: 'failed' }, 'cancel', now, policy)] : [];
}

/** What stands at the end of a hold. */
export interface HoldContext {
  readonly now: number;
  readonly policy: AskPolicy;
  readonly contract: Contract | null;
  /** Verdicts on the mutation's refs, from one view. */
  readonly judgements: readonly Judgement[];
  /** Why the registry does not let the effect go; null where it does. */
  readonly forbidden: Extract<CancelReason, 'KILL_SWITCH' | 'CHARTER_REFUSED' | 'APPROVAL_MISSING'> | null;
}

/** Does something speak against letting the effect go? */
export function isSpokenAgainst({ judgements, forbidden }: Pick<HoldContext, 'judgements' | 'forbidden'>): boolean {
  return forbidden !== null || fallenRef(judgements) !== null;
}

/**
 * What the end of a hold does.
 *
 * Shape:  nothing goes on refs that fell, under a kill switch or against a charter, and nothing before its precondition was
 *         looked at. It is cancelled and does not wait: nobody wants it to happen by itself, hours later.
 */
export function endHold(
  held: Mutation,
  { now, policy, contract, judgements, forbidden }: HoldContext,
): readonly MutationRecord[] {
  const fallen = fallenRef(judgements);
  const reason = fallen === null ? forbidden : 'REF_INVALIDATED';
  if (reason !== null)
    return cancelHeld(
      held,
      {
        reason,
        eventId: fallen ?? deriveId('held', held.mutation_id, reason),
        contract,
        refs: held.forward?.refs ?? [],
      },
      now,
      policy,
    );
  return (held.terms?.hold?.precondition_capability ?? null) === null
    ? letGo(held, judgements, now, policy)
    : [askWorker(held, 'observe', now, policy)];
}

/** Lets an effect go. */
export function letGo(
  held: Mutation,
  judgements: readonly Judgement[],
  now: number,
  policy: AskPolicy,
): readonly MutationRecord[] {
  const { mutation_id, tenant, run_id, forward } = held;
  const judged = judgements.map((one) => one.judged);
  return [
    { type: 'HoldElapsed', body: { mutation_id, tenant, run_id, hold_until: forward?.hold?.until ?? now, judged } },
    askWorker(held, 'release', now, policy),
  ];
}

/** Event that invalidated a ref of an effect; null while all stand. */
export function fallenRef(judgements: readonly Judgement[]): string | null {
  return judgements.find(({ judged }) => judged.verdict === 'invalidated')?.evidence?.event_id ?? null;
}

/** Asks again what was not answered. */
export function askAgain(mutation: Mutation, ask: Ask, now: number, policy: AskPolicy): readonly MutationRecord[] {
  return ask.kind === 'observe' && !isHeld(mutation) ? [] : [askWorker(mutation, ask.kind, now, policy)];
}

/** Pointer of an effect that was cancelled before it happened: there is nothing to undo. */
function cancelledRef(
  { mutation_id: id, execution, terms }: Held,
  { contract, refs }: Cancel,
  now: number,
): MutationRef {
  return {
    mutation_id: id,
    original_call_id: execution.call_id,
    capability: execution.capability,
    subject_ref: execution.subject_ref,
    reversal_class: classUnder(contract),
    reversal_capability: terms?.reversal_capability ?? null,
    reversal_args: null,
    assumption_refs: refs,
    idempotency_key: execution.idempotency_key,
    committed_at: now,
    reversal_expires_at: null,
    prior_value_hash: execution.prior_value?.sha256 ?? null,
    external_transaction_ref: null,
    verification_ref: terms?.verify_capability ?? null,
    reversal_then: [],
  };
}
