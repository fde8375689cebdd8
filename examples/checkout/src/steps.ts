// The four steps of a checkout, and the ways each may fail. Pure.
import type { Call } from '@recourse/example-little-services';

export const STEPS = ['reserve', 'charge', 'book', 'notify'] as const;
export type Step = (typeof STEPS)[number];

/** `refuse`: the service says no, and nothing was done. `silent`: it is done, and nobody answers. */
export type Failure = 'refuse' | 'silent';

/** One order, and where its checkout fails. */
export interface Case {
  readonly order: string;
  readonly fails: { readonly step: Step; readonly how: Failure } | null;
}

export const CURRENCY = 'EUR';
export const PRICE_MINOR = 4_900;

const OPERATION_OF = {
  reserve: 'inventory.reserve',
  charge: 'payments.charge',
  book: 'shipping.dispatch',
  notify: 'mail.send',
} as const satisfies Record<Step, string>;

/** What a service is asked for in a step. */
export function operationOf(step: Step): string {
  return OPERATION_OF[step];
}

export function callOf(step: Step, order: string): Call {
  switch (step) {
    case 'reserve':
      return { step, capability: 'inventory.reserve_stock', args: { order_id: order, sku: 'lamp', quantity: 1 } };
    case 'charge':
      return {
        step,
        capability: 'payments.charge_card',
        args: { order_id: order, amount_minor: PRICE_MINOR, currency: CURRENCY },
      };
    case 'book':
      return {
        step,
        capability: 'shipping.dispatch_parcel',
        args: { order_id: order, address_id: `home-of-${order}` },
      };
    case 'notify':
      return {
        step,
        capability: 'mail.send_notice',
        args: { to: `${order}@example.test`, subject: `Order ${order}`, body: 'Your parcel is on its way.' },
      };
  }
}

export const CAPABILITIES: readonly string[] = STEPS.map((step) => callOf(step, 'any').capability);

/** One order without a failure, and one for every step and way to fail. */
export function casesOf(word: string): readonly Case[] {
  return [
    { order: `o-${word}-fine`, fails: null },
    ...STEPS.flatMap((step) =>
      (['refuse', 'silent'] as const).map((how): Case => ({ order: `o-${word}-${step}-${how}`, fails: { step, how } })),
    ),
  ];
}

/** Steps whose effect stands once everything is known: those before the failure, and the failed one where it took effect all the same. */
export function standingSteps({ fails }: Case): readonly Step[] {
  if (fails === null) return STEPS;
  return STEPS.slice(0, STEPS.indexOf(fails.step) + (fails.how === 'silent' ? 1 : 0));
}

/** An order stands whole or not at all: what stands of less than four steps is taken back, the last first. */
export function toTakeBack(standing: readonly Step[]): readonly Step[] {
  return standing.length === STEPS.length ? [] : [...standing].reverse();
}
