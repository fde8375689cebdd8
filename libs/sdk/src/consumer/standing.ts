// Whether what a reader has heard still stands in its log: a log that was restored from an older copy goes on otherwise, under the same offsets.
import { readHead, readRecord, schemaIdOf } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import { Failure } from '@recourse/kernel';
import type { FetchedRecord, RawReader } from '@recourse/kafka';
import type { Codecs } from '@recourse/messages';

/** The last record that was accepted, and where, as far as that was kept. */
export interface Heard {
  readonly topic: string;
  readonly partition: number;
  readonly head: Head;
  readonly record: number | null;
  /** Offset of the next record to be heard. */
  readonly offset: number;
}

/**
 * Offset of the record that was heard last; null where it is not there any more. Errors: those of broker and registry.
 *
 * Shape: where its place was not kept it is looked for, backwards past what is void; as its chain has an offset for each
 *        record at least, it is at `seq - 1` or behind it.
 */
export async function whereIs(reader: RawReader, codecs: Codecs, heard: Heard): Promise<number | null> {
  const { topic, partition, head, record, offset } = heard;
  const { low, high } = await reader.range(topic, partition);
  const oldest = Math.max(record ?? head.seq - 1, low);
  for (let at = Math.min(record ?? offset - 1, high - 1); at >= oldest; at -= 1) {
    const { records } = await reader.read(topic, partition, at);
    const [found] = records;
    if (found?.offset === at && (await isHead(found, codecs, head))) return at;
  }
  return null;
}

async function isHead(record: FetchedRecord, codecs: Codecs, head: Head): Promise<boolean> {
  const place = await placeSaid(record, codecs);
  return place !== null && place.seq === head.seq && place.hash.equals(head.hash);
}

/** True for a record that follows on one which was not heard. */
export function isAhead({ value }: FetchedRecord, { seq, hash }: Head): boolean {
  const said = value === null ? null : readHead(value);
  return said !== null && (said.seq > seq + 1 || (said.seq === seq + 1 && !said.prevHash.equals(hash)));
}

/** Where a record says that it is in its chain; null where it says nothing. */
async function placeSaid(record: FetchedRecord, codecs: Codecs): Promise<Head | null> {
  const [said, id] = [readHead(record.value), schemaIdOf(record.value)];
  if (said === null || id === null) return null;
  await codecs.load(id);
  const verdict = readRecord({ seq: said.seq - 1, hash: said.prevHash }, record, (each) => codecs.fingerprintOf(each));
  return verdict.kind === 'accepted' ? verdict.head : null;
}

/** What was heard is gone. */
export function cutBehind({ topic, partition, head }: Pick<Heard, 'topic' | 'partition' | 'head'>): Failure {
  return new Failure(
    'LOG_CUT',
    `the record ${String(head.seq)} of ${topic}/${String(partition)} that was heard last is not there any more: the log was restored from an older copy, and nothing more of it is heard until this consumer's place is forgotten`,
  );
}
