// Expected harm as people read it: debt by unit with what recovery takes, what closes soon, and what uses a bound (A4). Pure.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { amountIn } from '../output/debits.js';
import { formatTable, instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { rowsOf } from './exposure.js';

const amount = (title: string, name: string): Column<Doc> => ({
  title,
  of: (row) => amountIn(row[name], row['currency']),
  align: 'right',
});

const OF: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'AGENT', of: (row) => row['agent_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
];
const HARM_COLUMNS: readonly Column<Doc>[] = [
  ...OF,
  amount('RESERVED', 'reserved_minor'),
  amount('OPEN', 'open_minor'),
  amount('BEYOND', 'beyond_minor'),
  amount('MOVED', 'moved_minor'),
  { title: 'FIRST CLOSES', of: (row) => instant(row['closes_first_at']) },
  amount('RECOVERY COST', 'recovery_minor'),
  amount('AT MOST', 'recovery_at_most_minor'),
  amount('EXPECTED', 'recovery_expected_minor'),
];
const FORECAST_COLUMNS: readonly Column<Doc>[] = [
  ...OF,
  amount('NEXT HOUR', 'within_hour_minor'),
  { title: 'EFFECTS', of: (row) => row['within_hour'], align: 'right' },
  amount('NEXT DAY', 'within_day_minor'),
  { title: 'EFFECTS', of: (row) => row['within_day'], align: 'right' },
  { title: 'FIRST CLOSES', of: (row) => instant(row['closes_first_at']) },
];
const USER_COLUMNS: readonly Column<Doc>[] = [
  { title: 'USED BY', of: (row) => row['mutation_id'] ?? `compensation of ${String(row['undoes'])}` },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'AGENT', of: (row) => row['agent_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'AMOUNT', of: (row) => amountIn(row['amount_minor'], row['currency']), align: 'right' },
  { title: 'UNTIL', of: (row) => instant(row['expires_at']) },
  { title: 'PHASE', of: (row) => row['phase'] },
];

/** Where most debt stands, or that none does. */
export function describeHarm(told: Doc): string {
  const listed = rowsOf(told);
  return listed.items.length === 0 ? 'no debt stands' : listText(HARM_COLUMNS, listed);
}

/** What closes within a day, or that nothing does. */
export function describeForecast(told: Doc): string {
  const listed = rowsOf(told);
  return listed.items.length === 0 ? 'no window closes within a day' : listText(FORECAST_COLUMNS, listed);
}

/** A table for each bound that something uses, largest first. */
export function describeUses(uses: unknown): readonly string[] {
  const bounds = Array.isArray(uses) ? uses.map(docOf) : [];
  return bounds.map(({ scope, scope_id, measure, currency, window, used_by, more }) => {
    const users = Array.isArray(used_by) ? used_by.map((one) => ({ ...docOf(one), currency })) : [];
    const per = window === 'life' ? '' : ` per ${String(window)}`;
    const title = `${String(measure)} of ${String(scope)} ${String(scope_id)}${per}`;
    if (users.length === 0) return `${title}: used by nothing that still stands`;
    return `${title}:\n${formatTable(USER_COLUMNS, users)}${more === true ? '\nand others' : ''}`;
  });
}
