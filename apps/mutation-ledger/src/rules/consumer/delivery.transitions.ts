// The life of a delivery, as a table: an answer counts whenever it comes, silence is told once.
import type { DeliveryEvent, DeliveryPhase } from './consumer.messages.js';

/** Phase after each event. `null` = history that cannot exist. */
export const DELIVERY_AFTER = {
  waiting: { ConsumerAcknowledged: 'acknowledged', DeliveryOverdue: 'overdue' },
  overdue: { ConsumerAcknowledged: 'acknowledged', DeliveryOverdue: null },
  acknowledged: { ConsumerAcknowledged: null, DeliveryOverdue: null },
} as const satisfies Record<DeliveryPhase, Record<DeliveryEvent, DeliveryPhase | null>>;

/** Phases in which nobody is waited for. */
export const DELIVERY_ENDS = ['acknowledged'] as const satisfies readonly DeliveryPhase[];
