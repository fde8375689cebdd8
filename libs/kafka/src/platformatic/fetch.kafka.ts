// One fetch request to one broker, and what it brought of each partition.
//
// Boundary: requests are the client's; the answer is read in fetch-answer.kafka.ts, and here is decided what it means.
//
// Invariants
//   F4. What one partition cannot answer costs no other: it is told apart, and so is what lies behind a broken frame.
//   F5. One request, one step: where all that was brought is what no reader may see, the answer says how far that goes, and
//       whoever asked goes on behind it.
//   F6. A broker that makes its client wait has not answered, and nothing is concluded of what it did not give.
import { fetchV11, ResponseError } from '@platformatic/kafka';
import type { Connection } from '@platformatic/kafka';
import type { ReadBatch, ReadPosition, TopicPartition } from '../kafka.port.js';
import { Failure } from '@recourse/kernel';
import { behindBroken } from './broken-frame.kafka.js';
import { asFailure } from './failures.kafka.js';
import { parsingAs, visibleIn } from './fetch-answer.kafka.js';
import type { FetchAnswer, PartitionAnswer } from './fetch-answer.kafka.js';
import type { Isolation } from '../options.js';
import type { BrokenFrame } from './record-set.kafka.js';
import { NO_HEADERS } from './records.kafka.js';

/** As a request says it. */
export const ISOLATION_LEVEL = { uncommitted: 0, committed: 1 } as const satisfies Record<Isolation, number>;
/** No partition of ours says which of its leaders it means. */
export const ANY_EPOCH = -1;
/** A fetch outside of any session of fetches. */
const NO_SESSION = { id: 0, epoch: -1 } as const;
/** What a broker answers of a partition whose log it cannot read itself. */
const CORRUPT_MESSAGE = 2;

/** The broker gives a partition's records later, since its client asked for too much. */
export class Throttled extends Failure {
  constructor(
    what: string,
    /** For how long it gives nothing, milliseconds. */
    readonly waitMs: number,
  ) {
    super('BROKER_UNAVAILABLE', `${what}: the broker makes this client wait, whose quota is used up`);
  }
}

/** What one request brought of one partition; with a failure where the partition has no answer, and the others have. */
export type Fetched = ReadBatch & {
  readonly failure?: Failure;
  /** Nothing more may be read, since somebody's transaction is open there. */
  readonly isHeld?: boolean;
  /** There is something, and no room for it was left in the answer: whoever asked asks again. */
  readonly isUnread?: boolean;
};

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
    const answer = answers.of(position);
    if (answer instanceof Throttled) return [position, unanswered(position, answer)] as const;
    return [position, await batchOf(broker, position, answer, limits.isolation)] as const;
  });
  return new Map(await Promise.all(batches));
}

function unanswered({ topic, partition, offset }: ReadPosition, failure: Failure): Fetched {
  return { topic, partition, fetchedOffset: offset, nextOffset: offset, records: [], end: offset, failure };
}

/** What a broker said of the partitions it was asked for. */
interface Answers {
  /** Errors: Error when it says nothing of that one, and gives no reason. */
  of(position: ReadPosition): PartitionAnswer | Throttled;
}

/** What a broker says of each partition. */
async function askFor(
  broker: Connection,
  positions: readonly ReadPosition[],
  { isolation, waitMs, maxBytes }: FetchLimits,
): Promise<Answers> {
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
  const { throttledMs, topics: responses } = await ask(broker, isolation, () =>
    fetchV11.createRequest(waitMs, 1, most, ISOLATION_LEVEL[isolation], id, epoch, topics, [], ''),
  );
  const found = new Map(
    responses.flatMap(({ topic, partitions }) =>
      partitions.map((answer) => [keyOf({ topic, partition: answer.partitionIndex }), answer] as const),
    ),
  );
  return {
    of: (position) => {
      const answer = found.get(keyOf(position));
      if (throttledMs > 0 && isHeldBack(answer, position.offset)) return new Throttled(keyOf(position), throttledMs);
      if (answer === undefined) throw new Error(`${keyOf(position)} is not in the answer`);
      return answer;
    },
  };
}

/**
 * May there be something that a broker that makes its client wait did not give? Kafka names no partition then; others name it and
 * its end, which is the end also then.
 */
function isHeldBack(answer: PartitionAnswer | undefined, offset: number): boolean {
  if (answer === undefined) return true;
  const { code, batches, broken, isUnread } = answer;
  const isBare = code === 0 && batches.length === 0 && broken === null && !isUnread;
  const end = stableEndOf(answer);
  return isBare && (end < 0 || offset < end);
}

