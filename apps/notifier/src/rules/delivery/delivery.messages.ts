// A delivery: one notice on its way to one endpoint, until it is there, nobody needs it any more, or it was tried long enough.
import type { ItemKind, ThingKind } from '../item/item.messages.js';

/** Why an endpoint is told something. */
export const OCCASIONS = ['opened', 'reminder', 'ended', 'told', 'test'] as const;
export type Occasion = (typeof OCCASIONS)[number];

export const DELIVERY_STATES = ['queued', 'delivered', 'given_up', 'superseded'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DELIVERY_EVENTS = ['Delivered', 'Failed', 'GivenUp', 'Superseded', 'Retried'] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

/** Why an attempt did not deliver: a closed set, for metrics and lists. */
export const ATTEMPT_CODES = [
  'TIMEOUT',
  'UNREACHABLE',
  'REDIRECTED',
  'GONE',
  'THROTTLED',
  'REFUSED',
  'SERVER_ERROR',
] as const;
export type AttemptCode = (typeof ATTEMPT_CODES)[number];

/** What is told: the facts both shapes are made of, and nothing besides. Instants are epoch milliseconds. */
export interface Notice {
  readonly occasion: Occasion;
  readonly occurredAt: number;
  readonly tenant: string;
  /** Null for a test. */
  readonly item: NoticeItem | null;
}

export interface NoticeItem {
  readonly thing: ThingKind;
  readonly id: string;
  readonly kind: ItemKind;
  readonly runId: string;
  readonly recoveryId: string | null;
  readonly stepId: string | null;
  readonly capability: string | null;
  readonly runbook: string | null;
  readonly log?: string | undefined;
  readonly owner: string;
  readonly reason: string;
  readonly requiredApprovals: number;
  readonly deadlineAt: number;
}

export interface Delivery {
  /** The `webhook-id`: one per endpoint, item and occasion, in every attempt. */
  readonly id: string;
  readonly endpoint: string;
  readonly tenant: string;
  /** Key of the thing and place of the record that opened the item; null for a test. */
  readonly about: { readonly key: string; readonly opening: string } | null;
  readonly notice: Notice;
  readonly state: DeliveryState;
  /** Attempts that were begun. */
  readonly attempts: number;
  /** When it is first due, or was asked for again: what giving up counts from. */
  readonly dueAt: number;
  /** When it is tried next; while an attempt runs, when that one is given up. */
  readonly nextAt: number;
  readonly lastError: { readonly code: AttemptCode; readonly httpStatus: number | null } | null;
  readonly updatedAt: number;
}
