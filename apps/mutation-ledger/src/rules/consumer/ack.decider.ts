// What an acknowledgement is worth, and what silence is: deliveries close by the word of the consumer they wait for alone.
//
// Invariants
//   K1. An acknowledgement closes the delivery of its own consumer, tenant, commit and rollback, and no other.
//   K2. The first one counts; the same again is nothing, another one is refused and changes nothing (L12).
//   K3. What a consumer derived or let out is recorded as it says: it invalidates that itself.
//   K4. Silence that is overdue is a person's until they say what was done about it; an answer still counts after that.
import { isPerson } from '@recourse/kernel';
import type { ReviewDelivery } from '@recourse/messages';
import { contentHash } from '../identity.js';
import { OWNER_OF_OVERDUE } from '../owners.js';
import type { Refusal } from '../refusal.messages.js';
import type { Ack, AckRefusal, ConsumerRecord, Delivery, RolledBack } from './consumer.messages.js';

/** Derived commits, and emissions, that one acknowledgement may name; SDK consumers name no more. */
export const ACK_LIST_MAX = 1_000;
/** Longest name in an acknowledgement, characters. */
const NAME_MAX = 512;
/** A person has a day to look after a silent consumer, milliseconds. */
const OVERDUE_DEADLINE_MS = 86_400_000;

/** What stands under the names that an acknowledgement gives. */
export interface AckState {
  readonly delivery: Delivery | undefined;
  readonly rolledBack: Pick<RolledBack, 'tenant' | 'rollback_id'> | undefined;
}

/** Records an acknowledgement, or why it is none; null for one that is known. Pure. */
export function decideAck(ack: Ack, { delivery, rolledBack }: AckState, now: number): ConsumerRecord | null {
  const malformed = malformationOf(ack);
  if (malformed !== null) return refusal(ack, 'ACK_MALFORMED', malformed);
  if (rolledBack === undefined)
    return refusal(ack, 'ACK_UNKNOWN_ROLLBACK', 'no commit of this run was rolled back under this id');
  if (rolledBack.tenant !== ack.tenant) return refusal(ack, 'ACK_FOREIGN', 'the commit belongs to another tenant');
  if (rolledBack.rollback_id !== ack.rollback_id)
    return refusal(ack, 'ACK_UNKNOWN_ROLLBACK', 'the commit was rolled back by another rollback');
  if (delivery === undefined)
    return refusal(
      ack,
      'ACK_NOT_DUE',
      'this consumer had not subscribed when the commit was marked; it need not answer',
    );
  if (delivery.answer === null) return acknowledged(ack, delivery, now);
  return delivery.answer.content_sha256.equals(contentHash('RollbackAcknowledged', ack))
    ? null
    : refusal(ack, 'ACK_CONFLICT', 'this consumer has answered with something else before; the first answer stands');
}

/** Gives a silent consumer to a person, once; null when it has answered. */
export function decideOverdue(
  { tenant, run_id, mutation_id, rollback_id, consumer, mode, phase, ack_by }: Delivery,
  now: number,
): ConsumerRecord | null {
  if (phase !== 'waiting' || now < ack_by) return null;
  return {
    type: 'DeliveryOverdue',
    body: {
      tenant,
      run_id,
      mutation_id,
      rollback_id,
      consumer,
      mode,
      owner: OWNER_OF_OVERDUE,
      deadline_at: now + OVERDUE_DEADLINE_MS,
    },
  };
}

/** A person's word about a silent consumer, or why it does not count. Pure. */
export function decideReview(
  delivery: Delivery | undefined,
  { envelope, delivery_id, reason }: ReviewDelivery,
): ConsumerRecord | Refusal {
  if (delivery?.tenant !== envelope.tenant || delivery.delivery_id !== delivery_id || delivery.phase !== 'overdue')
    return { code: 'NOT_SILENT', message: 'No such consumer of this tenant waits for a person.' };
  if (reason.trim() === '')
    return { code: 'COMMAND_INVALID', message: 'Say what was done, or why its silence may stand: give a reason.' };
  if (!isPerson(envelope.principal))
    return { code: 'JUDGE_NOT_A_PERSON', message: 'Only a person ends this: no agent, no service account.' };
  const { tenant, run_id, mutation_id, rollback_id, consumer } = delivery;
  const { principal: by, command_id } = envelope;
  return {
    type: 'DeliveryReviewed',
    body: { tenant, run_id, mutation_id, rollback_id, consumer, by, reason, command_id },
  };
}

/** Emissions that went out after the commit was marked, by the consumer's clock (E40). */
export function lateAmong<T extends { readonly emitted_at: number }>(
  emissions: readonly T[],
  rolledBackAt: number,
): readonly T[] {
  return emissions.filter(({ emitted_at }) => emitted_at > rolledBackAt);
}

function acknowledged(
  { tenant, run_id, mutation_id, rollback_id, consumer, event_id, applied_at, derived, emissions }: Ack,
  { rolled_back_at, ack_by }: Delivery,
  now: number,
): ConsumerRecord {
  return {
    type: 'ConsumerAcknowledged',
    body: {
      tenant,
      run_id,
      mutation_id,
      rollback_id,
      consumer,
      event_id,
      applied_at,
      derived,
      emissions,
      after_ms: now - rolled_back_at,
      is_late: now > ack_by,
      late_emissions: lateAmong(emissions, rolled_back_at).length,
    },
  };
}

function malformationOf({
  event_id,
  tenant,
  mutation_id,
  rollback_id,
  consumer,
  applied_at,
  derived,
  emissions,
}: Ack): string | null {
  const names = { event_id, tenant, mutation_id, rollback_id, consumer };
  const wrong = Object.entries(names).find(([, value]) => value === '' || value.length > NAME_MAX);
  if (wrong !== undefined) return `${wrong[0]} must have 1 to ${NAME_MAX} characters`;
  if (derived.length > ACK_LIST_MAX || emissions.length > ACK_LIST_MAX)
    return `it may name ${ACK_LIST_MAX} derived commits and ${ACK_LIST_MAX} emissions`;
  if (
    [...derived.flatMap((ref) => [ref.run_id, ref.commit_id]), ...emissions.map(({ kind }) => kind)].some(
      (text) => text === '' || text.length > NAME_MAX,
    )
  )
    return `a name in its lists must have 1 to ${NAME_MAX} characters`;
  return [applied_at, ...emissions.map(({ emitted_at }) => emitted_at)].every(
    (at) => Number.isSafeInteger(at) && at >= 0,
  )
    ? null
    : 'an instant in it is no epoch milliseconds';
}

function refusal(
  { tenant, run_id, mutation_id, rollback_id, consumer, event_id }: Ack,
  code: AckRefusal,
  detail: string,
): ConsumerRecord {
  return { type: 'AckRefused', body: { tenant, run_id, mutation_id, rollback_id, consumer, event_id, code, detail } };
}
