// Exposure and the cost of recovery as people read them (A4): what is bounded by contracts beside what was observed. Pure.
//
//   expected harm ≈ P × blast radius × recovery cost
//
// P is the part of what happened whose evidence fell; the blast radius is what stands open; the cost is bounded by contracts.
import type { Doc, Listed } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { formatTable, instant, minorUnits, money, span } from '../output/table.js';
import type { Column } from '../output/table.js';

/** Answers of the three services that know a part each. */
export interface ExposureSources {
  readonly ledger: Doc;
  readonly recoveries: Doc;
  /** Contracts of the registry, every version, retired ones too. */
  readonly contracts: readonly Doc[];
}

export interface ExposureReport {
  /** Database time of the ledger's part, epoch milliseconds. */
  readonly as_of: unknown;
  readonly exposure: readonly Doc[];
  readonly recoveries: readonly Doc[];
  /** True when a service had more rows than were asked for. */
  readonly more: boolean;
}

const EXPOSURE_COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'OPEN', of: (row) => row['open'], align: 'right' },
  { title: 'AT STAKE', of: (row) => amount(row, 'open'), align: 'right' },
  { title: 'FIRST CLOSES', of: (row) => instant(row['closes_first_at']) },
  { title: 'COST AT MOST', of: (row) => money(row['cost_at_most']) ?? 'not bounded', align: 'right' },
  { title: 'FELL', of: (row) => percent(row['part_contradicted']), align: 'right' },
  { title: 'UNCERTAIN', of: (row) => row['uncertain'], align: 'right' },
  { title: 'BEYOND REVERSAL', of: (row) => row['beyond'], align: 'right' },
  { title: 'THAT STANDS', of: (row) => amount(row, 'beyond'), align: 'right' },
];
const RECOVERY_COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'COMPENSATED', of: (row) => row['compensated'], align: 'right' },
  { title: 'UNATTENDED', of: (row) => row['automatic'], align: 'right' },
  { title: 'MANUAL', of: (row) => row['manual'], align: 'right' },
  { title: 'OPEN', of: (row) => row['open'], align: 'right' },
  { title: 'ATTEMPTS', of: (row) => row['attempts'], align: 'right' },
  { title: 'MEAN TIME', of: (row) => duration(row['mean_ms']), align: 'right' },
  { title: 'LONGEST', of: (row) => duration(row['max_ms']), align: 'right' },
  { title: 'TIME AT MOST', of: (row) => duration(row['time_at_most_ms']) ?? 'not bounded', align: 'right' },
];

/** Joins what is exposed and what was observed with what contracts declare. */
export function exposureOf({ ledger, recoveries, contracts }: ExposureSources): ExposureReport {
  const costs = new Map(
    contracts.map((row) => [String(row['digest']), docOf(docOf(row['contract'])['recovery_cost'])]),
  );
  return {
    as_of: ledger['as_of'] ?? null,
    exposure: itemsOf(ledger).map((row) => exposed(row, costs.get(String(row['contract_digest'])))),
    recoveries: itemsOf(recoveries).map((row) => ({
      ...row,
      time_at_most_ms: longestDeclared(contracts, row['capability']),
    })),
    more: ledger['more'] === true || recoveries['more'] === true,
  };
}

/** Both tables; says when there is nothing, or more. */
export function describeExposure({ exposure, recoveries, more }: ExposureReport): string {
  const parts = [
    exposure.length === 0 ? 'nothing is exposed' : formatTable(EXPOSURE_COLUMNS, exposure),
    recoveries.length === 0 ? 'no recovery was observed' : formatTable(RECOVERY_COLUMNS, recoveries),
    ...(more ? ['there are more rows: raise --limit, or name a --capability'] : []),
  ];
  return parts.join('\n\n');
}

/** One effect's declared cost, that of all which are open, and the part of what happened that fell. */
function exposed(row: Doc, declared: Doc | undefined): Doc {
  const cost = docOf(declared?.['value']);
  const { amount_minor: minor, currency } = cost;
  const { open, happened, contradicted } = row;
  return {
    ...row,
    declared_cost: declared === undefined || typeof minor !== 'number' ? null : declared,
    cost_at_most:
      typeof minor === 'number' && typeof open === 'number' ? { amount_minor: minor * open, currency } : null,
    part_contradicted:
      typeof happened === 'number' && typeof contradicted === 'number' && happened > 0 ? contradicted / happened : null,
  };
}

/** Longest time that any version of the capability's contract declares; null where none does. */
function longestDeclared(contracts: readonly Doc[], capability: unknown): number | null {
  return contracts
    .filter(({ name }) => name === capability)
    .map(({ contract }) => docOf(docOf(contract)['recovery_cost'])['time_ms'])
    .filter((time) => typeof time === 'number')
    .reduce<number | null>((longest, time) => (longest === null || time > longest ? time : longest), null);
}

/** Rows of a report, and whether there are more. */
export function rowsOf(report: Doc): Listed {
  return { items: itemsOf(report), more: report['more'] === true };
}

/** Rows of a report. */
function itemsOf({ items }: Doc): readonly Doc[] {
  return Array.isArray(items) ? items.map(docOf) : [];
}

/** A sum beyond the exact numbers comes as text and is shown as it is; effects without a value have none. */
function amount(row: Doc, name: string): string | null {
  const [minor, currency] = [row[`${name}_minor`], row['currency']];
  if ((typeof minor !== 'number' && typeof minor !== 'string') || typeof currency !== 'string') return null;
  return minorUnits(minor, currency) ?? `${String(minor)} minor units ${currency}`;
}

/** Short times matter here, so they are told to the millisecond. */
export function duration(ms: unknown): string | null {
  return typeof ms === 'number' && ms < 1_000 ? `${String(ms)} ms` : span(ms);
}

/** A part from 0 to 1 as people read it. */
export function percent(part: unknown): string | null {
  return typeof part === 'number' ? `${(part * 100).toFixed(1)} %` : null;
}
