// Which bounds an action would exceed: ceilings of its run, its agent, its tenant and the platform, and caps of its contract. Pure.
//
// Invariants
//   D1. Equality passes (A75). What is not bounded passes, but disclosures, which are bounded by 0 until somebody says otherwise (A81).
//   D2. What binds in law is a person's, whatever the ceiling (A82).
//   D3. A run in which something happened that nobody reserved reserves nothing more until a person has looked (P8).
import type { Contract } from '@recourse/contract';
import { EXPOSURE, REGULATORY } from '@recourse/contract';
import type { BudgetMeasure, BudgetWindow, Debit, Excess, Reach } from '@recourse/messages';
import type { Budget } from './budget.messages.js';
import { capped, summed } from './sums.decisions.js';

/** What counts against an action, as it stands before it. */
export interface Bounds {
  /** Of its run, its agent, its tenant and the platform, in every unit and window. */
  readonly budgets: readonly Budget[];
  /** Overruns of its run that no person has let stand. */
  readonly openOverruns: number;
  readonly runId: string;
  /** What its contract caps, and what its run has made of it; null without a cap. */
  readonly cap: Cap | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Caps of a capability on one run. */
export interface Cap {
  readonly capability: string;
  readonly radius: NonNullable<Contract['blast_radius']>;
  readonly calls: number;
  readonly subjects: number;
  /** By currency, minor units. */
  readonly moved: Readonly<Record<string, number>>;
  /** Whether the run has touched this call's subject before. */
  readonly isKnownSubject: boolean;
  readonly reach: Reach;
}

const DAY_MS = 86_400_000;
const WINDOW_MS: Readonly<Record<string, number>> = { hour: 3_600_000, day: DAY_MS };

/** Start of the window that an instant lies in; 0 for what counts for ever. Epoch milliseconds. */
export function windowAt(window: BudgetWindow, now: number): number {
  const lengthMs = WINDOW_MS[window];
  return lengthMs === undefined ? 0 : now - (now % lengthMs);
}

/** What is used of a budget now. */
function usedOf(budget: Budget, measure: BudgetMeasure, now: number): number {
  if (budget.window_at !== windowAt(budget.window, now)) return 0;
  return measure === 'debt'
    ? summed(budget.used_minor, budget.refunds === 'gross' ? budget.refunded_minor : 0)
    : summed(budget.moved_minor, budget.value_refunds === 'gross' ? budget.moved_back_minor : 0);
}

/** Ceiling of a budget by measure, as it was set; null where nobody set one. */
export function ceilingOf(budget: Budget, measure: BudgetMeasure): number | null {
  return measure === 'debt' ? budget.ceiling_minor : budget.value_ceiling_minor;
}

/** Ceiling that holds now: as it was set, and what it is higher by for reservations that people let through with a raise. */
function ceilingNow(budget: Budget, measure: BudgetMeasure, now: number): number | null {
  const ceiling = ceilingOf(budget, measure);
  if (ceiling === null || budget.window_at !== windowAt(budget.window, now)) return ceiling;
  return capped(ceiling + ((measure === 'debt' ? budget.raised_minor : budget.value_raised_minor) ?? 0));
}

/** Budgets of one agent under all spellings of its name: each ceiling bounds what counts now under any of them. */
export function asOneAccount(budgets: readonly Budget[], now: number): readonly Budget[] {
  return budgets.map((budget) => {
    const { currency, window } = budget;
    const window_at = windowAt(window, now);
    const counting = budgets.filter(
      (one) => one.currency === currency && one.window === window && one.window_at === window_at,
    );
    if (counting.every((one) => one === budget)) return budget;
    const sum = (of: (one: Budget) => number): number => capped(counting.reduce((all, one) => all + of(one), 0));
    return {
      ...budget,
      ...(budget.window_at === window_at ? {} : { window_at, raised_minor: 0, value_raised_minor: 0 }),
      used_minor: sum(({ used_minor }) => used_minor),
      refunded_minor: sum(({ refunded_minor }) => refunded_minor),
      moved_minor: sum(({ moved_minor }) => moved_minor),
      moved_back_minor: sum(({ moved_back_minor }) => moved_back_minor),
    };
  });
}

/** Names every bound that an action would exceed. */
export function excessOf(debits: readonly Debit[], bounds: Bounds): readonly Excess[] {
  return [
    ...lawful(debits, bounds),
    ...overrun(bounds),
    ...ceilingExcess(debits, bounds),
    ...capExcess(debits, bounds),
  ];
}

/** Of money that was moved and that nobody can read: no bound says that it fits. */
export function unreadExcess(runId: string): Excess {
  return bound('run', runId, 'unread', { currency: '', window: 'life', used: 0, asked: 0, ceiling: 0 });
}

/** Of a call that no cap sees as what it is. */
export function uncountedExcess(capability: string): Excess {
  return bound('capability', capability, 'name', { asked: 1 });
}

/** Does it say that a call is not what its key, or its reservation, says? */
export function isUncounted(exceeded: readonly Excess[]): boolean {
  return exceeded.some(({ scope, measure }) => scope === 'capability' && measure === 'name');
}

/** Names the ceilings that it would exceed: all that stops what a person agreed to already. */
export function ceilingExcess(debits: readonly Debit[], { budgets, runId, now }: Bounds): readonly Excess[] {
  const open = undisclosed(debits, budgets, runId, now);
  const exceeded = budgets.flatMap((budget) =>
    (['debt', 'value'] as const).flatMap((measure) => {
      const ceiling = ceilingNow(budget, measure, now);
      const debit = inUnit(debits, budget.currency);
      const asked = measure === 'debt' ? debit.debit_minor : debit.value_minor;
      const used = usedOf(budget, measure, now);
      if (ceiling === null || asked === 0 || used + asked <= ceiling) return [];
      const { scope, scope_id, currency, window } = budget;
      return [bound(scope, scope_id, measure, { currency, window, used, asked, ceiling })];
    }),
  );
  return [...open, ...exceeded];
}

/** Has anybody set a ceiling for disclosures? Until then it is 0. */
export function isExposureOpen(budgets: readonly Budget[]): boolean {
  return budgets.some(
    (one) => one.currency === EXPOSURE && (one.ceiling_minor !== null || one.value_ceiling_minor !== null),
  );
}

/** Disclosures that no ceiling bounds. */
function undisclosed(
  debits: readonly Debit[],
  budgets: readonly Budget[],
  runId: string,
  now: number,
): readonly Excess[] {
  const asked = inUnit(debits, EXPOSURE).debit_minor;
  if (asked === 0 || isExposureOpen(budgets)) return [];
  const run = budgets.find(
    ({ scope, window, currency }) => scope === 'run' && window === 'life' && currency === EXPOSURE,
  );
  const used = run === undefined ? 0 : usedOf(run, 'debt', now);
  return [bound('run', runId, 'debt', { currency: EXPOSURE, used, asked, ceiling: 0 })];
}

function lawful(debits: readonly Debit[], { runId }: Bounds): readonly Excess[] {
  const asked = inUnit(debits, REGULATORY).value_minor;
  return asked === 0 ? [] : [bound('run', runId, 'regulatory', { currency: REGULATORY, asked })];
}

function overrun({ openOverruns, runId }: Bounds): readonly Excess[] {
  return openOverruns === 0 ? [] : [bound('run', runId, 'overrun', { used: openOverruns })];
}

const REACHES: readonly Reach[] = ['single_subject', 'tenant', 'cross_tenant'];

/** Names the caps of the contract that it would exceed. */
function capExcess(debits: readonly Debit[], { cap }: Bounds): readonly Excess[] {
  if (cap === null) return [];
  const { capability, radius, calls, subjects, isKnownSubject, reach } = cap;
  const { max_calls_per_run: callsMax, max_subjects_per_run: subjectsMax, scope } = radius;
  const over = (measure: string, more: Amounts) => [bound('capability', capability, measure, more)];
  return [
    ...(callsMax === undefined || calls + 1 <= callsMax
      ? []
      : over('calls', { used: calls, asked: 1, ceiling: callsMax })),
    ...valueExcess(debits, cap),
    ...(subjectsMax === undefined || isKnownSubject || subjects + 1 <= subjectsMax
      ? []
      : over('subjects', { used: subjects, asked: 1, ceiling: subjectsMax })),
    ...(REACHES.indexOf(reach) <= REACHES.indexOf(scope)
      ? []
      : over('scope', { asked: REACHES.indexOf(reach), ceiling: REACHES.indexOf(scope) })),
  ];
}

/** Money in another currency than the cap's is bounded by nothing that could be compared, so by 0. */
function valueExcess(debits: readonly Debit[], { capability, radius, moved }: Cap): readonly Excess[] {
  const cap = radius.max_value_per_run;
  if (cap === undefined) return [];
  return debits
    .filter(({ currency, value_minor }) => /^[A-Z]{3}$/.test(currency) && value_minor > 0)
    .flatMap(({ currency, value_minor: asked }) => {
      const ceiling = currency === cap.currency ? cap.amount_minor : 0;
      const used = moved[currency] ?? 0;
      return used + asked <= ceiling
        ? []
        : [bound('capability', capability, 'value', { currency, used, asked, ceiling })];
    });
}

interface Amounts {
  readonly currency?: string;
  readonly window?: string;
  readonly used?: number;
  readonly asked?: number;
  readonly ceiling?: number;
}

function bound(
  scope: string,
  scopeId: string,
  measure: string,
  { currency = '', window = 'life', used = 0, asked = 0, ceiling = 0 }: Amounts,
): Excess {
  return {
    scope,
    scope_id: scopeId,
    measure,
    currency,
    window,
    used_minor: used,
    asked_minor: asked,
    ceiling_minor: ceiling,
  };
}

// Debits by unit: sums, differences, and what of them counts. Pure.

/** Adds by unit. */
export function plus(left: readonly Debit[], right: readonly Debit[]): readonly Debit[] {
  return unitsOf(left, right).map((currency) => {
    const [a, b] = [inUnit(left, currency), inUnit(right, currency)];
    return {
      currency,
      value_minor: capped(a.value_minor + b.value_minor),
      debit_minor: capped(a.debit_minor + b.debit_minor),
    };
  });
}

/** The same with the other sign. */
export function negated(debits: readonly Debit[]): readonly Debit[] {
  return debits.map(({ currency, value_minor, debit_minor }) => ({
    currency,
    value_minor: -value_minor,
    debit_minor: -debit_minor,
  }));
}

/** What of `actual` is held, by unit. */
export function within(actual: readonly Debit[], held: readonly Debit[]): readonly Debit[] {
  return held.map((one) => {
    const found = inUnit(actual, one.currency);
    return {
      currency: one.currency,
      value_minor: Math.min(found.value_minor, one.value_minor),
      debit_minor: Math.min(found.debit_minor, one.debit_minor),
    };
  });
}

/** What of `actual` is beyond what is held; units of which nothing is left are gone. */
export function beyond(actual: readonly Debit[], held: readonly Debit[]): readonly Debit[] {
  return actual
    .map((one) => {
      const found = inUnit(held, one.currency);
      return {
        currency: one.currency,
        value_minor: Math.max(0, one.value_minor - found.value_minor),
        debit_minor: Math.max(0, one.debit_minor - found.debit_minor),
      };
    })
    .filter(moves);
}

/** Debit in a unit; of nothing where there is none. */
export function inUnit(debits: readonly Debit[], currency: string): Debit {
  return debits.find((one) => one.currency === currency) ?? { currency, value_minor: 0, debit_minor: 0 };
}

/** True of a debit of something. */
export function moves({ value_minor, debit_minor }: Debit): boolean {
  return value_minor !== 0 || debit_minor !== 0;
}

/** True of a unit of money. */
export function isMoney({ currency }: Pick<Debit, 'currency'>): boolean {
  return /^[A-Z]{3}$/.test(currency);
}

function unitsOf(...debits: readonly (readonly Debit[])[]): readonly string[] {
  return [...new Set(debits.flat().map(({ currency }) => currency))];
}
