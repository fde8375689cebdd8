// The four steps of a checkout, and the ways each may fail. Pure.
import type { Call, FaultMode } from '@recourse/example-little-services';

export const STEPS = ['reserve', 'charge', 'book', 'notify'] as const;
export type Step = (typeof STEPS)[number];

/** Ways a call may go wrong. After one that nobody answered, the record says later whether it was done. */
export const FAILURES = ['refuse', 'silent', 'lost'] as const satisfies readonly FaultMode[];
export type Failure = (typeof FAILURES)[number];

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
      FAILURES.map((how): Case => ({ order: `o-${word}-${step}-${how}`, fails: { step, how } })),
    ),
  ];
}

/** Steps that are done by the time the agent stops: all where every step took effect, whether or not somebody answered. */
export function doneSteps({ fails }: Case): readonly Step[] {
  return fails === null || fails.how === 'silent' ? STEPS : STEPS.slice(0, STEPS.indexOf(fails.step));
}

/** An order stands whole or not at all: what was done of less than four steps is taken back, the last first. */
export function toTakeBack(done: readonly Step[]): readonly Step[] {
  return done.length === STEPS.length ? [] : [...done].reverse();
}
