// What must hold before a loop takes up its partition: nothing that was projected or read is missing from any log (L8, L13).
import { Failure } from '@recourse/kernel';
import type { PartitionRange } from '@recourse/kafka';
import type { Codecs } from '@recourse/messages';
import { holdsCursor } from './input-cut.js';
import { judgeRange, lossMessage } from './input-loss.js';
import { judgeStore } from './loop.decisions.js';
import type { OwnLog } from './own-log.js';
import type { InputSpec } from './service-core.js';
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

/** An input partition, and where the loop stands in it; null: nothing was read of it. */
export interface InputPlace {
  readonly topic: string;
  readonly partition: number;
  readonly source: InputSpec['source'];
  readonly cursor: StoredCursor | null;
}

/**
 * What was read of other logs still stands in them, and wires hold all that was not read.
 *
 * Errors: Failure(LOG_CUT); Failure(CURSOR_OUT_OF_RANGE).
 */
export async function checkInputs(log: OwnLog, codecs: Codecs, inputs: readonly InputPlace[]): Promise<void> {
  const reader = await log.reader();
  const checks = inputs.map(async (input) => {
    const { topic, partition, cursor, source } = input;
    if (source === 'wire') checkWire(log, input, await reader.range(topic, partition));
    else if (cursor !== null && !(await holdsCursor(reader, codecs, cursor))) {
      const lost = `${topic}/${partition} no longer holds record ${cursor.seq}`;
      throw new Failure('LOG_CUT', `${lost}, which ${nameOf(log)} has read: restore this log from the same moment`);
    }
  });
  await Promise.all(checks);
}

function checkWire({ options }: OwnLog, { topic: wire, partition, cursor }: InputPlace, range: PartitionRange): void {
  const loss = judgeRange(range, cursor?.offset ?? 0);
  if (loss === null) return;
  const at = { log: options.topic, logPartition: options.partition, wire, partition };
  throw new Failure('CURSOR_OUT_OF_RANGE', lossMessage(at, range, loss));
}

function nameOf({ options: { topic, partition } }: OwnLog): string {
  return `${topic}/${partition}`;
}
