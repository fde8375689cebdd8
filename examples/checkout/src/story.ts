// Reserve, charge, book, notify: once without a failure, and with every failure of each step (A2). Every order ends whole or taken back.
import type { Check } from '@recourse/example-drifted-refund';
import { formatTable, Stage } from '@recourse/example-little-services';
import type { Column, Place } from '@recourse/example-little-services';
import { checkOut } from './checkout.js';
import type { Outcome } from './checkout.js';
import { CAPABILITIES, casesOf, CURRENCY, PRICE_MINOR } from './steps.js';
import type { Case, Failure } from './steps.js';
import { faultsIn, seenOf } from './verdict.js';
import type { Seen } from './verdict.js';

export interface CheckoutResult {
  /** Every check held. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  readonly outcomes: readonly Outcome[];
}

/** What one order may leave behind that cannot be undone. */
const CEILING_MINOR = 10 * PRICE_MINOR;

interface Line {
  readonly outcome: Outcome;
  readonly seen: Seen;
}

const COLUMNS: readonly Column<Line>[] = [
  { title: 'FAILS', of: ({ outcome }) => failureOf(outcome.case) },
  {
    title: 'THE AGENT SAW',
    of: ({ outcome }) => outcome.answers.map(({ step, kind }) => `${step} ${kind}`).join(', '),
  },
  {
    title: 'FOUND OUT',
    of: ({ outcome }) =>
      outcome.reconciled.map((step) => `${step} ${String(outcome.found[step]?.['execution_state'])}`).join(', ') ||
      null,
  },
  {
    title: 'TAKEN BACK, IN THIS ORDER',
    of: ({ outcome }) =>
      outcome.takenBack.map(({ step, recoverability }) => `${step} ${recoverability}`).join(', ') || null,
  },
  { title: 'STOCK', of: ({ seen }) => seen.reservation },
  { title: 'CARD', of: ({ seen }) => seen.charge },
  { title: 'PARCEL', of: ({ seen }) => seen.parcel },
  { title: 'MESSAGES', of: ({ seen }) => String(seen.notices) },
];

/** Plays all orders side by side. Errors: none of its own; a side that does not answer at all is an error of fetch. */
export async function playCheckout(place: Place): Promise<CheckoutResult> {
  const stage = await Stage.open(place);
  try {
    return await play(stage, place.say);
  } finally {
    await stage.close();
  }
}

async function play(stage: Stage, say: Place['say']): Promise<CheckoutResult> {
  const cases = casesOf(Date.now().toString(36));
  say('1. What can be undone, and how, is agreed before anything happens.');
  await stage.register(CAPABILITIES);
  const ceilings = await Promise.all(
    cases.map(({ order }) => stage.openBudget(`checkout-${order}`, CURRENCY, CEILING_MINOR)),
  );
  stage.desk.check('each run has a ceiling for what it may leave behind', ceilings.every(Boolean), ceilings);
  say(
    `2. ${String(cases.length)} orders: reserve, charge, book, notify. One goes well; in the others each step is refused, done and never answered, or neither done nor answered.`,
  );
  say(
    '   Each run says `onFailure: compensate`: when a step fails for good, the ledger takes back what the run did before, the last first; the operator agrees where a contract wants a person.',
  );
  const outcomes = await Promise.all(cases.map((one) => checkOut(stage, one)));
  const world = await stage.world();
  const lines = outcomes.map((outcome): Line => ({ outcome, seen: seenOf(outcome.case.order, world) }));
  say('3. What the agent saw, what was found out, what was taken back, and what the services hold now:');
  say(formatTable(COLUMNS, lines));
  for (const { outcome, seen } of lines)
    stage.desk.check(`${failureOf(outcome.case)}: as it must be`, faultsIn(outcome, seen).length === 0, {
      faults: faultsIn(outcome, seen),
      answers: outcome.answers,
      seen,
    });
  const { checks } = stage.desk;
  const broken = checks.filter(({ ok }) => !ok);
  say(
    broken.length === 0
      ? `All ${String(checks.length)} checks held.`
      : `${String(broken.length)} of ${String(checks.length)} checks did not hold.`,
  );
  return { ok: broken.length === 0, checks, outcomes };
}

function failureOf({ fails }: Case): string {
  return fails === null ? 'nothing' : `${fails.step}, ${WORDS[fails.how]}`;
}

const WORDS = {
  refuse: 'refused',
  silent: 'done, no answer',
  lost: 'not done, no answer',
} as const satisfies Record<Failure, string>;
