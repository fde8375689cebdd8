// The life of a delivery, as a table.
import { InvariantViolation } from '@recourse/kernel';
import type { DeliveryEvent, DeliveryState } from './delivery.messages.js';

/**
 * State after each event. `null` = history that cannot exist.
 *
 * An attempt may be under way while the item ends: what it brings is still said, since somebody was told.
 */
export const DELIVERY_AFTER = {
  queued: {
    Delivered: 'delivered',
    Failed: 'queued',
    GivenUp: 'given_up',
    Superseded: 'superseded',
    Retried: 'queued',
  },
  delivered: { Delivered: 'delivered', Failed: 'delivered', GivenUp: 'delivered', Superseded: null, Retried: null },
  given_up: { Delivered: 'delivered', Failed: 'given_up', GivenUp: 'given_up', Superseded: null, Retried: 'queued' },
  superseded: {
    Delivered: 'delivered',
    Failed: 'superseded',
    GivenUp: 'superseded',
    Superseded: 'superseded',
    Retried: null,
  },
} as const satisfies Record<DeliveryState, Record<DeliveryEvent, DeliveryState | null>>;

/** States in which nothing is sent any more, and nobody can have it sent. */
export const DELIVERY_ENDS = ['delivered', 'superseded'] as const satisfies readonly DeliveryState[];

/** States of what nobody was told for certain: told anew where its log is read anew. */
export const UNTOLD: readonly DeliveryState[] = ['queued', 'superseded'];

/** Moves a delivery. Errors: InvariantViolation for history that cannot exist. */
export function deliveryAfter(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  const next: DeliveryState | null = DELIVERY_AFTER[state][event];
  if (next === null) throw new InvariantViolation('delivery-state', `${event} in ${state}`);
  return next;
}
