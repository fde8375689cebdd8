// One fetch request to one broker, and the records of its answer that a reader may see.
//
// Boundary: requests are the client's; of its answers this file reads the frame, and record-set.kafka.ts the records.
//
// Invariants
//   F2. What one partition cannot answer costs no other: it is told apart, and so is what lies behind a broken frame.
//   F1. Records below the position and control records are stepped over, never answered; so are those of aborted transactions
//       where what was committed is asked for.
import { fetchV11, ResponseError } from '@platformatic/kafka';
import type { Connection, Reader } from '@platformatic/kafka';
import type { FetchedRecord, ReadBatch, ReadPosition, TopicPartition } from '../kafka.port.js';
import { Failure } from '@recourse/kernel';
import { behindBroken } from './broken-frame.kafka.js';
import type { Isolation } from '../options.js';
import { readRecordSet, SET_COST_MAX } from './record-set.kafka.js';
import type { BrokenFrame, StoredBatch } from './record-set.kafka.js';
import { NO_HEADERS } from './records.kafka.js';

/** As a request says it. */
export const ISOLATION_LEVEL = { uncommitted: 0, committed: 1 } as const satisfies Record<Isolation, number>;
/** No partition of ours says which of its leaders it means. */
export const ANY_EPOCH = -1;
/** A fetch outside of any session of fetches. */
const NO_SESSION = { id: 0, epoch: -1 } as const;
const IS_TRANSACTIONAL = 1 << 4;
const IS_CONTROL = 1 << 5;
/** What a broker answers of a partition whose log it cannot read itself. */
const CORRUPT_MESSAGE = 2;
/** Type of a control record that aborts: the second 16-bit integer of its key. */
const ABORT = 0;
/** Says of a partition that nothing is held back in it. */
const UNKNOWN_END = -1n;

type ClientAnswer = ReturnType<typeof fetchV11.parseResponse>['responses'][number]['partitions'][number];
/** What a broker says of one partition. */
export type PartitionAnswer = Pick<ClientAnswer, 'partitionIndex' | 'highWatermark' | 'abortedTransactions'> & {
  /** End of what no open transaction can still take back. */
  readonly stableEnd: bigint;
  readonly batches: readonly StoredBatch[];
  readonly broken: BrokenFrame | null;
  /** The broker says that its own copy is damaged. */
  readonly isCorrupt: boolean;
  /** The broker gives nothing for a while, since its client asked for too much. */
  readonly isThrottled: boolean;
};

/** What one request brought of one partition; with a failure where the partition has no answer, and the others have. */
export type Fetched = ReadBatch & {
  readonly failure?: Failure;
  /** Nothing more may be read, since somebody's transaction is open there. */
  readonly isHeld?: boolean;
};
interface TopicAnswer {
  readonly topic: string;
  readonly partitions: readonly PartitionAnswer[];
}

export interface FetchLimits {
  readonly isolation: Isolation;
  readonly waitMs: number;
  /** Of each partition. */
  readonly maxBytes: number;
}

/** Asks a broker for the partitions it leads, in one request. Errors: those of the client. */
export async function fetchFrom<Position extends ReadPosition>(
  broker: Connection,
  positions: readonly Position[],
  limits: FetchLimits,
): Promise<ReadonlyMap<Position, Fetched>> {
  const answers = await askFor(broker, positions, limits);
  const batches = positions.map(async (position) => {
    const answer = answers.get(keyOf(position));
    if (answer === undefined) throw new Error(`${keyOf(position)} is not in the answer`);
    return [position, await batchOf(broker, position, answer, limits)] as const;
  });
  return new Map(await Promise.all(batches));
}

/** What a broker says of each partition. */
async function askFor(
  broker: Connection,
  positions: readonly ReadPosition[],
  { isolation, waitMs, maxBytes }: FetchLimits,
): Promise<ReadonlyMap<string, PartitionAnswer>> {
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
    fetchV11.createRequest(waitMs, 1, most, ISOLATION_LEVEL[isolation], id, epoch, topics, [], ''),
  );
  return new Map(
    responses.flatMap(({ topic, partitions }) =>
      partitions.map(
        (answer) => [keyOf({ topic, partition: answer.partitionIndex }), seenAs(isolation, answer)] as const,
      ),
    ),
  );
}

