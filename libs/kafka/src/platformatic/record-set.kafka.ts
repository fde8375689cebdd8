// The record batches of a fetch answer. One that cannot be read is told as such, and those around it are read.
//
// Boundary: the checksum's arithmetic is the client's; the frame of a batch is read here, its records in records.kafka.ts.
//
// Invariants
//   R1. What is broken in one batch costs no other: each is read for itself.
//   R2. Nothing of a batch counts whose checksum does not fit, but the place it takes.
//   R3. No length is believed that leads nowhere: behind it a batch begins whose own checksum fits, or reading stops before it.
//   R4. A set is read as far as it takes no more memory than a batch may: what is compressed well comes bit by bit. So are the
//       sets of one answer together: the one that goes beyond ends with its batch, and none is read behind it.
//   R5. What was aborted is not even decompressed: nobody pays for what nobody sees.
//
// Grammar: see record-batch.kafka.ts.
import { crc32c } from '@platformatic/kafka';
import type { FetchedRecord, Unreadable } from '../kafka.port.js';
import { PLAIN_MAX } from './decompress.kafka.js';
import { IS_APPEND_TIME, readRecords } from './records.kafka.js';
import type { ReadRecords } from './records.kafka.js';

/** Bytes of the offset and the length before what the length counts. */
const FRAME_BYTES = 12;
/** From the leader epoch to the count of records. */
const HEAD_BYTES = 49;
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const CRC_AT = 17;
const COVERED_AT = 21;
const LAST_DELTA_AT = 23;
const FIRST_TIMESTAMP_AT = 27;
const MAX_TIMESTAMP_AT = 35;
const PRODUCER_ID_AT = 43;
const COUNT_AT = 57;
const RECORDS_AT = 61;
const MAGIC = 2;
const IS_TRANSACTIONAL = 1 << 4;
const IS_CONTROL = 1 << 5;
/** Type of a control record that aborts: the second 16-bit integer of its key. */
const ABORT = 0;

/** A batch as it lies in the log; without records when it cannot be read. */
export interface StoredBatch {
  readonly firstOffset: bigint;
  readonly attributes: number;
  readonly lastOffsetDelta: number;
  /** Epoch milliseconds; the broker's where it is that of all records. */
  readonly firstTimestamp: number;
  readonly producerId: bigint;
  readonly records: readonly FetchedRecord[];
  readonly unreadable: Unreadable | null;
  /** No reader sees what it holds: a control batch, or one of a transaction that was aborted. */
  readonly isHidden: boolean;
  /** What its records take in memory, about, octets. */
  readonly cost: number;
}

/** Bytes where a batch begins that does not say where it ends. */
export interface BrokenFrame {
  readonly firstOffset: bigint;
  /** What is broken, for people. */
  readonly detail: string;
  /** The first of them. */
  readonly bytes: Buffer;
}

export interface RecordSet {
  readonly batches: readonly StoredBatch[];
  /** What begins behind them and leads nowhere; null where all was read, up to a batch that is cut off. */
  readonly broken: BrokenFrame | null;
}

/** Transactions that were aborted, as an answer names them: from which offset on, and of which producer. */
export type AbortedTransactions = readonly { readonly producerId: bigint; readonly firstOffset: bigint }[];

/** Tells which batches of an answer no reader may see: it is asked of one after the other. */
export class HiddenBatches {
  #waiting: AbortedTransactions;
  readonly #aborting = new Set<bigint>();

  constructor(aborted: AbortedTransactions) {
    this.#waiting = aborted;
  }

