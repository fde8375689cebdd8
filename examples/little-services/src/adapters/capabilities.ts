// Which capability asks which service for what, and how a repeat of it is told from something new. One table for agent and worker.
import type { Doc } from '../services/world.js';

/** How a provider can tell a repeated call. */
export type Repeat =
  /** It remembers the key. */
  | { readonly by: 'key' }
  /** The thing itself says whether the call took effect. */
  | { readonly by: 'state'; readonly isDone: (thing: Doc, args: Doc) => boolean }
  /** Not at all: the adapter looks the thing up by a field before it asks. */
  | { readonly by: 'lookup'; readonly field: string };

export interface Forward {
  readonly operation: string;
  /** Where ids of the service's things stand, in args and results. */
  readonly id: string;
  readonly repeat: Repeat;
  /** The provider's handle of a call is that id. */
  readonly hasHandle: boolean;
  /** The value before is read, and written over under its version where the service knows conditional writes. */
  readonly overwrites: 'no' | 'plainly' | 'conditionally';
  /** Of the provider, in a few words. */
  readonly idempotency: string;
}

const KEYED = { repeat: { by: 'key' }, hasHandle: true, overwrites: 'no' } as const;
const made = (operation: string, id: string, idempotency = 'key, 1 day'): Forward => ({
  operation,
  id,
  ...KEYED,
  idempotency,
});

/** Calls that agents make. */
export const FORWARD: Readonly<Record<string, Forward>> = {
  'mail.send_notice': made('mail.send', 'message'),
  'channels.post_message': made('channels.post', 'post_id'),
  'tickets.open_ticket': made('tickets.open', 'ticket'),
  'payments.charge_card': made('payments.charge', 'charge_id', 'key, 90 days'),
  'travel.book_trip': made('travel.book', 'booking'),
  'shipping.dispatch_parcel': made('shipping.dispatch', 'parcel'),
  'calendar.send_invite': {
    operation: 'calendar.send',
    id: 'invite',
    repeat: { by: 'state', isDone: () => true },
    hasHandle: true,
    overwrites: 'no',
    idempotency: 'name given by the caller',
  },
  'crm.update_contact': {
    operation: 'crm.update',
    id: 'contact',
    repeat: { by: 'state', isDone: (thing, { phone }) => thing['phone'] === phone },
    hasHandle: false,
    overwrites: 'plainly',
    idempotency: 'same value, same state',
  },
  'documents.archive_document': {
    operation: 'documents.archive',
    id: 'document',
    repeat: { by: 'state', isDone: ({ state }) => state === 'archived' },
    hasHandle: false,
    overwrites: 'no',
    idempotency: 'archived once, kept 30 days',
  },
  'labels.add_label': {
    operation: 'labels.add',
    id: 'issue',
    repeat: { by: 'state', isDone: ({ labels }, { label }) => Array.isArray(labels) && labels.includes(label ?? null) },
    hasHandle: false,
    overwrites: 'no',
    idempotency: 'a set: there or not',
  },
  'config.update_config': {
    operation: 'config.update',
    id: 'resource',
    repeat: { by: 'state', isDone: (thing, { value }) => thing['value'] === value },
    hasHandle: false,
    overwrites: 'conditionally',
    idempotency: 'conditional write, If-Match',
  },
  'inventory.reserve_stock': {
    operation: 'inventory.reserve',
    id: 'reservation',
    repeat: { by: 'lookup', field: 'order_id' },
    hasHandle: true,
    overwrites: 'no',
    idempotency: 'none: looked up by order',
  },
};

export interface Inverse {
  readonly operation: string;
  /** Argument that names the version it expects, for a conditional write. */
  readonly expects?: string;
}

/** Calls that take back; workers make them. A write that is its own inverse stands here too. */
export const INVERSE: Readonly<Record<string, Inverse>> = {
  'mail.cancel_message': { operation: 'mail.cancel' },
  'calendar.cancel_invite': { operation: 'calendar.cancel' },
  'tickets.close_ticket': { operation: 'tickets.close' },
  'payments.refund_charge': { operation: 'payments.refund' },
  'travel.cancel_booking': { operation: 'travel.cancel' },
  'shipping.recall_parcel': { operation: 'shipping.recall' },
  'crm.update_contact': { operation: 'crm.update' },
  'documents.restore_document': { operation: 'documents.restore' },
  'labels.remove_label': { operation: 'labels.remove' },
  'labels.set_labels': { operation: 'labels.set' },
  'config.restore_config': { operation: 'config.update', expects: 'expected_version' },
  'inventory.release_stock': { operation: 'inventory.release' },
};

export interface Read {
  readonly service: string;
  readonly id: string;
  /** The forward call whose end it can find out. */
  readonly finds: string;
}

/** Calls that look; workers reconcile and verify with them. */
export const READ: Readonly<Record<string, Read>> = {
  'mail.get_message': { service: 'mail', id: 'message', finds: 'mail.send_notice' },
  'channels.get_post': { service: 'channels', id: 'post_id', finds: 'channels.post_message' },
  'tickets.get_ticket': { service: 'tickets', id: 'ticket', finds: 'tickets.open_ticket' },
  'payments.get_charge': { service: 'payments', id: 'charge_id', finds: 'payments.charge_card' },
  'travel.get_booking': { service: 'travel', id: 'booking', finds: 'travel.book_trip' },
  'shipping.track_parcel': { service: 'shipping', id: 'parcel', finds: 'shipping.dispatch_parcel' },
  'calendar.get_invite': { service: 'calendar', id: 'invite', finds: 'calendar.send_invite' },
  'crm.get_contact': { service: 'crm', id: 'contact', finds: 'crm.update_contact' },
  'documents.get_document': { service: 'documents', id: 'document', finds: 'documents.archive_document' },
  'labels.get_labels': { service: 'labels', id: 'issue', finds: 'labels.add_label' },
  'config.get_config': { service: 'config', id: 'resource', finds: 'config.update_config' },
  'inventory.get_reservation': { service: 'inventory', id: 'reservation', finds: 'inventory.reserve_stock' },
};

/** Adapters the worker can answer for. */
export const ADAPTERS: readonly string[] = [
  ...new Set(Object.keys(FORWARD).map((name) => name.slice(0, name.indexOf('.')))),
].sort();
