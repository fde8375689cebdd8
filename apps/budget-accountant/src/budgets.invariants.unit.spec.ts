// Ceilings, windows, units and caps under every order of steps: what the rows count is counted again from the log alone.
//
// RECOURSE_BUDGET_RUNS sets how many stories are tried.
import { afterAll, describe, expect, it } from '@jest/globals';
import { entryView } from '@recourse/contract';
import { harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import fc from 'fast-check';
import { budgetsCore } from './core.js';
import type { Reservation } from './rules/budget/budget.messages.js';
import { HOLDING_PHASES } from './rules/budget/budget.transitions.js';
import { CAPPED, CEILINGS, cappedView, inputOf, STEPS, UNITS } from './budgets.invariants.testing.js';
import { Recount } from './budgets.recount.testing.js';

const RUNS_TRIED = Number(process.env['RECOURSE_BUDGET_RUNS'] ?? '1000');
/** What is rebuilt before every step costs as many times as much. */
const REBUILT_SHARE = 50;
const PATIENCE_MS = 1_000_000;

const STORIES = fc.array(
  fc.record({
    step: fc.constantFrom(...STEPS),
    effect: fc.integer({ min: 0, max: 5 }),
    unit: fc.constantFrom(...UNITS),
    amount: fc.integer({ min: 0, max: 200 }),
    isOther: fc.constantFrom(false, false, false, true),
    /** Minutes since the step before. */
    later: fc.constantFrom(0, 0, 0, 25, 700),
  }),
  { minLength: 4, maxLength: 25 },
);

const INR = { unit: 'INR', amount: 1, isOther: false } as const;
/** Escalated and released in one hour, done all the same and taken back in the next. */
const RELEASED_AND_DONE_IN_THE_NEXT_HOUR = [
  { step: 'less', effect: 0, ...INR, later: 0 },
  { step: 'reserve', effect: 4, ...INR, later: 0 },
  { step: 'fail', effect: 4, ...INR, later: 25 },
  { step: 'reserve', effect: 0, ...INR, later: 25 },
  { step: 'settle', effect: 4, ...INR, later: 25 },
  { step: 'refund', effect: 4, ...INR, later: 0 },
] as const;

/** Asked for in the name of another, given back, and done all the same. */
const RELEASED_AND_DONE_BY_ANOTHER = [
  { step: 'reserve', effect: 0, ...INR, isOther: true, later: 0 },
  { step: 'release', effect: 0, ...INR, later: 0 },
  { step: 'settle', effect: 0, ...INR, later: 0 },
  { step: 'reserve', effect: 1, ...INR, later: 0 },
] as const;

const seen = new Map<string, number>();

/** Holds after every step, so in every prefix. */
function holds(accountant: CoreHarness, recount: Recount, now: number): void {
  for (const record of accountant.recorded()) {
    recount.add(record, now);
    seen.set(record.type, (seen.get(record.type) ?? 0) + 1);
    if (record.type !== 'BudgetReserved') continue;
    for (const { doc } of accountant.rows('budget')) expect(recount.beyondCeiling(doc, now)).toEqual([]);
    expect(recount.calls(record.body, CAPPED.capability)).toBeLessThanOrEqual(CAPPED.calls);
    expect(recount.subjects(record.body, CAPPED.capability)).toBeLessThanOrEqual(CAPPED.subjects);
  }
}

/** What the running sums say, that gauges read. */
function sumsOf(accountant: CoreHarness): Readonly<Record<string, number>> {
  const [total] = accountant.rows('debt_total').map(({ doc }) => doc['units'] as Readonly<Record<string, Sums>>); // as the one row has them
  const sums = Object.entries(total ?? {}).flatMap(([unit, { reserved_minor, standing_minor }]) => [
    [`reserved ${unit}`, reserved_minor] as const,
    [`standing ${unit}`, standing_minor] as const,
  ]);
  const closings = accountant.rows('debt_closing').flatMap(({ doc }) => {
    const place = `${String(doc['currency'])} until ${String(doc['closes_at'])}`;
    return [
      [`debt ${place}`, Number(doc['debit_minor'])] as const,
      [`value ${place}`, Number(doc['value_minor'])] as const,
    ];
  });
  return nonZero([...sums, ...closings]);
}

interface Sums {
  readonly reserved_minor: number;
  readonly standing_minor: number;
}

/** The same, from every reservation. */
function standingOf(accountant: CoreHarness): Readonly<Record<string, number>> {
  const entries = accountant.rows('reservation').flatMap(({ doc }) => {
    const { phase, debits, expires_at } = doc as unknown as Reservation; // rows of this kind are reservations
    if (!HOLDING_PHASES.includes(phase)) return [];
    return debits.flatMap(({ currency, debit_minor, value_minor }) => {
      const standing = [[`${phase === 'reserved' ? 'reserved' : 'standing'} ${currency}`, debit_minor] as const];
      if (phase === 'reserved' || expires_at === null) return standing;
      const place = `${currency} until ${String(expires_at - (expires_at % 60_000))}`;
      return [...standing, [`debt ${place}`, debit_minor] as const, [`value ${place}`, value_minor] as const];
    });
  });
  return nonZero(entries);
}

function nonZero(entries: readonly (readonly [string, number])[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [key, amount] of entries) sums.set(key, (sums.get(key) ?? 0) + amount);
  return Object.fromEntries([...sums].filter(([, amount]) => amount !== 0));
}

describe.each(WAYS)('the budget accountant, in every order of steps, $way', ({ isRebuilt }) => {
  it(
    'never reserves beyond a ceiling or cap, counts what its log says, and frees no more than was debited',
    () => {
      fc.assert(
        fc.property(STORIES, (story) => {
          const views = { contracts: cappedView(), entries: memoryView(entryView) };
          const accountant = harness(budgetsCore({ settleWithinMs: 3_600_000, escalationDeadlineMs: 3_600_000 }), {
            views,
            isRebuilt,
          });
          const recount = new Recount();
          let now = 0;
          for (const ceiling of CEILINGS) {
            accountant.when(ceiling, now);
            holds(accountant, recount, now);
          }
          for (const { later, ...step } of story) {
            now += later * 60_000;
            accountant.whenDue(now);
            holds(accountant, recount, now);
            accountant.when(inputOf(step, accountant.rows('reservation')), now);
            holds(accountant, recount, now);
          }
          for (const { doc } of accountant.rows('budget'))
            if (doc['window_at'] === recount.windowAt(doc, now))
              expect(recount.of(doc, now)).toEqual({
                used_minor: doc['used_minor'],
                moved_minor: doc['moved_minor'],
                refunded_minor: doc['refunded_minor'],
                moved_back_minor: doc['moved_back_minor'],
              });
          expect(recount.freedBeyondDebits()).toEqual([]);
          expect(sumsOf(accountant)).toEqual(standingOf(accountant));
        }),
        {
          numRuns: isRebuilt ? Math.ceil(RUNS_TRIED / REBUILT_SHARE) : RUNS_TRIED,
          examples: [[[...RELEASED_AND_DONE_IN_THE_NEXT_HOUR]], [[...RELEASED_AND_DONE_BY_ANOTHER]]],
        },
      );
    },
    PATIENCE_MS,
  );
});

// A property over stories in which nothing happens holds always.
afterAll(() => {
  for (const type of ['BudgetReserved', 'BudgetEscalated', 'EscalationDecided', 'BudgetSettled', 'BudgetOverrun'])
    expect(seen.get(type) ?? 0).toBeGreaterThan(RUNS_TRIED / 10);
  for (const type of ['BudgetReleased', 'BudgetRefunded', 'BudgetOverdue', 'CeilingMoved'])
    expect(seen.get(type) ?? 0).toBeGreaterThan(RUNS_TRIED / 100);
});
