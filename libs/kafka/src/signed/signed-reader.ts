// Reads logs as their owners signed them, from any offset.
//
// Invariants
//   I1. A reader of logs gets every record in its place; what the owner did not sign has neither key nor value.
//   I2. A read that begins inside a batch looks back to where the batch begins.
import type {
  FetchedBatch,
  FetchedRecord,
  RawReader,
  ReadBatch,
  ReadManyOptions,
  ReadPosition,
  TopicPartition,
} from '../kafka.port.js';
import { handsOutNothing } from '../not-yet.js';
import { stampOf } from '../stamped-offset.js';
import type { StampedOffset } from '../stamped-offset.js';
import { readBatchHeader, SIGNATURE, SIGNED_RECORDS_MAX } from './signature.js';
import { isSigned, sift, voided } from './sifting.js';
import type { IsGenuine, Sifted } from './sifting.js';

/** A batch of a log is smaller (L4), so one fetch holds it whole. */
const FETCH_BYTES = 1 << 20;
/** Records hashed in one turn of the event loop, about: somebody may have written as many signatures as there is room for. */
const SIFTED_AT_ONCE = 20_000;

/** How the batches of one partition are told from what strangers wrote. */
export interface LogJudge {
  /** Null for what is no log of ours: it is read as it lies. */
  readonly genuine: (topic: string, partition: number) => IsGenuine | null;
  readonly onUnvouched: (topic: string, partition: number, records: readonly StampedOffset[]) => void;
}

/** Sifts what was read of logs; knows where it last ended, so that what goes on there needs no look back. */
export class LogSieve {
  private readonly ends = new Map<string, number>();

  constructor(
    private readonly judge: LogJudge,
    private readonly reader: () => Promise<Pick<RawReader, 'read' | 'range'>>,
  ) {}

  /** The same batch with what nobody vouches for made void; it may end earlier, where the rest of a batch is missing. */
  async sifted<Batch extends FetchedBatch>(batch: Batch): Promise<Batch> {
    const { topic, partition, records, fetchedOffset } = batch;
    const isGenuine = this.judge.genuine(topic, partition);
    const first = records[0];
    if (isGenuine === null || first === undefined) return batch;
    const id = `${topic}/${String(partition)}`;
    const before = await this.recordsBefore(batch, first);
    const found = await this.found(batch, [...before, ...records], isGenuine);
    const kept = found.records.filter(({ offset }) => offset >= first.offset);
    if (found.unvouched.length > 0) this.judge.onUnvouched(topic, partition, found.unvouched);
    const next = found.rest[0]?.offset ?? batch.nextOffset;
    this.ends.set(id, next);
    return { ...batch, records: kept, nextOffset: Math.max(next, fetchedOffset) };
  }

  /** Sifts; where a batch seems to go on behind what was read, reads on to see whether it does: a stranger may say so as well. */
  private async found(place: TopicPartition, records: readonly FetchedRecord[], isGenuine: IsGenuine): Promise<Sifted> {
    const ahead = new Ahead(place, this.reader);
    const kept: FetchedRecord[] = [];
    const unvouched: StampedOffset[] = [];
    for (let left = records; ;) {
      const found = sift(left, isGenuine, SIFTED_AT_ONCE);
      for (const record of found.records) kept.push(record);
      for (const stamp of found.unvouched) unvouched.push(stamp);
      const [begun] = found.rest;
      if (begun !== undefined && !found.isUnfinished) {
        await turn();
        left = found.rest;
        continue;
      }
      if (begun === undefined || (await ahead.isBatch(found.rest, isGenuine)))
        return { records: kept, unvouched, rest: found.rest, isUnfinished: begun !== undefined };
      kept.push(voided(begun));
      unvouched.push(stampOf(begun));
      left = found.rest.slice(1);
    }
  }

