// Lists of rows, page by page up to a number of them.
import { queryOptions } from '@tanstack/react-query';
import { answered } from './clients.js';
import type { EdgeName } from './clients.js';
import { ROW, ROWS } from './shapes.js';
import type { Row } from './shapes.js';

type Call = Parameters<typeof answered>[1];

/** Rows of a list. The name of its service comes first in the key: the stream reads it again by that. */
export function rowsQuery(edge: EdgeName, name: readonly string[], call: () => Call) {
  return queryOptions({
    queryKey: [edge, 'rows', ...name],
    queryFn: async (): Promise<readonly Row[]> => (await answered(ROWS, call())).items,
  });
}

/** One row. */
export function rowQuery(edge: EdgeName, name: readonly string[], call: () => Call) {
  return queryOptions({ queryKey: [edge, 'row', ...name], queryFn: (): Promise<Row> => answered(ROW, call()) });
}
