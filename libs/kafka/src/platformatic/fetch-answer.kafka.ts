// An answer to Fetch, version 11: what the broker says of each partition, and the records in it that a reader may see.
//
// Boundary: the frame of the answer is read here, the batches in record-set.kafka.ts. Asks nothing.
//
// Invariants
//   F1. Records below the position and control records are stepped over, never answered; so are those of aborted transactions
//       where what was committed is asked for.
//   F2. What is refused for one partition costs no other: it is told apart. A position that no partition has ends the fetch.
//   F3. An answer takes no more memory than a batch may, whatever lies in it: partitions behind that are not read.
import { ResponseError } from '@platformatic/kafka';
import type { fetchV11, Reader } from '@platformatic/kafka';
import type { FetchedRecord } from '../kafka.port.js';
import type { Isolation } from '../options.js';
import { HiddenBatches, readRecordSet, SET_COST_MAX } from './record-set.kafka.js';
import type { RecordSet, StoredBatch } from './record-set.kafka.js';
import { NO_HEADERS } from './records.kafka.js';

/** What a broker answers where it knows no such offset. */
const OFFSET_OUT_OF_RANGE = 1;
/** Says of a partition that nothing is held back in it. */
const UNKNOWN_END = -1n;

type ClientAnswer = ReturnType<typeof fetchV11.parseResponse>['responses'][number]['partitions'][number];
/** What a broker says of one partition. */
export type PartitionAnswer = Pick<ClientAnswer, 'partitionIndex' | 'highWatermark'> &
  RecordSet & {
    /** Kafka's number of what it refuses; 0 where it refuses nothing. */
    readonly code: number;
    /** End of what no open transaction can still take back. */
    readonly stableEnd: bigint;
    /** There is something, and the answer had taken too much memory before. */
    readonly isUnread: boolean;
  };

export interface TopicAnswer {
  readonly topic: string;
  readonly partitions: readonly PartitionAnswer[];
}

/** What one request was answered with. */
export interface FetchAnswer {
  readonly topics: readonly TopicAnswer[];
  /** For how long the broker makes its client wait, since that asked for too much, milliseconds; it gives nothing then. */
  readonly throttledMs: number;
}

type Parsed = (_: number, apiKey: number, version: number, reader: Reader) => FetchAnswer;

/** Reads answers as they were asked for. Errors: ResponseError when the broker refuses the request, or one position is out of range. */
export function parsingAs(isolation: Isolation): Parsed {
  return (_, apiKey, version, reader) => {
    const refusals: [string, [number, null]][] = [];
    const throttledMs = Math.max(0, reader.readInt32());
    const refused = reader.readInt16();
    if (refused !== 0) refusals.push(['/', [refused, null]]);
    reader.readInt32(); // the session
    let costLeft = SET_COST_MAX;
    const partitionIn = (r: Reader, where: string): PartitionAnswer => {
      const answer = readPartition(r, { isolation, costLeft });
      for (const { cost } of answer.batches) costLeft -= cost;
      if (answer.code === OFFSET_OUT_OF_RANGE) refusals.push([where, [answer.code, null]]);
      return answer;
    };
    const topics = reader.readArray(
      (r, at) => ({
        topic: r.readString(false),
        partitions: r.readArray(
          (p, index) => partitionIn(p, `/responses/${String(at)}/partitions/${String(index)}`),
          false,
          false,
        ),
      }),
      false,
      false,
    );
    if (refusals.length > 0) throw new ResponseError(apiKey, version, Object.fromEntries(refusals), topics);
    return { topics, throttledMs };
  };
}

function readPartition(
  reader: Reader,
  { isolation, costLeft }: { readonly isolation: Isolation; readonly costLeft: number },
): PartitionAnswer {
  const [partitionIndex, code] = [reader.readInt32(), reader.readInt16()];
  const highWatermark = reader.readInt64();
  const stableEnd = reader.readInt64();
  reader.readInt64(); // the first offset
  const aborted = reader.readNullableArray(
    (r) => ({ producerId: r.readInt64(), firstOffset: r.readInt64() }),
    false,
    false,
  );
  reader.readInt32(); // the replica to read from
  const set = reader.readNullableBytes(false) ?? Buffer.alloc(0);
  // Who reads every record is held by no transaction, and hears of none that was aborted.
  const isCommitted = isolation === 'committed';
  const hidden = new HiddenBatches(isCommitted ? (aborted ?? []) : []);
  const isUnread = costLeft <= 0 && set.length > 0;
  const read = isUnread ? { batches: [], broken: null } : readRecordSet(set, { costMax: costLeft, hidden });
  return { partitionIndex, code, highWatermark, stableEnd: isCommitted ? stableEnd : UNKNOWN_END, isUnread, ...read };
}

/** What a reader sees of an answer. */
interface Visible {
  readonly records: readonly FetchedRecord[];
  /** Where reading goes on. */
  readonly nextOffset: number;
  /** What the records hold of memory, with the batches they came in. */
  readonly octets: number;
}

/** Records of an answer from a position on, and where reading goes on. Pure. */
export function visibleIn({ batches }: Pick<RecordSet, 'batches'>, position: number): Visible {
  const records: FetchedRecord[] = [];
  let [nextOffset, octets] = [position, 0];
  for (const batch of batches) {
    nextOffset = Math.max(nextOffset, Number(batch.firstOffset) + batch.lastOffsetDelta + 1);
    if (batch.isHidden) continue;
    octets += batch.cost + (batch.unreadable?.bytes.length ?? 0);
    addRecords(records, batch, position);
  }
  return { records, nextOffset, octets };
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
