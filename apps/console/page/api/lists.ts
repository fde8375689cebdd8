// Lists of rows, page by page up to a number of them.
import { queryOptions } from '@tanstack/react-query';
import { checked } from './clients.js';
import type { EdgeName } from './clients.js';
import { everyPage } from './pages.js';
import type { Call, More, Pages } from './pages.js';
import { ROW, ROWS } from './shapes.js';
import type { Row } from './shapes.js';

/** A table of more is slow to draw, and nobody reads it to the end. */
export const ROWS_MAX = 5_000;

/** Rows of a list. The name of its service comes first in the key: the stream reads it again by that. */
export function rowsQuery(edge: EdgeName, name: readonly string[], call: (more: More) => Call) {
  return queryOptions({
    queryKey: [edge, 'rows', ...name],
    queryFn: (): Promise<Pages<Row>> => everyPage(ROWS, call, ROWS_MAX),
  });
}

/** One row. */
export function rowQuery(edge: EdgeName, name: readonly string[], call: () => Call) {
  return queryOptions({ queryKey: [edge, 'row', ...name], queryFn: (): Promise<Row> => checked(ROW, call()) });
}
