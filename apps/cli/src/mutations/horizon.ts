// The horizon as people read it: what closes next, and the money that can be taken back until then. Pure.
import type { Doc, Listed } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { formatTable, instant, listText, minorUnits, money, span } from '../output/table.js';
import type { Column } from '../output/table.js';

/** What the ledger says of the windows that close. */
export interface Horizon extends Listed {
  /** Database time of the first page, epoch milliseconds. */
  readonly as_of: unknown;
  readonly at_stake: readonly Doc[];
}

const CLOSING_COLUMNS: readonly Column<Doc>[] = [
  { title: 'CLOSES IN', of: (row) => span(row['closes_in_ms']), align: 'right' },
  { title: 'AT', of: (row) => instant(row['expires_at']) },
  { title: 'MUTATION', of: (row) => row['mutation_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'SUBJECT', of: (row) => row['subject_ref'] },
  { title: 'VALUE', of: (row) => money(row['value']), align: 'right' },
  { title: 'UNDONE BY', of: (row) => row['reversal_capability'] },
  { title: 'APPROVAL', of: (row) => row['recovery_approval_mode'] },
];
const STAKE_COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'AT STAKE', of: stakeText, align: 'right' },
  { title: 'MUTATIONS', of: (row) => row['mutations'], align: 'right' },
  { title: 'FIRST CLOSES', of: (row) => instant(row['closes_first_at']) },
];

/** Reads the first page for the sums and as many as are asked for. */
export function horizonOf(first: Doc, listed: Listed): Horizon {
  const stakes = first['at_stake'];
  return { as_of: first['as_of'] ?? null, at_stake: Array.isArray(stakes) ? stakes.map(docOf) : [], ...listed };
}

/** Both tables, or that nothing closes. */
export function describeHorizon({ at_stake, items, more }: Horizon): string {
  if (items.length === 0) return 'no window closes';
  return `${formatTable(STAKE_COLUMNS, at_stake)}\n\n${listText(CLOSING_COLUMNS, { items, more })}`;
}

/** A sum beyond the exact numbers comes as text and is shown as it is. */
function stakeText({ amount_minor: amount, currency }: Doc): string {
  if (typeof currency !== 'string') return 'no value named';
  return minorUnits(amount, currency) ?? `${String(amount)} minor units ${currency}`;
}
