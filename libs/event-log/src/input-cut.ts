// Does an input log still hold what this service has read of it? A log that came back shorter and went on differently would
// otherwise be void from the cursor on, for ever and in silence.
import { FRAME_SIZE, leafHash, schemaIdOf } from '@recourse/chain';
import type { FetchedRecord, RawReader } from '@recourse/kafka';
import type { Codecs } from '@recourse/messages';
import { shortAt } from './log-end.js';
import type { LogPosition, OwnLog } from './own-log.js';
import type { StoredCursor } from './store.port.js';

/** Void records that may lie between the last accepted record and a cursor: rivals leave a batch or two. */
const VOIDS_MAX = 2_000;

/**
 * Looks for the record a cursor of a log names.
 *
 * Shape:  true also for a cursor at the start of a log, which names none.
 * Errors: Failure(CURSOR_OUT_OF_RANGE) when the log ends before the cursor; those of registry and broker, also while a new leader
 *         hands out less than it holds.
 */
export async function holdsCursor(
  reader: Pick<RawReader, 'read' | 'range'>,
  codecs: Codecs,
  cursor: StoredCursor,
): Promise<boolean> {
  if (cursor.seq === 0) return true;
  const last = await reader.read(cursor.topic, cursor.partition, cursor.offset - 1, 1);
  if (await isAmong(last.records, codecs, cursor)) return true;
  for (let offset = Math.max(0, cursor.offset - VOIDS_MAX); offset < cursor.offset;) {
    const { records, nextOffset } = await reader.read(cursor.topic, cursor.partition, offset);
    // The end of a transaction is no record, and reading goes on behind it.
    if (records.length === 0 && nextOffset <= offset) {
      const short = await shortAt(reader, cursor, offset, 'it ends before the cursor');
      if (short.code !== 'LOG_CUT') throw short;
      return false;
    }
    if (await isAmong(records, codecs, cursor)) return true;
    offset = nextOffset;
  }
  return false;
}

/**
 * Looks in a log for what a reader has read of it up to a position.
 *
 * Shape:  false also where the log ends before it. True where the front is gone up to there: reading on says so, or needs none of it.
 * Errors: those of registry and broker.
 */
export async function holdsPosition(log: OwnLog, { head, offset }: LogPosition): Promise<boolean> {
  const { topic, partition, codecs } = log.options;
  const reader = await log.reader();
  const { low, high } = await reader.range(topic, partition);
  if (high < offset) return false;
  return offset <= low || holdsCursor(reader, codecs, { topic, partition, offset, ...head });
}

async function isAmong(
  records: readonly FetchedRecord[],
  codecs: Codecs,
  { offset, hash }: StoredCursor,
): Promise<boolean> {
  for (const record of records)
    if (record.offset < offset && (await hashOf(record, codecs))?.equals(hash) === true) return true;
  return false;
}

/** Null for a record no chain can hold. */
async function hashOf({ key, value }: FetchedRecord, codecs: Codecs): Promise<Buffer | null> {
  const id = schemaIdOf(value);
  if (id === null || value === null || key === null) return null;
  await codecs.load(id);
  const fingerprint = codecs.fingerprintOf(id);
  return fingerprint === null ? null : leafHash(fingerprint, key, value.subarray(FRAME_SIZE));
}