  private async recordsBefore(
    { topic, partition }: FetchedBatch,
    first: FetchedRecord,
  ): Promise<readonly FetchedRecord[]> {
    const isBoundary = first.offset === 0 || this.ends.get(`${topic}/${String(partition)}`) === first.offset;
    if (isBoundary || readBatchHeader(first.headers[SIGNATURE]) !== null) return [];
    const reader = await this.reader();
    const { low } = await reader.range(topic, partition);
    const before: FetchedRecord[] = [];
    for (let at = Math.max(low, first.offset - SIGNED_RECORDS_MAX); at < first.offset;) {
      const { records, nextOffset } = await reader.read(topic, partition, at, FETCH_BYTES);
      before.push(...records.filter(({ offset }) => offset >= at && offset < first.offset));
      if (nextOffset <= at) throw handsOutNothing({ topic, partition }, at);
      at = nextOffset;
    }
    return reachingInto(before, first);
  }
}

/** What lies behind a fetch, read once and only as far as it is asked for. */
class Ahead {
  private readonly records: FetchedRecord[] = [];

  constructor(
    private readonly place: TopicPartition,
    private readonly reader: () => Promise<Pick<RawReader, 'read' | 'range'>>,
  ) {}

  /** Is there a genuine batch that begins with these, the last that were fetched, and goes on behind them? */
  async isBatch(begun: readonly FetchedRecord[], isGenuine: IsGenuine): Promise<boolean> {
    const [first] = begun;
    const header = readBatchHeader(first?.headers[SIGNATURE]);
    if (first === undefined || header === null) return false;
    const { high } = await (await this.reader()).range(this.place.topic, this.place.partition);
    if (first.offset + header.count > high) return false;
    const whole = [...begun];
    for (const more of this.records) whole.push(more);
    // A batch of a log is smaller than a fetch (L4): what is larger is none.
    while (whole.length < header.count && bytesOf(whole) < FETCH_BYTES) {
      const next = await this.readOn((whole.at(-1)?.offset ?? 0) + 1, high);
      if (next.length === 0) return false;
      whole.push(...next);
    }
    const batch = whole.slice(0, header.count);
    if (batch.slice(1).some(isSigned)) return false;
    return batch.length === header.count && bytesOf(batch) < FETCH_BYTES && isGenuine(batch, header);
  }

  private async readOn(from: number, high: number): Promise<readonly FetchedRecord[]> {
    const { topic, partition } = this.place;
    const { records, nextOffset } = await (await this.reader()).read(topic, partition, from, FETCH_BYTES);
    const next = records.filter(({ offset }) => offset >= from);
    // The end of a transaction is no record, and no batch goes on behind it.
    if (next.length === 0 && nextOffset <= from && from < high) throw handsOutNothing(this.place, from);
    this.records.push(...next);
    return next;
  }
}

function bytesOf(records: readonly FetchedRecord[]): number {
  return records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
}

/** Only the batch that reaches into what follows is of interest: it begins at the last signature before it, of a forger's perhaps. */
function reachingInto(before: readonly FetchedRecord[], first: FetchedRecord): readonly FetchedRecord[] {
  const start = before.findLastIndex(isSigned);
  const header = readBatchHeader(before[start]?.headers[SIGNATURE]);
  return header !== null && (before[start]?.offset ?? 0) + header.count > first.offset ? before.slice(start) : [];
}

/** Lets everybody else have a turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** A reader that gives logs as their owners signed them. */
export function signedReader(reader: RawReader, judge: LogJudge): RawReader {
  const sieve = new LogSieve(judge, () => Promise.resolve(reader));
  return {
    range: (topic, partition) => reader.range(topic, partition),
    read: async (topic, partition, fromOffset, maxBytes = FETCH_BYTES) => {
      const isLog = judge.genuine(topic, partition) !== null;
      const bytes = isLog ? Math.max(maxBytes, FETCH_BYTES) : maxBytes;
      return sieve.sifted(await reader.read(topic, partition, fromOffset, bytes));
    },
    readMany: async (positions: readonly ReadPosition[], options?: ReadManyOptions): Promise<readonly ReadBatch[]> =>
      Promise.all((await reader.readMany(positions, options)).map((batch) => sieve.sifted(batch))),
    close: () => reader.close(),
  };
}
