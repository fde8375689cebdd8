// Which accepted losses of a log a reader knows, and which one is consent to what it has lost itself. Pure.
//
// Invariants
//   C1. A person accepts one loss. What was read with its record in it has its consent behind it: that is no word about a later loss.
//   C2. Who does not know which of them it has read takes that one alone which names the record it read last: no older one can.
import type { PlacedRecord, LogPosition } from '@recourse/event-log';

/** An accepted loss, as a reader keeps it. */
export interface KnownCut {
  /** First seq that is gone. */
  readonly fromSeq: number;
  /** Hash of the record that accepts it, in hex: no other has it. */
  readonly hash: string;
}

/** Stands behind the others while a log is read for the first time: all that it held then was there before anybody listened. */
const FIRST_READING: KnownCut = { fromSeq: Number.MAX_SAFE_INTEGER, hash: '' };

/** What is known before a log was ever read. */
export const UNREAD: readonly KnownCut[] = [FIRST_READING];

/** Is it read for the first time? */
export function isFirstReading(known: readonly KnownCut[]): boolean {
  return known.at(-1)?.hash === FIRST_READING.hash;
}

/** What is known once that is over. */
export function afterFirstReading(known: readonly KnownCut[]): readonly KnownCut[] {
  return known.filter(({ hash }) => hash !== FIRST_READING.hash);
}

/** An accepted loss, as its log tells it. */
export interface ToldCut extends KnownCut {
  readonly lostHead: LogPosition['head'];
}

/** The record that was read last, and the accepted losses that are known; null where nobody knows which were read. */
type Read = LogPosition['head'] & { readonly cuts: readonly KnownCut[] | null };

/** The loss that a record accepts; null for every other record. */
export function cutIn({ type, hash, body }: PlacedRecord): ToldCut | null {
  if (type !== 'CutAccepted') return null;
  const lost = body['lost_head_hash'];
  return {
    fromSeq: Number(body['lost_from_seq']),
    hash: hash.toString('hex'),
    lostHead: {
      seq: Number(body['lost_to_seq']),
      hash: lost instanceof Uint8Array ? Buffer.from(lost) : Buffer.alloc(0),
    },
  };
}

/** Was it known before? */
export function isKnown({ hash }: ToldCut, known: readonly KnownCut[]): boolean {
  return known.some((one) => one.hash === hash);
}

/** What is known once a loss is: those that were accepted in what is gone are gone with it. */
export function knownWith(known: readonly KnownCut[], told: ToldCut): readonly KnownCut[] {
  if (isKnown(told, known)) return known;
  const { fromSeq, hash } = told;
  const isFirst = isFirstReading(known);
  return [...known.filter((one) => one.fromSeq < fromSeq), { fromSeq, hash }, ...(isFirst ? UNREAD : [])];
}

/** What is known once a record was read. */
export function knownAfter(known: readonly KnownCut[], record: PlacedRecord): readonly KnownCut[] {
  const told = cutIn(record);
  return told === null ? known : knownWith(known, told);
}

/**
 * Does the first loss that a reader did not know of account for the record it read last?
 *
 * Shape: the first one, since what stands before it is what the reader has read; later losses are of what it never read.
 */
export function accountsFor({ fromSeq, lostHead }: ToldCut, read: Read): boolean {
  const isInPlace = lostHead.seq === read.seq;
  const isNamed = isInPlace && lostHead.hash.equals(read.hash);
  if (read.cuts === null) return isNamed;
  return fromSeq <= read.seq && (!isInPlace || isNamed);
}

/** Records before this seq were there before: they are read a second time, where a log is read anew, or the log is read for the first time. */
export function readBefore(known: readonly KnownCut[]): number {
  return known.at(-1)?.fromSeq ?? 0;
}
