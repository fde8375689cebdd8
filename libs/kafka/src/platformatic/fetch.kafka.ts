// One fetch request to one broker, and the records of its answer that a reader may see.
//
// Invariants
//   F1. Records below the position, control records and records of aborted transactions are stepped over, never answered.
import { fetchV11 } from '@platformatic/kafka';
import type { Connection, RecordsBatch } from '@platformatic/kafka';
import type { FetchedRecord, ReadBatch, ReadPosition, TopicPartition } from '../kafka.port.js';

export const READ_COMMITTED = 1;
/** No partition of ours says which of its leaders it means. */
export const ANY_EPOCH = -1;
/** A fetch outside of any session of fetches. */
const NO_SESSION = { id: 0, epoch: -1 } as const;
const IS_TRANSACTIONAL = 1 << 4;
const IS_CONTROL = 1 << 5;
/** Type of a control record that aborts: the second 16-bit integer of its key. */
const ABORT = 0;
const NO_HEADERS: FetchedRecord['headers'] = Object.freeze({});

export type PartitionAnswer = ReturnType<typeof fetchV11.parseResponse>['responses'][number]['partitions'][number];

export interface FetchLimits {
  readonly waitMs: number;
  /** Of each partition. */
  readonly maxBytes: number;
}

/** What a fetch brought of one partition, and where the next one begins. */
export interface FetchAnswer extends ReadBatch {
  readonly next: number;
}

/** Asks a broker for the partitions it leads, in one request. Errors: those of the client. */
export async function fetchFrom<Position extends ReadPosition>(
  broker: Connection,
  positions: readonly Position[],
  { waitMs, maxBytes }: FetchLimits,
): Promise<ReadonlyMap<Position, FetchAnswer>> {
  const topics = [...Map.groupBy(positions, ({ topic }) => topic)].map(([topicId, wanted]) => ({
    topicId,
    partitions: wanted.map(({ partition, offset }) => ({
      partition,
      currentLeaderEpoch: ANY_EPOCH,
      fetchOffset: BigInt(offset),
      lastFetchedEpoch: ANY_EPOCH,
      partitionMaxBytes: maxBytes,
    })),
  }));
  const { responses } = await fetchV11.api.async(
    broker,
    waitMs,
    1,
    maxBytes * positions.length,
    READ_COMMITTED,
    NO_SESSION.id,
    NO_SESSION.epoch,
    topics,
    [],
    '',
  );
  const answers = new Map(
    responses.flatMap(({ topicId: topic, partitions }) =>
      partitions.map((answer) => [keyOf({ topic, partition: answer.partitionIndex }), answer] as const),
    ),
  );
  const batches = positions.map(async (position) => {
    const answer = answers.get(keyOf(position));
    if (answer === undefined) throw new Error(`${keyOf(position)} is not in the answer`);
    return [position, await batchOf(broker, position, answer, maxBytes)] as const;
  });
  return new Map(await Promise.all(batches));
}

/** An answer without a record that a reader may see is no end: the fetch goes on behind it. */
async function batchOf(
  broker: Connection,
  position: ReadPosition,
  answer: PartitionAnswer,
  maxBytes: number,
): Promise<FetchAnswer> {
  const { topic, partition, offset } = position;
  const end = Number(answer.highWatermark);
  const { records, next } = visibleIn(answer, offset);
  if (records.length > 0 || next === offset) return { topic, partition, fetchedOffset: offset, records, end, next };
  const behind = { topic, partition, offset: next };
  const later = (await fetchFrom(broker, [behind], { waitMs: 0, maxBytes })).get(behind);
  return { topic, partition, fetchedOffset: offset, records: later?.records ?? [], end, next: later?.next ?? next };
}

/** Records of an answer from a position on, and where reading goes on. Pure. */
export function visibleIn(
  { records: batches, abortedTransactions }: Pick<PartitionAnswer, 'records' | 'abortedTransactions'>,
  position: number,
): { readonly records: readonly FetchedRecord[]; readonly next: number } {
  const records: FetchedRecord[] = [];
  let waiting = abortedTransactions ?? [];
  const aborting = new Set<bigint>();
  let next = position;
  for (const batch of batches ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    next = Math.max(next, Number(last) + 1);
    for (const { producerId, firstOffset } of waiting) if (firstOffset <= last) aborting.add(producerId);
    waiting = waiting.filter(({ firstOffset }) => firstOffset > last);
    if ((batch.attributes & IS_CONTROL) !== 0) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) aborting.delete(batch.producerId);
    } else if ((batch.attributes & IS_TRANSACTIONAL) === 0 || !aborting.has(batch.producerId))
      addRecords(records, batch, position);
  }
  return { records, next };
}

function addRecords(records: FetchedRecord[], batch: RecordsBatch, position: number): void {
  const [firstOffset, firstTimestamp] = [Number(batch.firstOffset), Number(batch.firstTimestamp)];
  for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
    const offset = firstOffset + offsetDelta;
    if (offset >= position)
      records.push({
        offset,
        key,
        value,
        timestamp: firstTimestamp + Number(timestampDelta),
        headers: headersOf(headers),
      });
  }
}

/** Shape: a header given several times keeps its last value. */
function headersOf(headers: RecordsBatch['records'][number]['headers']): FetchedRecord['headers'] {
  if (headers.length === 0) return NO_HEADERS;
  return Object.fromEntries(headers.map(([name, value]) => [String(name), value ?? Buffer.alloc(0)]));
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