function ask(
  broker: Connection,
  isolation: Isolation,
  request: Parameters<Connection['send']>[2],
): Promise<FetchAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<FetchAnswer>();
  const { key, version } = fetchV11.api;
  broker.send<FetchAnswer>(key, version, request, parsingAs(isolation), false, false, (error, answer) => {
    if (answer === undefined || error) reject(error ?? new Error('the broker gave no answer'));
    else resolve(answer);
  });
  return promise;
}

/** What an answer says of a partition; one that gives nothing where there is something is asked once more. */
async function batchOf(
  broker: Connection,
  position: ReadPosition,
  answer: PartitionAnswer,
  isolation: Isolation,
): Promise<Fetched> {
  const { topic, partition, offset } = position;
  const end = Number(answer.highWatermark);
  const { isUnread } = answer;
  const { records, nextOffset, octets } = visibleIn(answer, offset);
  const isHeld = stableEndOf(answer) < end && nextOffset >= stableEndOf(answer);
  const stands = { topic, partition, fetchedOffset: offset, nextOffset, records, octets, end, isHeld, isUnread };
  const failure = refusalOf(position, answer);
  if (failure !== null) return { ...stands, failure };
  const isDone = nextOffset > offset || isUnread || isEmpty(answer, offset);
  return isDone ? stands : passing(broker, position, stands, isolation);
}

/** What the broker refuses for a partition; null where it refuses nothing. */
function refusalOf(position: ReadPosition, { code }: PartitionAnswer): Failure | null {
  if (code === 0) return null;
  if (code === CORRUPT_MESSAGE) return corrupt(position, 'the broker says that its copy is damaged');
  const { api } = fetchV11;
  const refused = new ResponseError(api.key, api.version, { [`/${keyOf(position)}`]: [code, null] }, {});
  return asFailure(refused, `${keyOf(position)}@${String(position.offset)}`);
}

/** Is there nothing to read? One that is asked for with others may also have found no room in their answer. */
function isEmpty(answer: PartitionAnswer, offset: number): boolean {
  const { batches, broken } = answer;
  return batches.length === 0 && broken === null && offset >= stableEndOf(answer);
}

function stableEndOf({ stableEnd, highWatermark }: PartitionAnswer): number {
  return Number(stableEnd < 0n ? highWatermark : stableEnd);
}

/** Asks once more, alone, where nothing can be read that is there. */
async function passing(
  broker: Connection,
  position: ReadPosition,
  stands: Fetched,
  isolation: Isolation,
): Promise<Fetched> {
  const alone = async (offset: number): Promise<PartitionAnswer> => {
    const asked = { ...position, offset };
    const answer = (await askFor(broker, [asked], { isolation, waitMs: 0, maxBytes: 1 })).of(asked);
    if (answer instanceof Throttled) throw answer;
    const failure = refusalOf(asked, answer);
    if (failure !== null) throw failure;
    return answer;
  };
  try {
    const again = await alone(position.offset);
    if (again.broken !== null) return { ...stands, ...(await behind(position, again.broken, { again, alone })) };
    if (again.batches.length > 0 || isEmpty(again, position.offset))
      return await batchOf(broker, position, again, isolation);
    const why = `the broker has records up to ${String(stableEndOf(again))}, and gives none`;
    return { ...stands, failure: corrupt(position, why) };
  } catch (error) {
    if (error instanceof Failure) return { ...stands, failure: error };
    throw error;
  }
}

/** What is broken stands for all records before the next batch the broker knows of. */
async function behind(
  position: ReadPosition,
  broken: BrokenFrame,
  asks: { readonly again: PartitionAnswer; readonly alone: (offset: number) => Promise<PartitionAnswer> },
): Promise<Pick<Fetched, 'nextOffset' | 'records'>> {
  const nextOffset = await behindBroken(
    { position: position.offset, firstOffset: broken.firstOffset, stableEnd: stableEndOf(asks.again) },
    async (offset) => firstOffsetIn(await asks.alone(offset)),
  );
  const unreadable = { detail: broken.detail, bytes: broken.bytes };
  const record = { offset: position.offset, key: null, value: null, timestamp: 0, headers: NO_HEADERS, unreadable };
  return { nextOffset, records: [record] };
}

function firstOffsetIn({ batches, broken }: PartitionAnswer): bigint | null {
  return batches[0]?.firstOffset ?? broken?.firstOffset ?? null;
}

function corrupt(position: ReadPosition, why: string): Failure {
  return new Failure('FETCH_BROKEN', `${keyOf(position)}@${String(position.offset)}: ${why}`);
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
