// What a debit counts at: budgets of its run, agent, tenant and the platform, and what its run has made of the capability.
// Holds no rules; adds what a record says.
import { foldEach } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import type { BudgetMeasure, Debit, Raise } from '@recourse/messages';
import { inUnit, isMoney, negated, windowAt } from '../rules/budget/bounds.decisions.js';
import type { Budget, Reservation, RunCapability } from '../rules/budget/budget.messages.js';
import { capped, summed } from '../rules/budget/sums.decisions.js';
import {
  budgetGroup,
  budgets,
  isCompensation,
  putCapability,
  putSubject,
  scopesOf,
  standingBudget,
  standingCapability,
  standingSubject,
} from './kinds.js';
import { spelt } from './names.rows.js';

/** Who is counted on. */
type Counted = Pick<
  Reservation,
  'tenant' | 'run_id' | 'effect_key' | 'agent_id' | 'capability' | 'subject_id' | 'counted_at'
>;

/** What is counted, and as what. */
interface Counting {
  /** By unit; negative where something is freed. */
  readonly debits: readonly Debit[];
  /** 1 for a call, -1 for one that did not take effect. */
  readonly calls: number;
  readonly isOverrun?: boolean;
  /** Freed by a verified compensation: gross ceilings and caps go on counting it. */
  readonly isRefund?: boolean;
  /** By how much ceilings are higher for it than they were; negative where they fall back. */
  readonly raised?: readonly Raise[];
  /** When, epoch milliseconds. */
  readonly at: number;
}

/** Counts at every account of a reservation. */
export function counted(state: StateView, of: Counted, counting: Counting): readonly Change[] {
  const { tenant, agent_id: agentId } = of;
  return [
    ...budgetsAfter(state, of, counting),
    ...(agentId === null || counting.debits.length === 0 ? [] : spelt(state, tenant, agentId)),
    ...capabilityAfter(state, of, counting),
  ];
}

/** What was reserved is counted as what was executed in its place: another capability, or another subject. */
export function countedInstead(
  state: StateView,
  { capability, subject_id }: Pick<Counted, 'capability' | 'subject_id'>,
  of: Counted & Pick<Reservation, 'debits'>,
): readonly Change[] {
  const steps = [
    { of: { ...of, capability, subject_id }, debits: negated(of.debits), calls: -1 },
    { of, debits: of.debits, calls: 1 },
  ];
  return foldEach(state, steps, ({ of: who, ...counting }, rows) => capabilityAfter(rows, who, counting));
}

function budgetsAfter(state: StateView, of: Counted, counting: Counting): readonly Change[] {
  const { tenant, run_id: runId, agent_id: agentId, counted_at } = of;
  return scopesOf({ tenant, runId, agentId }).flatMap(({ scope, scope_id }) => {
    const group = budgets.list(state, budgetGroup(tenant, scope, scope_id));
    return counting.debits.flatMap((debit) => {
      const { currency, debit_minor, value_minor } = debit;
      if (debit_minor === 0 && value_minor === 0 && counting.isOverrun !== true) return [];
      const own = group.filter((one) => one.currency === currency);
      const life = { tenant, scope, scope_id, currency, window: 'life' } as const;
      const all =
        scope === 'platform' || own.some(({ window }) => window === 'life')
          ? own
          : [standingBudget(state, life), ...own];
      return all.map((budget) => budgets.put(added(budget, debit, counting, counted_at)));
    });
  });
}

/** A budget after a debit. What was counted in a window that is over, or before it began, frees nothing of what it counts. */
function added(
  budget: Budget,
  { debit_minor, value_minor }: Debit,
  { at, isOverrun = false, isRefund = false, raised = [] }: Counting,
  countedAt: number | null,
): Budget {
  const now = windowAt(budget.window, at);
  const fresh = { ...NOTHING_COUNTED, window_at: now };
  const standing = budget.window_at === now ? budget : { ...budget, ...fresh };
  const isOld = countedAt !== null && !isCountedIn(budget, countedAt, now);
  const debt = isOld ? Math.max(0, debit_minor) : debit_minor;
  const value = isOld ? Math.max(0, value_minor) : value_minor;
  return {
    ...standing,
    used_minor: summed(standing.used_minor, debt),
    moved_minor: summed(standing.moved_minor, value),
    refunded_minor: summed(standing.refunded_minor, isRefund ? -debt : 0),
    moved_back_minor: summed(standing.moved_back_minor, isRefund ? -value : 0),
    ...(raised.length === 0
      ? {}
      : raisedBy(standing, raised, (measure, by) =>
          isOld || (isRefund && isGross(budget, measure)) ? Math.max(0, by) : by,
        )),
    overrun: standing.overrun || isOverrun,
  };
}

