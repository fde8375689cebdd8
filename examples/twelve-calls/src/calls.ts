// The twelve calls of one agent action: a customer is brought on board. Three cannot be undone, two are undone by telling people
// again, seven differ in how their provider tells a repeat.
import type { Call, Doc } from '@recourse/example-little-services';

/** What the services hold before the agent acts. */
export interface Before {
  readonly service: string;
  readonly id: string;
  readonly doc: Doc;
}

export interface Plan {
  readonly calls: readonly Call[];
  readonly before: readonly Before[];
}

export const CURRENCY = 'EUR';
const PRICE_MINOR = 12_900;

/** Plan of a run; `word` keeps its subjects apart from those of other runs. Pure. */
export function planOf(word: string): Plan {
  const [contact, order, customer] = [`contact-${word}`, `order-${word}`, `lena+${word}@example.test`];
  const call = (step: string, capability: string, args: Call['args']): Call => ({ step, capability, args });
  return {
    before: [
      { service: 'crm', id: contact, doc: { contact, phone: '+49 30 111', version: 4 } },
      { service: 'documents', id: `offer-${word}`, doc: { document: `offer-${word}`, state: 'present', version: 2 } },
      { service: 'labels', id: `issue-${word}`, doc: { issue: `issue-${word}`, labels: ['sales'], version: 1 } },
      { service: 'config', id: `plan-${word}`, doc: { resource: `plan-${word}`, value: 'trial', version: 9 } },
    ],
    calls: [
      call('welcome', 'mail.send_notice', { to: customer, subject: 'Welcome', body: 'Your account is ready.' }),
      call('tell-finance', 'mail.send_notice', {
        to: `finance+${word}@example.test`,
        subject: 'New customer',
        body: `${order} is on its way.`,
      }),
      call('tell-team', 'channels.post_message', { channel: `sales-${word}`, text: `${order} is in.` }),
      call('kick-off', 'calendar.send_invite', {
        invite: `kick-off-${word}`,
        title: 'Kick-off',
        at: '2027-01-12T09:00:00Z',
        attendees: [customer, 'asha@example.test', 'mira@example.test'],
      }),
      call('support', 'tickets.open_ticket', { subject: customer, body: 'Set up single sign-on.' }),
      call('phone', 'crm.update_contact', { contact, phone: '+49 30 222' }),
      call('charge', 'payments.charge_card', { order_id: order, amount_minor: PRICE_MINOR, currency: CURRENCY }),
      call('old-offer', 'documents.archive_document', { document: `offer-${word}` }),
      call('label', 'labels.add_label', { issue: `issue-${word}`, label: 'won' }),
      call('plan', 'config.update_config', { resource: `plan-${word}`, value: 'business' }),
      call('stock', 'inventory.reserve_stock', { order_id: order, sku: 'starter-box', quantity: 1 }),
      call('visit', 'travel.book_trip', { trip: 'BER-MUC 2027-01-12', traveller: `asha-${word}` }),
    ],
  };
}

export const CAPABILITIES: readonly string[] = [...new Set(planOf('any').calls.map(({ capability }) => capability))];
