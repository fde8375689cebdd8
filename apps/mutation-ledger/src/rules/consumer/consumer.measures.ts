// What the ledger's records say of consumers, as series: how deliveries end, and how long answers take (E50).
import type { Delivery } from './consumer.messages.js';

/** How a delivery comes to an end. */
export const DELIVERY_OUTCOMES = ['acknowledged', 'late', 'overdue'] as const;

/** A delivery that came to an end, or an acknowledgement that was refused. */
export type ConsumerMeasure =
  | {
      readonly kind: 'delivery';
      readonly mode: string;
      readonly outcome: (typeof DELIVERY_OUTCOMES)[number];
      /** Seconds from the mark; null for silence. */ readonly seconds: number | null;
    }
  | { readonly kind: 'refused'; readonly code: string };

interface ConsumerRecord {
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Changed {
  readonly kind: string;
  readonly after: Readonly<Record<string, unknown>> | undefined;
}

/** Null for a record that is about no consumer. Pure. */
export function consumerMeasure(
  { type, body }: ConsumerRecord,
  rows: () => readonly Changed[],
): ConsumerMeasure | null {
  if (type === 'AckRefused') return { kind: 'refused', code: String(body['code']) };
  if (type === 'DeliveryOverdue')
    return { kind: 'delivery', mode: String(body['mode']), outcome: 'overdue', seconds: null };
  if (type !== 'ConsumerAcknowledged') return null;
  // Rows of this kind are deliveries.
  const delivery = rows().find(({ kind }) => kind === 'delivery')?.after as Delivery | undefined;
  if (delivery === undefined || delivery.answer === null) return null;
  return {
    kind: 'delivery',
    mode: delivery.mode,
    outcome: delivery.answer.is_late ? 'late' : 'acknowledged',
    seconds: delivery.answer.after_ms / 1_000,
  };
}
