// Which records of a log its owner signed. Pure.
//
// A batch carries its signature on its first record, and lies in one piece: a log has one request in flight, and a broker
// keeps what came in one request together. What no signature of the owner covers is void, whatever it follows.
import { readBatchHeader, SIGNATURE } from './signature.js';
import type { SignatureHeader } from './signature.js';
import type { FetchedRecord } from '../kafka.port.js';
import { stampOf } from '../stamped-offset.js';
import type { StampedOffset } from '../stamped-offset.js';

/** Is this batch the owner's? */
export type IsGenuine = (batch: readonly FetchedRecord[], header: SignatureHeader) => boolean;

export interface Sifted {
  /** Records in their places; those that nobody vouches for have lost key and value, which makes them void. */
  readonly records: readonly FetchedRecord[];
  /** Those of them that nobody vouches for. */
  readonly unvouched: readonly StampedOffset[];
  /** Records from here on may be the beginning of a batch whose rest was not read. */
  readonly rest: readonly FetchedRecord[];
}

/**
 * Sifts consecutive records of one partition, of which the first is not inside a batch, up to one that says that a batch begins
 * which ends behind them: whether it does is seen by reading on.
 *
 * Shape:  `records` and `rest` together are as many as were given.
 */
export function sift(given: readonly FetchedRecord[], isGenuine: IsGenuine): Sifted {
  const records: FetchedRecord[] = [];
  const unvouched: StampedOffset[] = [];
  let at = 0;
  for (let first = given[at]; first !== undefined; first = given[at]) {
    const size = genuineAt(given, at, isGenuine);
    if (size === 'unfinished') return { records, unvouched, rest: given.slice(at) };
    records.push(...(size === 0 ? [voided(first)] : given.slice(at, at + size)));
    if (size === 0) unvouched.push(stampOf(first));
    at += Math.max(1, size);
  }
  return { records, unvouched, rest: [] };
}

/** Sifts a partition from its start as its records come; holds no more than one batch. */
export class RunningSieve {
  #held: FetchedRecord[] = [];

  constructor(private readonly isGenuine: IsGenuine) {}

  /** Takes the next record; gives those of which it is known now whose they are. */
  push(record: FetchedRecord): readonly FetchedRecord[] {
    this.#held.push(record);
    if (this.#held.length < (readBatchHeader(this.#held[0]?.headers[SIGNATURE])?.count ?? 1)) return [];
    const { records, rest } = sift(this.#held, this.isGenuine);
    this.#held = [...rest];
    return records;
  }

  /** Nothing comes after this: a batch that did not come whole is none. */
  *end(): Generator<FetchedRecord> {
    for (;;) {
      const { records, rest } = sift(this.#held, this.isGenuine);
      yield* records;
      const [begun, ...others] = rest;
      this.#held = others;
      if (begun === undefined) return;
      yield voided(begun);
    }
  }
}

/** Sifts a partition from its start, all of it. */
export function* siftAll(given: Iterable<FetchedRecord>, isGenuine: IsGenuine): Generator<FetchedRecord> {
  const sieve = new RunningSieve(isGenuine);
  for (const record of given) yield* sieve.push(record);
  yield* sieve.end();
}

/** Records of the batch that begins here; 0 when none of the owner's does. */
function genuineAt(given: readonly FetchedRecord[], at: number, isGenuine: IsGenuine): number | 'unfinished' {
  const first = given[at];
  const header = readBatchHeader(first?.headers[SIGNATURE]);
  if (first === undefined || header === null) return 0;
  const last = given[at + header.count - 1];
  if (last === undefined) return 'unfinished';
  const isWhole = last.offset === first.offset + header.count - 1;
  return isWhole && isGenuine(given.slice(at, at + header.count), header) ? header.count : 0;
}

/** The same place without key and value, which makes it void. */
export function voided({ offset, timestamp, headers }: FetchedRecord): FetchedRecord {
  return { offset, timestamp, headers, key: null, value: null };
}
