// Tables and field lists in plain padded text. Pure.
import { instantText } from '@recourse/kernel';
import { decimalsOf } from '@recourse/kernel/currency';
import { docOf } from '@recourse/sdk';
import type { Doc, Listed } from '@recourse/sdk';
import { visible, visibleOnOneLine } from './visible.js';

/** A column: its heading and what a row shows there. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => unknown;
  /** Numbers stand on the right. */
  readonly align?: 'left' | 'right';
}

const GAP = '  ';

/**
 * Formats rows under headings, every column as wide as its widest cell.
 *
 * Shape: no trailing blanks and no cut cells, so ids can be copied.
 */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => visibleOnOneLine(cellText(column.of(row)))));
  const widths = columns.map(({ title }, at) =>
    cells.reduce((width, row) => Math.max(width, row[at]?.length ?? 0), title.length),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => pad(text, widths[at] ?? 0, columns[at]?.align))
      .join(GAP)
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)].join('\n');
}

/** Formats names and values, one a line; what has no value is left out. */
export function formatFields(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== null && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}${GAP}${visible(cellText(value)).replaceAll('\n', `\n${' '.repeat(width + GAP.length)}`)}`,
    )
    .join('\n');
}

/** A value as people read it: nothing as a dash, lists with commas, anything deeper as JSON. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cellText).join(', ');
  return JSON.stringify(value);
}

/** An instant in epoch milliseconds as people read it, in UTC. */
export function instant(ms: unknown): string | null {
  return typeof ms === 'number' && Number.isFinite(ms)
    ? instantText(ms)
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z')
    : null;
}

/** A span of milliseconds in its largest two units. */
export function span(ms: unknown): string | null {
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return null;
  const seconds = Math.floor(ms / 1_000);
  const parts = (
    [
      ['d', 86_400],
      ['h', 3_600],
      ['min', 60],
      ['s', 1],
    ] as const
  ).map(([unit, size], at, units) => {
    const above = units[at - 1]?.[1];
    return [Math.floor((above === undefined ? seconds : seconds % above) / size), unit] as const;
  });
  const shown = parts
    .filter(([count]) => count > 0)
    .slice(0, 2)
    .map(([count, unit]) => `${count} ${unit}`);
  return shown.length === 0 ? '0 s' : shown.join(' ');
}

/** Minor units with their currency; the number of decimals is the currency's own. */
export function money(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('amount_minor' in value) || !('currency' in value)) return null;
  return minorUnits(value.amount_minor, value.currency);
}

export function minorUnits(amount: unknown, currency: unknown): string | null {
  if (typeof amount !== 'number' || typeof currency !== 'string') return null;
  const digits = decimalsOf(currency);
  return `${(amount / 10 ** digits).toFixed(digits)} ${currency}`;
}

function pad(text: string, width: number, align: Column<never>['align']): string {
  return align === 'right' ? text.padStart(width) : text.padEnd(width);
}

/** A list for people; says when there is more, and when there is nothing. */
export function listText(columns: readonly Column<Doc>[], { items, more }: Listed): string {
  if (items.length === 0) return 'none';
  return `${formatTable(columns, items)}${more ? `\n\n${items.length} shown, there are more: raise --limit` : ''}`;
}

/** The objects of a list; none where it is no list. */
export function docsOf(value: unknown): readonly Doc[] {
  return Array.isArray(value) ? value.map(docOf) : [];
}
