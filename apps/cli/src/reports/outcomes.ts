// What work cost and what came of it, as people and spreadsheets read it (D39 to D42, D66). Pure.
import type { Doc, Listed } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { formatCsv } from '../output/csv.js';
import { listText, minorUnits } from '../output/table.js';
import type { Column } from '../output/table.js';
import { percent, rowsOf } from './exposure.js';

/** A column that is shown to people; in CSV the value stands as it is, under its own name. */
const COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'WORKFLOW', of: (row) => row['workflow_id'] },
  { title: 'INTENT', of: (row) => row['intent'] },
  { title: 'VERSION', of: (row) => row['version'] },
  { title: 'OUTCOMES', of: (row) => row['outcomes'], align: 'right' },
  { title: 'TRUSTED', of: (row) => row['trusted'], align: 'right' },
  { title: 'COST', of: (row) => amount(row, 'cost_minor'), align: 'right' },
  { title: 'PER TRUSTED', of: (row) => amount(row, 'cost_per_trusted_outcome_minor'), align: 'right' },
  { title: 'RECOVERIES', of: (row) => amount(row, 'recovery_cost_minor'), align: 'right' },
  { title: 'REVENUE', of: (row) => amount(row, 'revenue_minor'), align: 'right' },
  { title: 'RETRIED', of: (row) => percent(row['retry_token_ratio']), align: 'right' },
  { title: 'EVALUATED', of: (row) => percent(row['eval_overhead_ratio']), align: 'right' },
  { title: 'CACHED', of: (row) => percent(row['cache_hit_rate']), align: 'right' },
  { title: 'SUCCESS', of: (row) => percent(row['success_rate']), align: 'right' },
  { title: 'CONVERTED', of: (row) => percent(row['conversion_rate']), align: 'right' },
  { title: 'DEFLECTED', of: (row) => percent(row['deflection_rate']), align: 'right' },
  { title: 'CSAT', of: (row) => percent(row['csat']), align: 'right' },
];

/** Members in CSV, under the names they have in JSON. */
const MEMBERS = [
  ...['tenant', 'workflow_id', 'intent', 'version', 'outcomes', 'trusted', 'trusted_ratio', 'currency'],
  ...['cost_minor', 'cost_per_trusted_outcome_minor', 'recovery_cost_minor', 'revenue_minor'],
  ...['total_tokens', 'retry_tokens', 'eval_tokens', 'retry_token_ratio', 'eval_overhead_ratio'],
  ...['cache_lookups', 'cache_hits', 'cache_hit_rate'],
  ...['success_rate', 'conversion_rate', 'deflection_rate', 'csat'],
] as const;

/** The table; one line a group and currency. */
export function describeOutcomes(told: Doc): string {
  return listText(COLUMNS, linesOf(told));
}

/** The same for a spreadsheet, with every sum. */
export function csvOfOutcomes(told: Doc): string {
  return formatCsv(
    MEMBERS.map((title) => ({ title, of: (row: Doc) => row[title] })),
    linesOf(told).items,
  );
}

function linesOf(told: Doc): Listed {
  const { items, more } = rowsOf(told);
  const lines = items.flatMap(({ money, ...group }) => {
    const each = Array.isArray(money) ? money.map(docOf) : [];
    return each.length === 0 ? [group] : each.map((one) => ({ ...group, ...one }));
  });
  return { items: lines, more };
}

/** What one trusted outcome costs may be a part of a minor unit: shown to the whole one. */
function amount(row: Doc, name: string): string | null {
  const [value, currency] = [row[name], row['currency']];
  return typeof value === 'number' && typeof currency === 'string' ? minorUnits(Math.round(value), currency) : null;
}
