// Compares one checkout with what its services hold. Pure.
import type { World } from '@recourse/example-little-services';
import type { Outcome } from './checkout.js';
import { doneSteps, STEPS, toTakeBack } from './steps.js';

/** What the services say of one order. */
export interface Seen {
  readonly reservation: string | null;
  readonly charge: string | null;
  readonly parcel: string | null;
  readonly notices: number;
  /** Operations of the order that had an effect, in their order. */
  readonly effects: readonly string[];
}

const UNDOES = { reserve: 'inventory.release', charge: 'payments.refund', book: 'shipping.recall' } as const;
const OPERATIONS = {
  reserve: 'inventory.reserve',
  charge: 'payments.charge',
  book: 'shipping.dispatch',
  notify: 'mail.send',
} as const;

/** An order as its services have it. */
export function seenOf(order: string, { things, effects, notices }: World): Seen {
  const ours = Object.entries(things).filter(
    ([, doc]) => doc['order_id'] === order || doc['to'] === `${order}@example.test`,
  );
  const statusIn = (service: string): string | null => {
    const status = ours.find(([name]) => name.startsWith(`${service}/`))?.[1]['status'];
    return typeof status === 'string' ? status : null;
  };
  const names = new Set(ours.map(([name]) => name));
  return {
    reservation: statusIn('inventory'),
    charge: statusIn('payments'),
    parcel: statusIn('shipping'),
    notices: notices.filter(({ to }) => to === `${order}@example.test`).length,
    effects: effects
      .filter(({ operation, thing }) => names.has(`${operation.slice(0, operation.indexOf('.'))}/${thing}`))
      .map(({ operation }) => operation),
  };
}

/** Everything that is not as it must be, in words; empty when all is. */
export function faultsIn({ case: one, answers, takenBack, reconciled }: Outcome, seen: Seen): readonly string[] {
  const done = doneSteps(one);
  const back = toTakeBack(done);
  const wanted = [
    ...done.map((step) => OPERATIONS[step]),
    ...back.flatMap((step) => (step === 'notify' ? [] : [UNDOES[step]])),
  ];
  const stoppedAt = Math.min(done.length + 1, STEPS.length);
  const isUnanswered = one.fails !== null && one.fails.how !== 'refuse';
  return [
    ...(answers.length === stoppedAt
      ? []
      : [`the agent went ${String(answers.length)} steps, not ${String(stoppedAt)}`]),
    ...(seen.effects.join(' ') === wanted.join(' ')
      ? []
      : [`the services did ${seen.effects.join(', ') || 'nothing'}, not ${wanted.join(', ') || 'nothing'}`]),
    ...(takenBack.map(({ step }) => step).join(' ') === back.join(' ')
      ? []
      : [`taken back: ${takenBack.map(({ step }) => step).join(', ') || 'nothing'}`]),
    ...takenBack
      .filter(({ recoverability }) => recoverability !== 'compensated')
      .map(({ step, recoverability }) => `${step} is ${recoverability}`),
    ...(!isUnanswered || reconciled.includes(one.fails.step) ? [] : ['nobody found out how the unanswered call ended']),
    ...(seen.notices === (done.includes('notify') ? 1 : 0)
      ? []
      : [`the customer got ${String(seen.notices)} messages`]),
  ];
}