/** Who reads every record is held by no transaction, and hears of none that was aborted. */
function seenAs(isolation: Isolation, answer: PartitionAnswer): PartitionAnswer {
  return isolation === 'committed' ? answer : { ...answer, stableEnd: UNKNOWN_END, abortedTransactions: [] };
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
  const isThrottled = reader.readInt32() > 0;
  refused('/', reader.readInt16());
  reader.readInt32(); // the session
  let costLeft = SET_COST_MAX;
  const answers = reader.readArray(
    (r, at) => ({
      topic: r.readString(false),
      partitions: r.readArray(
        (p, index) => {
          const partitionIndex = p.readInt32();
          const code = p.readInt16();
          const isCorrupt = code === CORRUPT_MESSAGE;
          if (!isCorrupt) refused(`/responses/${String(at)}/partitions/${String(index)}`, code);
          const answer = partitionIn(p, partitionIndex, costLeft);
          for (const { cost } of answer.batches) costLeft -= cost;
          return { ...answer, isCorrupt, isThrottled };
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

function partitionIn(
  reader: Reader,
  partitionIndex: number,
  costMax: number,
): Omit<PartitionAnswer, 'isCorrupt' | 'isThrottled'> {
  const highWatermark = reader.readInt64();
  const stableEnd = reader.readInt64();
  reader.readInt64(); // the first offset
  const abortedTransactions = reader.readNullableArray(
    (r) => ({ producerId: r.readInt64(), firstOffset: r.readInt64() }),
    false,
    false,
  );
  reader.readInt32(); // the replica to read from
  const set = readRecordSet(reader.readNullableBytes(false) ?? Buffer.alloc(0), costMax);
  return { partitionIndex, highWatermark, stableEnd, abortedTransactions, ...set };
}

/** An answer without a record that a reader may see is no end: the fetch goes on behind it. */
async function batchOf(
  broker: Connection,
  position: ReadPosition,
  answer: PartitionAnswer,
  { isolation, maxBytes }: Omit<FetchLimits, 'waitMs'>,
): Promise<Fetched> {
  const { topic, partition, offset } = position;
  const end = Number(answer.highWatermark);
  const { records, nextOffset } = visibleIn(answer, offset);
  const isHeld = stableEndOf(answer) < end && nextOffset >= stableEndOf(answer);
  const stands = { topic, partition, fetchedOffset: offset, nextOffset, records, end, isHeld };
  if (answer.isCorrupt) return { ...stands, failure: corrupt(position, 'the broker says that its copy is damaged') };
  if (records.length > 0) return stands;
  if (nextOffset === offset) return isEmpty(answer, offset) ? stands : passing(broker, position, stands, isolation);
  const behind = { topic, partition, offset: nextOffset };
  const later = (await fetchFrom(broker, [behind], { isolation, waitMs: 0, maxBytes })).get(behind);
  return later === undefined ? stands : { ...later, fetchedOffset: offset, end };
}

/** Is there nothing to read, or not now? One that is asked for with others may also have found no room in their answer. */
function isEmpty(answer: PartitionAnswer, offset: number): boolean {
  const { batches, broken, isThrottled } = answer;
  return batches.length === 0 && broken === null && (isThrottled || offset >= stableEndOf(answer));
}

function stableEndOf({ stableEnd, highWatermark }: PartitionAnswer): number {
  return Number(stableEnd < 0n ? highWatermark : stableEnd);
}

/** Asks once more, alone, where nothing can be read that is there; what is broken still stands for all records before the next batch the broker knows of. */
async function passing(
  broker: Connection,
  position: ReadPosition,
  stands: ReadBatch,
  isolation: Isolation,
): Promise<Fetched> {
  const alone = async (offset: number): Promise<PartitionAnswer> => {
    const [answer] = await askFor(broker, [{ ...position, offset }], { isolation, waitMs: 0, maxBytes: 1 }).then(
      (found) => [...found.values()],
    );
    if (answer === undefined) throw new Error(`${keyOf(position)} is not in the answer`);
    if (answer.isCorrupt) throw corrupt(position, 'the broker says that its copy is damaged');
    return answer;
  };
  const again = await alone(position.offset);
  const { broken } = again;
  if (broken === null) {
    if (again.batches.length > 0 || isEmpty(again, position.offset))
      return batchOf(broker, position, again, { isolation, maxBytes: 1 });
    const why = `the broker has records up to ${String(stableEndOf(again))}, and gives none`;
    return { ...stands, failure: corrupt(position, why) };
  }
  try {
    const nextOffset = await behindBroken(
      { position: position.offset, firstOffset: broken.firstOffset, stableEnd: stableEndOf(again) },
      async (offset) => firstOffsetIn(await alone(offset)),
    );
    const unreadable = { detail: broken.detail, bytes: broken.bytes };
    const record = { offset: position.offset, key: null, value: null, timestamp: 0, headers: NO_HEADERS, unreadable };
    return { ...stands, nextOffset, records: [record] };
  } catch (error) {
    if (error instanceof Failure) return { ...stands, failure: error };
    throw error;
  }
}

function firstOffsetIn({ batches, broken }: PartitionAnswer): bigint | null {
  return batches[0]?.firstOffset ?? broken?.firstOffset ?? null;
}

function corrupt(position: ReadPosition, why: string): Failure {
  return new Failure('FETCH_BROKEN', `${keyOf(position)}@${String(position.offset)}: ${why}`);
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
  if (batch.unreadable !== null) {
    const { unreadable, firstOffset, firstTimestamp: timestamp } = batch;
    const offset = Math.max(position, Number(firstOffset));
    records.push({ offset, key: null, value: null, timestamp, headers: NO_HEADERS, unreadable });
    return;
  }
  for (const record of batch.records) if (record.offset >= position) records.push(record);
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
