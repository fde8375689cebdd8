// What stands of all reservations of a partition, as running sums: what is held, what has happened, and when it can no longer be
// taken back. Gauges read these and no reservation, all tenants of a partition share them, and no sum leaves what a row can hold: one
// that did would stop all of them. Holds no rules; adds what a reservation became.
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { keptIds } from '@recourse/kernel';
import type { Reservation } from '../rules/budget/budget.messages.js';
import { capped } from '../rules/budget/sums.decisions.js';

/** Windows are summed to the minute in which they close. */
const MINUTE_MS = 60_000;
/** The one row of a partition. */
const ALL = 'all';

/** Sums of one unit, minor units. */
interface UnitTotal {
  readonly reserved_minor: number;
  /** Of what has happened and stands. */
  readonly standing_minor: number;
}

/** What stands on a partition, by unit: one row, however many there are of anything. */
interface DebtTotal {
  readonly of: typeof ALL;
  readonly units: Readonly<Record<string, UnitTotal>>;
}

const totals = row<DebtTotal>({
  kind: 'debt_total',
  table: 'debt_totals',
  group: ({ of }) => of,
  key: ({ of }) => of,
  columns: { of: 'text' },
});

/** What can be taken back until a minute, in one unit. */
interface DebtClosing {
  readonly currency: string;
  /** Start of the minute in which it closes, epoch milliseconds: it counts as closed from then on. */
  readonly closes_at: number;
  readonly debit_minor: number;
  readonly value_minor: number;
}

const closingIdOf = keptIds('cls');

const closingGroup = ({ currency, closes_at }: Pick<DebtClosing, 'currency' | 'closes_at'>): string =>
  closingIdOf(currency, closes_at);

const closings = row<DebtClosing>({
  kind: 'debt_closing',
  table: 'debt_closings',
  group: closingGroup,
  key: closingGroup,
  columns: { currency: 'text', closes_at: 'bigint', debit_minor: 'bigint', value_minor: 'bigint' },
  indexes: [['closes_at', 'currency', 'debit_minor', 'value_minor']],
});

export const STANDING_ROWS = [totals, closings];

type Held = Pick<Reservation, 'phase' | 'debits' | 'expires_at'>;

/** Counts what a reservation became, in place of what it was. */
export function standingAfter(state: StateView, before: Held | null, after: Held): readonly Change[] {
  return [...totalsAfter(state, before, after), ...closingsAfter(state, before, after)];
}

function totalsAfter(state: StateView, before: Held | null, after: Held): readonly Change[] {
  const added = new Map<string, UnitTotal>();
  const add = (held: Held | null, sign: number): void => {
    for (const { currency, debit_minor } of held === null || !isCounted(held) ? [] : held.debits) {
      const { reserved_minor, standing_minor } = added.get(currency) ?? NOTHING;
      const by = sign * debit_minor;
      const isReserved = held?.phase === 'reserved';
      added.set(currency, {
        reserved_minor: capped(reserved_minor + (isReserved ? by : 0)),
        standing_minor: capped(standing_minor + (isReserved ? 0 : by)),
      });
    }
  };
  add(before, -1);
  add(after, 1);
  const more = [...added].filter(([, one]) => one.reserved_minor !== 0 || one.standing_minor !== 0);
  if (more.length === 0) return [];
  const standing = totals.find(state, ALL) ?? { of: ALL, units: {} };
  const units = more.map(([currency, by]): [string, UnitTotal] => {
    const { reserved_minor, standing_minor } = standing.units[currency] ?? NOTHING;
    return [
      currency,
      {
        reserved_minor: stored(reserved_minor + by.reserved_minor),
        standing_minor: stored(standing_minor + by.standing_minor),
      },
    ];
  });
  return [totals.put({ of: ALL, units: { ...standing.units, ...Object.fromEntries(units) } })];
}

const NOTHING: UnitTotal = { reserved_minor: 0, standing_minor: 0 };

function closingsAfter(state: StateView, before: Held | null, after: Held): readonly Change[] {
  const added = new Map<string, DebtClosing>();
  const add = (held: Held | null, sign: number): void => {
    const closes_at = held === null || !isHappened(held) || held.expires_at === null ? null : minuteOf(held.expires_at);
    for (const { currency, debit_minor, value_minor } of closes_at === null ? [] : (held?.debits ?? [])) {
      const key = { currency, closes_at: closes_at ?? 0 };
      const standing = added.get(closingGroup(key)) ?? { ...key, debit_minor: 0, value_minor: 0 };
      added.set(closingGroup(key), plus(standing, sign * debit_minor, sign * value_minor));
    }
  };
  add(before, -1);
  add(after, 1);
  return [...added]
    .filter(([, one]) => one.debit_minor !== 0 || one.value_minor !== 0)
    .map(([group, { currency, closes_at, debit_minor, value_minor }]) => {
      const standing = closings.find(state, group) ?? { currency, closes_at, debit_minor: 0, value_minor: 0 };
      const { debit_minor: debit, value_minor: value } = plus(standing, debit_minor, value_minor);
      return closings.put({ ...standing, debit_minor: stored(debit), value_minor: stored(value) });
    });
}

function plus(closing: DebtClosing, debit: number, value: number): DebtClosing {
  return {
    ...closing,
    debit_minor: capped(closing.debit_minor + debit),
    value_minor: capped(closing.value_minor + value),
  };
}

/** What stands is never less than nothing; a sum that was cut could say so. */
function stored(sum: number): number {
  return Math.max(0, capped(sum));
}

function minuteOf(at: number): number {
  return at - (at % MINUTE_MS);
}

function isHappened({ phase }: Held): boolean {
  return phase === 'settled' || phase === 'overrun';
}

function isCounted(held: Held): boolean {
  return held.phase === 'reserved' || isHappened(held);
}
