// One fetch request to one broker, and the records of its answer that a reader may see.
//
// Boundary: requests are the client's; of its answers this file reads the frame, and record-set.kafka.ts the records.
//
// Invariants
//   F1. Records below the position, control records and records of aborted transactions are stepped over, never answered.
import { fetchV11, ResponseError } from '@platformatic/kafka';
import type { Connection, RecordsBatch, Reader } from '@platformatic/kafka';
import type { FetchedRecord, ReadBatch, ReadPosition, TopicPartition } from '../kafka.port.js';
import { readRecordSet } from './record-set.kafka.js';
import type { StoredBatch } from './record-set.kafka.js';

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

type ClientAnswer = ReturnType<typeof fetchV11.parseResponse>['responses'][number]['partitions'][number];
/** What a broker says of one partition. */
export type PartitionAnswer = Pick<ClientAnswer, 'partitionIndex' | 'highWatermark' | 'abortedTransactions'> & {
  readonly batches: readonly StoredBatch[];
};
interface TopicAnswer {
  readonly topic: string;
  readonly partitions: readonly PartitionAnswer[];
}

export interface FetchLimits {
  readonly waitMs: number;
  /** Of each partition. */
  readonly maxBytes: number;
}

/** Asks a broker for the partitions it leads, in one request. Errors: those of the client. */
export async function fetchFrom<Position extends ReadPosition>(
  broker: Connection,
  positions: readonly Position[],
  { waitMs, maxBytes }: FetchLimits,
): Promise<ReadonlyMap<Position, ReadBatch>> {
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
  const most = maxBytes * positions.length;
  const { id, epoch } = NO_SESSION;
  const responses = await ask(broker, () =>
    fetchV11.createRequest(waitMs, 1, most, READ_COMMITTED, id, epoch, topics, [], ''),
  );
  const answers = new Map(
    responses.flatMap(({ topic, partitions }) =>
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

function ask(broker: Connection, request: Parameters<Connection['send']>[2]): Promise<readonly TopicAnswer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly TopicAnswer[]>();
  const { key, version } = fetchV11.api;
  broker.send<readonly TopicAnswer[]>(key, version, request, parseFetch, false, false, (error, answer) => {
    if (answer === undefined || error) reject(error ?? new Error('the broker gave no answer'));
    else resolve(answer);
  });
  return promise;
}

/** Reads an answer to Fetch, version 11. Errors: ResponseError when the broker refuses a partition. */
export function parseFetch(_: number, apiKey: number, version: number, reader: Reader): readonly TopicAnswer[] {
  const refusals: [string, [number, null]][] = [];
  const refused = (where: string, code: number): void => {
    if (code !== 0) refusals.push([where, [code, null]]);
  };
  reader.readInt32(); // how long we were throttled
  refused('/', reader.readInt16());
  reader.readInt32(); // the session
  const answers = reader.readArray(
    (r, at) => ({
      topic: r.readString(false),
      partitions: r.readArray(
        (p, index) => {
          const partitionIndex = p.readInt32();
          refused(`/responses/${String(at)}/partitions/${String(index)}`, p.readInt16());
          return partitionIn(p, partitionIndex);
        },
        false,
        false,
      ),
    }),
    false,
    false,
  );
  if (refusals.length > 0) throw new ResponseError(apiKey, version, Object.fromEntries(refusals), answers);
  return answers;
}

function partitionIn(reader: Reader, partitionIndex: number): PartitionAnswer {
  const highWatermark = reader.readInt64();
  reader.readInt64(); // the last stable offset
  reader.readInt64(); // the first offset
  const abortedTransactions = reader.readNullableArray(
    (r) => ({ producerId: r.readInt64(), firstOffset: r.readInt64() }),
    false,
    false,
  );
  reader.readInt32(); // the replica to read from
  const batches = readRecordSet(reader.readNullableBytes(false) ?? Buffer.alloc(0));
  return { partitionIndex, highWatermark, abortedTransactions, batches };
}

/** An answer without a record that a reader may see is no end: the fetch goes on behind it. */
async function batchOf(
  broker: Connection,
  position: ReadPosition,
  answer: PartitionAnswer,
  maxBytes: number,
): Promise<ReadBatch> {
  const { topic, partition, offset } = position;
  const end = Number(answer.highWatermark);
  const { records, nextOffset } = visibleIn(answer, offset);
  if (records.length > 0 || nextOffset === offset)
    return { topic, partition, fetchedOffset: offset, nextOffset, records, end };
  const behind = { topic, partition, offset: nextOffset };
  const later = (await fetchFrom(broker, [behind], { waitMs: 0, maxBytes })).get(behind);
  const found = later ?? { records, nextOffset };
  return { topic, partition, fetchedOffset: offset, nextOffset: found.nextOffset, records: found.records, end };
}

/** Records of an answer from a position on, and where reading goes on. Pure. */
export function visibleIn(
  { batches, abortedTransactions }: Pick<PartitionAnswer, 'batches' | 'abortedTransactions'>,
  position: number,
): { readonly records: readonly FetchedRecord[]; readonly nextOffset: number } {
  const records: FetchedRecord[] = [];
  let waiting = abortedTransactions ?? [];
  const aborting = new Set<bigint>();
  let nextOffset = position;
  for (const batch of batches) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    nextOffset = Math.max(nextOffset, Number(last) + 1);
    for (const { producerId, firstOffset } of waiting) if (firstOffset <= last) aborting.add(producerId);
    waiting = waiting.filter(({ firstOffset }) => firstOffset > last);
    if ((batch.attributes & IS_CONTROL) !== 0) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) aborting.delete(batch.producerId);
    } else if ((batch.attributes & IS_TRANSACTIONAL) === 0 || !aborting.has(batch.producerId))
      addRecords(records, batch, position);
  }
  return { records, nextOffset };
}

function addRecords(records: FetchedRecord[], batch: StoredBatch, position: number): void {
  const [firstOffset, firstTimestamp] = [Number(batch.firstOffset), Number(batch.firstTimestamp)];
  if (batch.unreadable !== null) {
    const { unreadable } = batch;
    const offset = Math.max(position, firstOffset);
    records.push({ offset, key: null, value: null, timestamp: firstTimestamp, headers: NO_HEADERS, unreadable });
    return;
  }
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
