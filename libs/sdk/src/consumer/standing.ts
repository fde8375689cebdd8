// Whether what a reader has heard still stands in its log: a log that was restored from an older copy goes on otherwise, under the same offsets.
import { readHead, readRecord, schemaIdOf } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import { Failure } from '@recourse/kernel';
import type { FetchedRecord, RawReader } from '@recourse/kafka';
import type { Codecs } from '@recourse/messages';

/** The last record that was accepted, and where. */
export interface Heard {
  readonly topic: string;
  readonly partition: number;
  readonly head: Head;
  readonly record: number;
}

/** True where the record that was heard last is at its place. Errors: those of broker and registry. */
export async function isThere(reader: RawReader, codecs: Codecs, heard: Heard): Promise<boolean> {
  const { topic, partition, head, record: offset } = heard;
  const { low, high } = await reader.range(topic, partition);
  if (offset < low || offset >= high) return false;
  const { records } = await reader.read(topic, partition, offset);
  const [found] = records;
  if (found?.offset !== offset) return false;
  const place = await placeSaid(found, codecs);
  return place !== null && place.seq === head.seq && place.hash.equals(head.hash);
}

/** True for a record that follows on one which was not heard. */
export function isAhead({ value }: FetchedRecord, { seq }: Head): boolean {
  const said = value === null ? null : readHead(value);
  return said !== null && said.seq > seq + 1;
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
export function cutBehind({ topic, partition, head }: Omit<Heard, 'record'>): Failure {
  return new Failure(
    'LOG_CUT',
    `the record ${String(head.seq)} of ${topic}/${String(partition)} that was heard last is not there any more: the log was restored from an older copy, and nothing more of it is heard until this consumer's place is forgotten`,
  );
}
