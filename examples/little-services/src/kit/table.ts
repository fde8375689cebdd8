// Tables as the command line prints them: padded text under headings. Pure.

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | null;
}

/** Shape: every column as wide as its widest cell, nothing cut, no trailing blanks; null is a dash. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row) ?? '-'))];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** An instant in epoch milliseconds, in UTC. */
export function instant(ms: number | null): string | null {
  return ms === null
    ? null
    : new Date(ms)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z');
}
