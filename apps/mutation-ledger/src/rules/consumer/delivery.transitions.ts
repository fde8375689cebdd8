// The life of a delivery, as a table: an answer counts whenever it comes, silence is told once.
import type { DeliveryEvent, DeliveryPhase } from './consumer.messages.js';

/** Phase after each event. `null` = history that cannot exist. */
export const DELIVERY_AFTER = {
  waiting: { ConsumerAcknowledged: 'acknowledged', DeliveryOverdue: 'overdue', DeliveryReviewed: null },
  overdue: { ConsumerAcknowledged: 'acknowledged', DeliveryOverdue: null, DeliveryReviewed: 'reviewed' },
  reviewed: { ConsumerAcknowledged: 'acknowledged', DeliveryOverdue: null, DeliveryReviewed: null },
  acknowledged: { ConsumerAcknowledged: null, DeliveryOverdue: null, DeliveryReviewed: null },
} as const satisfies Record<DeliveryPhase, Record<DeliveryEvent, DeliveryPhase | null>>;

/** Phases that nothing leaves; a consumer whose silence was reviewed may still answer. */
export const DELIVERY_ENDS = ['acknowledged'] as const satisfies readonly DeliveryPhase[];
