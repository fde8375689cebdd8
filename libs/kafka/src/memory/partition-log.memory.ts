// The records of one partition, in memory.
import { Failure } from '@recourse/kernel';
import type { FetchedRecord, OutgoingRecord, PartitionRange, ReadsOf, Unreadable } from '../kafka.port.js';

const NO_HEADERS: FetchedRecord['headers'] = Object.freeze({});
/** Takes an offset, and is seen by nobody. */
const MARKER: OutgoingRecord = { key: Buffer.alloc(0), value: Buffer.alloc(0) };

export interface ReadTerms {
  readonly maxBytes: number;
  /** Default: no limit. */
  readonly maxRecords?: number;
  /** Default: of logs. */
  readonly of?: ReadsOf;
}

/** A transaction of a stranger in one partition. */
export interface StrangersTransaction {
  commit(): void;
  abort(): void;
}

type Outcome = 'open' | 'committed' | 'aborted';

/** What was read from a position, and where reading goes on: behind what no reader may see as well. */
export interface Visible {
  readonly records: readonly FetchedRecord[];
  readonly nextOffset: number;
  readonly octets: number;
}

export class PartitionLog {
  private records: FetchedRecord[] = [];
  /** Of offsets that a transaction wrote: how it stands, or that they hold its marker. */
  private readonly inTransaction = new Map<number, { outcome: Outcome } | 'marker'>();
  /** Offset of the first record that is kept. */
  low = 0;

  constructor(
    readonly topic: string,
    readonly partition: number,
  ) {}

  /** Offset of the next record. */
  get high(): number {
    return this.low + this.records.length;
  }

  range(of: ReadsOf = 'logs'): PartitionRange {
    return { low: this.low, high: this.endOf(of) };
  }

  /** Where reading ends now: of a wire before the first record of an open transaction. */
  endOf(of: ReadsOf): number {
    if (of === 'logs' || this.inTransaction.size === 0) return this.high;
    const open = [...this.inTransaction].filter(([, by]) => by !== 'marker' && by.outcome === 'open');
    return Math.min(this.high, ...open.map(([offset]) => offset));
  }

  /** Appends what a stranger sends in a transaction; a marker follows when it ends. */
  begin(records: readonly OutgoingRecord[], timestamp: number): StrangersTransaction {
    const transaction: { outcome: Outcome } = { outcome: 'open' };
    const base = this.append(records, timestamp);
    for (const index of records.keys()) this.inTransaction.set(base + index, transaction);
    const end = (outcome: Outcome): void => {
      transaction.outcome = outcome;
      this.inTransaction.set(this.append([MARKER], timestamp), 'marker');
    };
    return {
      commit: () => {
        end('committed');
      },
      abort: () => {
        end('aborted');
      },
    };
  }

  /** Appends all of them, or none; answers the offset of the first. */
  append(records: readonly OutgoingRecord[], timestamp: number): number {
    const base = this.high;
    for (const [index, { key, value, headers }] of records.entries()) {
      this.records.push({
        offset: base + index,
        key,
        value,
        timestamp,
        headers: headers ? asHeaders(headers) : NO_HEADERS,
      });
    }
    return base;
  }

  /**
   * Records from an offset on, at least one when there is one, then as many as fit.
   *
   * Errors: Failure(CURSOR_OUT_OF_RANGE).
   */
  read(fromOffset: number, { maxBytes, maxRecords = Infinity, of = 'logs' }: ReadTerms): Visible {
    const { low, high } = this;
    if (fromOffset < low || fromOffset > high)
      throw new Failure(
        'CURSOR_OUT_OF_RANGE',
        `${this.topic}/${String(this.partition)} holds ${String(low)} to ${String(high)}, asked for ${String(fromOffset)}`,
      );
    const last = Math.max(0, this.endOf(of) - low);
    let end = fromOffset - low;
    for (let bytes = 0; end < last && end - (fromOffset - low) < maxRecords; end += 1) {
      bytes += sizeOf(this.records[end]);
      if (bytes > maxBytes && end > fromOffset - low) break;
    }
    const records = this.records.slice(fromOffset - low, end);
    const octets = records.reduce((sum, record) => sum + sizeOf(record), 0);
    return { records: this.visible(records, of), nextOffset: fromOffset + records.length, octets };
  }

  private visible(records: readonly FetchedRecord[], of: ReadsOf): readonly FetchedRecord[] {
    if (this.inTransaction.size === 0) return records;
    return records.filter(({ offset }) => {
      const by = this.inTransaction.get(offset);
      return by === undefined || (by !== 'marker' && (of === 'logs' || by.outcome === 'committed'));
    });
  }

  /** Loses the tail from `offset` on: the next record gets that offset again. */
  cutTail(offset: number): void {
    this.records.length = Math.max(0, Math.min(this.records.length, offset - this.low));
    for (const at of this.inTransaction.keys()) if (at >= this.high) this.inTransaction.delete(at);
  }

  /** Forgets what lies below `offset`, as retention does. */
  dropHead(offset: number): void {
    const gone = Math.max(0, Math.min(this.records.length, offset - this.low));
    this.records = this.records.slice(gone);
    this.low += gone;
  }

  /** Takes a record's key and value, and says why nobody can read it. */
  spoil(offset: number, unreadable: Unreadable): void {
    this.records = this.records.map((record) =>
      record.offset === offset ? { ...record, key: null, value: null, unreadable } : record,
    );
  }

  all(): readonly FetchedRecord[] {
    return this.visible([...this.records], 'logs');
  }
}

function asHeaders(headers: Readonly<Record<string, string>>): FetchedRecord['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]));
}

function sizeOf(record: FetchedRecord | undefined): number {
  const headers = Object.entries(record?.headers ?? {});
  const size = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return size + (record?.key?.length ?? 0) + (record?.value?.length ?? 0);
}
