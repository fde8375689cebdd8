// Consumers of rollbacks: who is due to hear of one, what they answer, what stands in a row.
import { deriveId } from '@recourse/kernel';
import type {
  AckRefused,
  CommitRef,
  ConsumerAcknowledged,
  DeliveryOverdue,
  DeliveryReviewed,
  Emission,
  RollbackAcknowledged,
  SubscriptionMode,
} from '@recourse/messages';
import type { Body } from '../record.messages.js';

/** Phases of a delivery: what one consumer has to say about one rollback. */
export const DELIVERY_PHASES = ['waiting', 'overdue', 'reviewed', 'acknowledged'] as const;
export type DeliveryPhase = (typeof DELIVERY_PHASES)[number];

/** What moves a delivery. */
export const DELIVERY_EVENTS = ['ConsumerAcknowledged', 'DeliveryOverdue', 'DeliveryReviewed'] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

export type ConsumerRecord =
  | { readonly type: 'ConsumerAcknowledged'; readonly body: Body<ConsumerAcknowledged> }
  | { readonly type: 'DeliveryOverdue'; readonly body: Body<DeliveryOverdue> }
  | { readonly type: 'DeliveryReviewed'; readonly body: Body<DeliveryReviewed> }
  | { readonly type: 'AckRefused'; readonly body: Body<AckRefused> & { readonly code: AckRefusal } };

/** Why what calls itself an acknowledgement is none. */
export type AckRefusal = 'ACK_MALFORMED' | 'ACK_FOREIGN' | 'ACK_UNKNOWN_ROLLBACK' | 'ACK_NOT_DUE' | 'ACK_CONFLICT';

/** How long each mode has to answer, milliseconds from the mark. */
export type AckWaits = Readonly<Record<'sync' | 'async' | 'poll', number>>;

/** What a scope is compared with. */
export interface Scoped {
  readonly tenant: string;
  readonly agent: string;
  readonly run: string;
  readonly subject: string;
}

/** A commit that was rolled back, as polls read it. */
export interface RolledBack {
  readonly tenant: string;
  readonly agent_id: string;
  readonly run_id: string;
  /** The mutation, or the commit without an effect. */
  readonly commit_id: string;
  readonly subject_ref: string | null;
  readonly rollback_id: string;
  readonly has_effect: boolean;
  readonly seq: number;
  readonly member: number;
  readonly rolled_back_at: number;
  readonly triggered_at: number;
  readonly consumers: readonly string[];
}

/** One consumer's duty to answer one rollback. */
export type Delivery = {
  readonly delivery_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly rollback_id: string;
  readonly subscription: string;
  readonly consumer: string;
  readonly mode: SubscriptionMode;
  readonly commit_to_user_ms: number;
  readonly phase: DeliveryPhase;
  readonly rolled_back_at: number;
  readonly triggered_at: number;
  /** When its silence is overdue, epoch milliseconds. */
  readonly ack_by: number;
  /** Who looks after it: the consumer until it is overdue, then a person. */
  readonly owner: string;
  /** By when the owner acts, epoch milliseconds. */
  readonly deadline_at: number;
  /** Null until it answered. */
  readonly answer: Answer | null;
  /** The last answer under its name that was none; absent where there is none. */
  readonly refused?: RefusedAnswer;
};

/** Why what a consumer said is no answer. */
export type RefusedAnswer = {
  readonly code: string;
  readonly detail: string;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** What a consumer said. */
export type Answer = {
  readonly event_id: string;
  readonly content_sha256: Buffer;
  /** By the consumer's clock, epoch milliseconds. */
  readonly applied_at: number;
  readonly acknowledged_at: number;
  /** Milliseconds from the mark, and from the evidence. */
  readonly after_ms: number;
  readonly trigger_ms: number;
  readonly is_late: boolean;
  readonly derived: readonly CommitRef[];
  readonly emissions: readonly Emission[];
  readonly late_emissions: number;
  /** How long after the mark the last of them went out, milliseconds; null without a late one. */
  readonly latest_ms: number | null;
};

/** An acknowledgement as it comes in. */
export type Ack = RollbackAcknowledged;

/** Names what one consumer has to say about one rollback. */
export function deliveryIdOf({ rollback_id, consumer }: Pick<Delivery, 'rollback_id' | 'consumer'>): string {
  return deriveId('dlv', rollback_id, consumer);
}

/** Key of a delivery among those of its run; the loop refuses keys above its limit, so none of a forged ack is stored. */
export function deliveryKey(mutationId: string, consumer: string): string {
  return `${mutationId}/${consumer}`;
}
