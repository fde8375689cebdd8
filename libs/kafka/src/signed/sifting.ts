// Which records of a log its owner signed. Pure.
//
// A batch carries its signature on its first record, and lies in one piece: a log has one request in flight, and a broker
// keeps what came in one request together. What no signature of the owner covers is void, whatever it follows.
//
// Invariants
//   S1. No record is hashed twice: a batch has one signature, so that what says it goes on over another is none.
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
  /** Records from here on were not sifted. */
  readonly rest: readonly FetchedRecord[];
  /** They may be the beginning of a batch whose rest was not read; where not, as much was judged as was asked for. */
  readonly isUnfinished: boolean;
}

/** What is judged in one go: a signature counts as much as hashing so many records, and so does a record that none covers. */
const SIGNATURE_COST = 100;
const VOID_COST = 10;

/**
 * Sifts consecutive records of one partition, of which the first is not inside a batch, up to one that says that a batch begins
 * which ends behind them: whether it does is seen by reading on.
 *
 * Shape:  `records` and `rest` together are as many as were given. `costMax`: about how many records are hashed; a signature counts as 100, a void record as 10.
 */
export function sift(given: readonly FetchedRecord[], isGenuine: IsGenuine, costMax = Infinity): Sifted {
  const records: FetchedRecord[] = [];
  const unvouched: StampedOffset[] = [];
  let [at, cost] = [0, 0];
  for (let first = given[at]; first !== undefined && cost < costMax; first = given[at]) {
    const claim = claimAt(given, at);
    if (claim === 'unfinished') return { records, unvouched, rest: given.slice(at), isUnfinished: true };
    cost += claim === null ? VOID_COST : claim.batch.length + SIGNATURE_COST;
    const isOwners = claim !== null && isGenuine(claim.batch, claim.header);
    records.push(...(isOwners ? claim.batch : [voided(first)]));
    if (!isOwners) unvouched.push(stampOf(first));
    at += isOwners ? claim.batch.length : 1;
  }
  return { records, unvouched, rest: given.slice(at), isUnfinished: false };
}

/** Sifts a partition from its start as its records come; holds no more than one batch. */
export class RunningSieve {
  #held: FetchedRecord[] = [];

  constructor(private readonly isGenuine: IsGenuine) {}

  /** Takes the next record; gives those of which it is known now whose they are. */
  push(record: FetchedRecord): readonly FetchedRecord[] {
    this.#held.push(record);
    if (this.#held.length < batchSize(this.#held[0])) return [];
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

/** A batch that somebody says begins here; null where nobody does, or where it cannot be one. */
function claimAt(
  given: readonly FetchedRecord[],
  at: number,
): { readonly header: SignatureHeader; readonly batch: readonly FetchedRecord[] } | null | 'unfinished' {
  const first = given[at];
  const header = readBatchHeader(first?.headers[SIGNATURE]);
  if (first === undefined || header === null) return null;
  const end = at + header.count;
  for (let inside = at + 1; inside < Math.min(end, given.length); inside += 1) if (isSigned(given[inside])) return null;
  const last = given[end - 1];
  if (last === undefined) return 'unfinished';
  return last.offset === first.offset + header.count - 1 ? { header, batch: given.slice(at, end) } : null;
}

/** How many records the batch has that says it begins with this one; 1 where none does. */
export function batchSize(record: FetchedRecord | undefined): number {
  return readBatchHeader(record?.headers[SIGNATURE])?.count ?? 1;
}

/** Does it say that it carries a signature? Of a batch the first record does, and no other. */
export function isSigned(record: FetchedRecord | undefined): boolean {
  return record?.headers[SIGNATURE] !== undefined;
}

/** The same place without key and value, which makes it void; one that could not be read is none, and halts who reads the log. */
export function voided({ offset, timestamp, headers, unreadable }: FetchedRecord): FetchedRecord {
  return { offset, timestamp, headers, key: null, value: null, ...(unreadable === undefined ? {} : { unreadable }) };
}
