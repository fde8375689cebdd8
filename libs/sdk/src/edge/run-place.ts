// Where the edge of a service is asked about a run: a stranger named it, and any name leads to its own run. Pure.
import type { EdgeRequest, Query } from './edge.js';

/** Does a client take the name for a way up, so that no path can hold it? */
export function isWayUp(name: string): boolean {
  return /^\.{1,2}$/u.test(name);
}

/**
 * What is asked of one part of a run.
 *
 * Shape: a client takes a run that is called by dots alone for a way up; the query names it, where the ledger heeds it above the path.
 */
export function askOfRun(
  runId: string,
  part: 'resume' | 'undo-preview',
  query: Query,
): Required<Pick<EdgeRequest, 'path' | 'query'>> {
  const isPlace = isWayUp(runId);
  return {
    path: `/v1/runs/${isPlace ? 'in-query' : encodeURIComponent(runId)}/${part}`,
    query: isPlace ? { ...query, run_id: runId } : query,
  };
}