  /** Is it of a transaction that was aborted? Its head says so. */
  aborts({ firstOffset, lastOffsetDelta, attributes, producerId }: Omit<StoredBatch, 'records'>): boolean {
    const last = firstOffset + BigInt(lastOffsetDelta);
    for (const aborted of this.#waiting) if (aborted.firstOffset <= last) this.#aborting.add(aborted.producerId);
    this.#waiting = this.#waiting.filter((aborted) => aborted.firstOffset > last);
    return (attributes & (IS_TRANSACTIONAL | IS_CONTROL)) === IS_TRANSACTIONAL && this.#aborting.has(producerId);
  }

  /** The same, or does it say how a transaction ended? With its records. */
  hides(batch: StoredBatch): boolean {
    if (this.aborts(batch)) return true;
    if (!isControl(batch)) return false;
    if (batch.records[0]?.key?.readInt16BE(2) === ABORT) this.#aborting.delete(batch.producerId);
    return true;
  }
}

function isControl({ attributes }: Pick<StoredBatch, 'attributes'>): boolean {
  return (attributes & IS_CONTROL) !== 0;
}

/** Cost of the batches of one set, or of all in one answer, after which no more is read: the rest is asked for again. */
export const SET_COST_MAX = PLAIN_MAX;
/** Bytes of a broken frame that are kept: its head, and what tells people whose it was. */
const BROKEN_BYTES_MAX = 4_096;

/** How a set is read. */
export interface ReadTerms {
  readonly costMax?: number;
  /** Default: control batches alone are hidden. */
  readonly hidden?: HiddenBatches;
}

/** Reads a set of batches as a broker sends it: the last may be cut off, and is asked for again. Its first is read at any cost. */
export function readRecordSet(
  set: Buffer,
  { costMax = SET_COST_MAX, hidden = new HiddenBatches([]) }: ReadTerms = {},
): RecordSet {
  const batches: StoredBatch[] = [];
  let cost = 0;
  for (let at = 0; set.length - at >= FRAME_BYTES && (at === 0 || cost < costMax);) {
    const length = set.readInt32BE(at + LENGTH_AT);
    const end = at + FRAME_BYTES + length;
    if (length < HEAD_BYTES)
      return { batches, broken: brokenAt(set, at, `it says that it has ${String(length)} bytes`) };
    if (end > set.length) {
      // A broker gives the first batch whole; whoever reads asks for it once more, alone, before that is believed.
      const why = `it says that it has ${String(length)} bytes, and the broker gave ${String(set.length)}`;
      return { batches, broken: at === 0 ? brokenAt(set, at, why) : null };
    }
    const wrong = mismatchIn(set.subarray(at, end));
    if (wrong !== null && !isWholeBatch(set, end)) return { batches, broken: brokenAt(set, at, wrong) };
    const bytes = set.subarray(at, end);
    const stored =
      wrong === null ? readStored(bytes, nextOffset(set, end), hidden) : unreadable(bytes, nextOffset(set, end), wrong);
    batches.push(stored);
    cost += stored.cost;
    at = end;
  }
  return { batches, broken: null };
}

function brokenAt(set: Buffer, at: number, why: string): BrokenFrame {
  const detail = `a record batch cannot be read, nor where it ends: ${why}`;
  return { firstOffset: set.readBigInt64BE(at), detail, bytes: set.subarray(at, at + BROKEN_BYTES_MAX) };
}

/** Does a batch begin there whose checksum fits? */
function isWholeBatch(set: Buffer, at: number): boolean {
  if (set.length - at < FRAME_BYTES) return false;
  const length = set.readInt32BE(at + LENGTH_AT);
  const end = at + FRAME_BYTES + length;
  return length >= HEAD_BYTES && end <= set.length && mismatchIn(set.subarray(at, end)) === null;
}

/** First offset of the batch behind, when it is there. */
function nextOffset(set: Buffer, at: number): bigint | null {
  return set.length - at >= FRAME_BYTES ? set.readBigInt64BE(at) : null;
}

/** Why nothing in a batch can be believed; null where its checksum fits. */
function mismatchIn(bytes: Buffer): string | null {
  const magic = bytes.readInt8(MAGIC_AT);
  if (magic !== MAGIC) return `its format is ${String(magic)}; ${String(MAGIC)} is read`;
  return crc32c(bytes.subarray(COVERED_AT)) === bytes.readUInt32BE(CRC_AT)
    ? null
    : 'its checksum does not fit: the stored bytes were altered';
}

/** Reads a batch whose checksum fits. */
function readStored(bytes: Buffer, next: bigint | null, hidden: HiddenBatches): StoredBatch {
  const head = headOf(bytes);
  if (hidden.aborts(head)) return { ...head, isHidden: true };
  try {
    const stored = { ...head, ...recordsIn(bytes, head) };
    return { ...stored, isHidden: hidden.hides(stored) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const { attributes, producerId, lastOffsetDelta } = head;
    return { ...unreadable(bytes, next, why), attributes, producerId, lastOffsetDelta, isHidden: isControl(head) };
  }
}

function recordsIn(bytes: Buffer, head: StoredBatch): ReadRecords {
  const { attributes, firstTimestamp, lastOffsetDelta } = head;
  const [firstOffset, count] = [Number(head.firstOffset), bytes.readInt32BE(COUNT_AT)];
  return readRecords(bytes.subarray(RECORDS_AT), { attributes, firstOffset, firstTimestamp, lastOffsetDelta, count });
}

/** What stands where a batch cannot be read: nobody's, and of no transaction. */
function unreadable(bytes: Buffer, next: bigint | null, why: string): StoredBatch {
  const head = headOf(bytes);
  return {
    ...head,
    attributes: 0,
    producerId: -1n,
    lastOffsetDelta: next === null ? Math.max(0, head.lastOffsetDelta) : Number(next - head.firstOffset) - 1,
    unreadable: { detail: `a record batch of ${String(bytes.length)} bytes cannot be read: ${why}`, bytes },
  };
}

function headOf(bytes: Buffer): StoredBatch {
  const attributes = bytes.readInt16BE(COVERED_AT);
  // A broker that says the time writes it here alone; the first stays its sender's word.
  const timeAt = (attributes & IS_APPEND_TIME) === 0 ? FIRST_TIMESTAMP_AT : MAX_TIMESTAMP_AT;
  return {
    firstOffset: bytes.readBigInt64BE(0),
    attributes,
    lastOffsetDelta: bytes.readInt32BE(LAST_DELTA_AT),
    firstTimestamp: Number(bytes.readBigInt64BE(timeAt)),
    producerId: bytes.readBigInt64BE(PRODUCER_ID_AT),
    records: [],
    unreadable: null,
    isHidden: false,
    cost: 0,
  };
}
