// P9, over lineage: the fall of a root goes on behind a commit beyond its bound once, however many ways lead there.
import { nested, ofType, subjectOf, text } from './history.js';
import type { History, LogRecord } from './history.js';

const MUTATIONS = 'recourse.mutations';

/** What a record is that says of a commit beyond the bound of a root that the fall reaches it. */
export type WentOn = (record: LogRecord, rootId: string) => 'CommitBeyondBound' | 'TriggerRedundant';

/** It changes nothing where the fall of that root had gone on behind the commit before, or its own mark had. */
export function wentOnBefore(history: History): WentOn {
  const first = new Map<string, number>();
  const from = (key: string, seq: number): unknown => first.has(key) || first.set(key, seq);
  for (const { body, seq } of ofType(history, MUTATIONS, 'MutationsFell', 'CheckpointRolledBack'))
    from(subjectOf(body), seq);
  for (const { body, seq } of ofType(history, MUTATIONS, 'CommitBeyondBound'))
    from(`${subjectOf(body)} ${text(nested(nested(body, 'evidence'), 'root'), 'rollback_id')}`, seq);
  return ({ body, seq }, rootId) => {
    const isAgain = [subjectOf(body), `${subjectOf(body)} ${rootId}`].some((key) => (first.get(key) ?? Infinity) < seq);
    return isAgain ? 'TriggerRedundant' : 'CommitBeyondBound';
  };
}
