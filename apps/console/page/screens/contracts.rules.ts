// Which versions of contracts new calls are under. Pure.
import { numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';

/** The newest version of each capability and owner, unless it is retired: an older one is never in force again. */
export function standingIn(rows: readonly Row[]): readonly Row[] {
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const key = `${textIn(row, 'tenant') ?? ''}\n${textIn(row, 'name') ?? ''}`;
    const known = newest.get(key);
    if (known === undefined || (numberIn(known, 'version') ?? 0) < (numberIn(row, 'version') ?? 0))
      newest.set(key, row);
  }
  return [...newest.values()].filter((row) => row['retired'] !== true);
}
