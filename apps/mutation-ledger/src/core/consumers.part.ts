// Consumers of rollbacks, as a part of the mutations core: who is waited for, what they answer, who stays silent.
// Their rows are in rows/consumer.rows.ts.
import { entryView } from '@recourse/contract';
import { accepted, append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, TimerInput } from '@recourse/event-log';
import type { DueConsumer, ReviewDelivery } from '@recourse/messages';
import { decideAck, decideOverdue, decideReview } from '../rules/consumer/ack.decider.js';
import type { Ack, AckWaits, Scoped } from '../rules/consumer/consumer.messages.js';
import { dueConsumers } from '../rules/consumer/due.decider.js';
import { DELIVERY, deliveryIn, deliveryOf } from '../rows/consumer.rows.js';
import { markedIn } from '../rows/rollback.rows.js';
import type { RecordedMutation } from '../rules/mutation/mutation.messages.js';
import { endingRefusal } from './ending.part.js';
import { refuse } from './refuse.js';

/**
 * Consumers to be recorded with a mark that is decided now.
 *
 * Shape:  whoever had subscribed before the mark was decided is in it, since the view is read to its end before (E18).
 */
export function consumersDue({ views, now }: DecideContext, who: Scoped, waits: AckWaits): readonly DueConsumer[] {
  views.readToEnd();
  return dueConsumers(views.view(entryView.name), who, now, waits);
}

/** What a scope is compared with, of a mutation. */
export function scopedOf({
  tenant,
  run_id,
  subject_ref,
  execution,
}: Pick<RecordedMutation, 'tenant' | 'run_id' | 'subject_ref' | 'execution'>): Scoped {
  return { tenant, agent: execution.agent_id, run: run_id, subject: subject_ref ?? '' };
}

/** Takes an acknowledgement from the wire. */
export function onAck({ state, now }: DecideContext, ack: Ack): Decision {
  const recorded = decideAck(
    ack,
    {
      delivery: deliveryIn(state, ack.run_id, ack.mutation_id, ack.consumer),
      rolledBack: markedIn(state, ack),
    },
    now,
  );
  return recorded === null ? NOTHING : append(recorded);
}

/** A person says what was done about a silent consumer. */
export function onReviewDelivery(context: DecideContext, command: ReviewDelivery): Decision {
  const { run_id, mutation_id, consumer, delivery_id, envelope } = command;
  const told = decideReview(deliveryIn(context.state, run_id, mutation_id, consumer), command);
  if ('code' in told) return refuse(told);
  const refusal = endingRefusal(context, { tenant: envelope.tenant, run_id, mutation_id }, envelope);
  return refusal === null ? accepted(200, { delivery_id, reviewed: true }, told) : refuse(refusal);
}

/** A deadline passed. */
export function onDeliveryDue({ state, now }: DecideContext, { address: { group, key } }: TimerInput): Decision {
  const doc = state.get(DELIVERY, group, key);
  const overdue = doc === undefined ? null : decideOverdue(deliveryOf(doc), now);
  return overdue === null ? NOTHING : append(overdue);
}
