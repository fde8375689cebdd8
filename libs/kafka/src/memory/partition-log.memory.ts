// The records of one partition, in memory.
import { Failure } from '@recourse/kernel';
import type { FetchedRecord, OutgoingRecord, PartitionRange, Unreadable } from '../kafka.port.js';

const NO_HEADERS: FetchedRecord['headers'] = Object.freeze({});

export class PartitionLog {
  private records: FetchedRecord[] = [];
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

  range(): PartitionRange {
    return { low: this.low, high: this.high };
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
  read(fromOffset: number, maxBytes: number, maxRecords: number): readonly FetchedRecord[] {
    const { low, high } = this;
    if (fromOffset < low || fromOffset > high)
      throw new Failure(
        'CURSOR_OUT_OF_RANGE',
        `${this.topic}/${String(this.partition)} holds ${String(low)} to ${String(high)}, asked for ${String(fromOffset)}`,
      );
    let end = fromOffset - low;
    for (let bytes = 0; end < this.records.length && end - (fromOffset - low) < maxRecords; end += 1) {
      bytes += sizeOf(this.records[end]);
      if (bytes > maxBytes && end > fromOffset - low) break;
    }
    return this.records.slice(fromOffset - low, end);
  }

  /** Loses the tail from `offset` on: the next record gets that offset again. */
  cutTail(offset: number): void {
    this.records.length = Math.max(0, Math.min(this.records.length, offset - this.low));
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
    return [...this.records];
  }
}

/** Where reading goes on behind records that were read from a position. */
export function nextAfter(records: readonly FetchedRecord[], position: number): number {
  return (records.at(-1)?.offset ?? position - 1) + 1;
}

function asHeaders(headers: Readonly<Record<string, string>>): FetchedRecord['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]));
}

function sizeOf(record: FetchedRecord | undefined): number {
  return (record?.key?.length ?? 0) + (record?.value?.length ?? 0);
}
