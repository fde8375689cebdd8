// Which records of a log its owner signed. Pure.
//
// A batch carries its signature on its first record, and lies in one piece: a log has one request in flight, and a broker
// keeps what came in one request together. What no signature of the owner covers is void, whatever it follows.
import { readHeader, SIGNATURE } from './signature.js';
import type { SignatureHeader } from './signature.js';
import type { FetchedRecord } from '../kafka.port.js';

/** Is this batch the owner's? */
export type IsGenuine = (batch: readonly FetchedRecord[], header: SignatureHeader) => boolean;

export interface Sifted {
  /** Records in their places; those that nobody vouches for have lost key and value, which makes them void. */
  readonly records: readonly FetchedRecord[];
  /** How many of them nobody vouches for. */
  readonly unvouched: number;
  /** Records from here on may be the beginning of a batch whose rest was not read. */
  readonly rest: readonly FetchedRecord[];
}

/**
 * Sifts consecutive records of one partition, of which the first is not inside a batch.
 *
 * Shape:  `records` and `rest` together are as many as were given. `isEnd`: nothing follows, so a batch that is not whole is none.
 */
export function sift(given: readonly FetchedRecord[], isGenuine: IsGenuine, isEnd = false): Sifted {
  const records: FetchedRecord[] = [];
  let unvouched = 0;
  let at = 0;
  while (at < given.length) {
    const size = genuineAt(given, at, isGenuine);
    if (size === 'unfinished') {
      if (!isEnd && !holdsGenuine(given, at + 1, isGenuine)) return { records, unvouched, rest: given.slice(at) };
    } else if (size > 0) {
      records.push(...given.slice(at, at + size));
      at += size;
      continue;
    }
    records.push(voided(given[at]));
    unvouched += 1;
    at += 1;
  }
  return { records, unvouched, rest: [] };
}

/** Records of the batch that begins here; 0 when none of the owner's does. */
function genuineAt(given: readonly FetchedRecord[], at: number, isGenuine: IsGenuine): number | 'unfinished' {
  const first = given[at];
  const header = readHeader(first?.headers[SIGNATURE]);
  if (first === undefined || header === null) return 0;
  const last = given[at + header.count - 1];
  if (last === undefined) return 'unfinished';
  const isWhole = last.offset === first.offset + header.count - 1;
  return isWhole && isGenuine(given.slice(at, at + header.count), header) ? header.count : 0;
}

/** Batches do not lie in one another: where a genuine one follows, what seemed to begin before it did not. */
function holdsGenuine(given: readonly FetchedRecord[], from: number, isGenuine: IsGenuine): boolean {
  for (let at = from; at < given.length; at += 1) {
    const size = genuineAt(given, at, isGenuine);
    if (size !== 'unfinished' && size > 0) return true;
  }
  return false;
}

function voided(record: FetchedRecord | undefined): FetchedRecord {
  if (record === undefined) throw new RangeError('there is no such record');
  const { offset, timestamp, headers } = record;
  return { offset, timestamp, headers, key: null, value: null };
}
