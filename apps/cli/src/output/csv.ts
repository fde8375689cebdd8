// Rows as comma-separated values, for spreadsheets: RFC 4180, but that lines end as those of a terminal do. Pure.
//
// Invariants
//   V1. What somebody else wrote is never a formula: a text that a spreadsheet would run begins with an apostrophe.
import type { Column } from './table.js';

const RUN = /^[=+\-@\t\r]/u;

/** Headings and rows, each line ended; nothing stands where nothing is known. */
export function formatCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row)))];
  return lines.map((line) => line.map(cell).join(',')).join('\n');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = RUN.test(text) ? `'${text}` : text;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
