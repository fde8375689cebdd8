// What must hold before a loop takes up its partition: nothing that was projected or read is missing from any log (L8, L13).
import { Failure } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { holdsCursor } from './input-cut.js';
import { judgeStore } from './loop.decisions.js';
import type { OwnLog } from './own-log.js';
import type { ProjectedHead, StoredCursor } from './store.port.js';

/** What was projected still stands in the log, at its place. Errors: Failure(LOG_CUT). */
export async function checkProjection(log: OwnLog, stored: ProjectedHead | null): Promise<void> {
  if (stored === null || stored.seq === 0) return;
  const where = nameOf(log);
  if (judgeStore(await log.end(), stored.offset) === 'log_cut')
    throw new Failure('LOG_CUT', `${where} ends before offset ${stored.offset}, which was projected`);
  if ((await log.hashAt(stored.offset - 1)).equals(stored.hash)) return;
  const at = `${where}@${stored.offset - 1}`;
  throw new Failure('LOG_CUT', `${at} is not the record that was projected as seq ${stored.seq}`);
}

/** What was read of other logs still stands in them. Errors: Failure(LOG_CUT). */
export async function checkInputs(log: OwnLog, codecs: Codecs, cursors: readonly StoredCursor[]): Promise<void> {
  const reader = await log.reader();
  await Promise.all(
    cursors.map(async (cursor) => {
      if (await holdsCursor(reader, codecs, cursor)) return;
      const lost = `${cursor.topic}/${cursor.partition} no longer holds record ${cursor.seq}`;
      throw new Failure('LOG_CUT', `${lost}, which ${nameOf(log)} has read: restore this log from the same moment`);
    }),
  );
}

function nameOf({ options: { topic, partition } }: OwnLog): string {
  return `${topic}/${partition}`;
}