/** Does what was counted at that time count in the window that runs? Not what was at the instant it began: it may have been before. */
function isCountedIn({ window, since = -1 }: Budget, at: number, windowNow: number): boolean {
  return windowAt(window, at) === windowNow && at > since;
}

/** What a budget counts at the start of a window. */
const NOTHING_COUNTED = {
  used_minor: 0,
  refunded_minor: 0,
  moved_minor: 0,
  moved_back_minor: 0,
  raised_minor: 0,
  value_raised_minor: 0,
};

function isGross({ refunds, value_refunds }: Budget, measure: BudgetMeasure): boolean {
  return (measure === 'debt' ? refunds : value_refunds) === 'gross';
}

/** Raises of a budget's ceilings; what still counts against a ceiling keeps its raise. */
function raisedBy(
  budget: Budget,
  raised: readonly Raise[],
  counts: (measure: BudgetMeasure, by: number) => number,
): Pick<Required<Budget>, 'raised_minor' | 'value_raised_minor'> {
  const { raised_minor = 0, value_raised_minor = 0, ...key } = budget;
  const own = raised.filter((one) =>
    (['scope', 'scope_id', 'currency', 'window'] as const).every((name) => one[name] === key[name]),
  );
  const by = (of: BudgetMeasure): number =>
    own.filter(({ measure }) => measure === of).reduce((all, { by_minor }) => all + counts(of, by_minor), 0);
  // A raise that is left out leaves a ceiling lower than it could be, and never lower than it was set.
  const higher = (so: number, more: number): number => Math.max(0, capped(so + more));
  return {
    raised_minor: higher(raised_minor, by('debt')),
    value_raised_minor: higher(value_raised_minor, by('value')),
  };
}

/** Caps count what an agent did: that it was taken back changes nothing, and taking back is nothing it did. */
function capabilityAfter(
  state: StateView,
  of: Counted,
  { debits, calls, isRefund }: Pick<Counting, 'debits' | 'calls' | 'isRefund'>,
): readonly Change[] {
  const { tenant, run_id, capability, subject_id, effect_key } = of;
  if (capability === null || isRefund === true || isCompensation(state, effect_key)) return [];
  const standing = standingCapability(state, { tenant, run_id, capability });
  const moved = Object.fromEntries(
    debits
      .filter(isMoney)
      .map(({ currency, value_minor }) => [currency, summed(standing.moved[currency] ?? 0, value_minor)]),
  );
  const touched =
    subject_id === null || calls === 0 ? null : standingSubject(state, { tenant, run_id, capability, subject_id });
  const next: RunCapability = {
    ...standing,
    calls: standing.calls + calls,
    moved: { ...standing.moved, ...moved },
    subjects: standing.subjects + (touched === null ? 0 : distinct(touched.calls + calls) - distinct(touched.calls)),
  };
  return [putCapability(next), ...(touched === null ? [] : [putSubject({ ...touched, calls: touched.calls + calls })])];
}

function distinct(calls: number): number {
  return calls > 0 ? 1 : 0;
}

// Ceilings that are higher for one reservation, and for how long. Holds no rules; follows what the reservation became.

/** A raise lasts as long as what it was for counts, and is no more than that. */
export function raisedAfter({ raised = [], debits, phase }: Reservation): readonly Raise[] {
  const held = phase === 'released' ? [] : debits;
  return raised.map((one) => {
    const { debit_minor, value_minor } = inUnit(held, one.currency);
    return { ...one, by_minor: Math.min(one.by_minor, one.measure === 'debt' ? debit_minor : value_minor) };
  });
}

/** By how much each ceiling is raised more than before; negative where it falls back. */
export function moreRaised(before: readonly Raise[], after: readonly Raise[]): readonly Raise[] {
  return after.map((one) => {
    const standing = before.find((other) => isSameCeiling(one, other));
    return { ...one, by_minor: one.by_minor - (standing?.by_minor ?? 0) };
  });
}

function isSameCeiling(one: Raise, other: Raise): boolean {
  return (['scope', 'scope_id', 'measure', 'currency', 'window'] as const).every((name) => one[name] === other[name]);
}
