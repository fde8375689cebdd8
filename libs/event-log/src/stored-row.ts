// A row as the store in memory keeps it.
import { InvariantViolation } from '@recourse/kernel';
import { decodeDoc, encodeDoc, partedDoc } from './row-codec.js';
import type { Doc } from './service-core.js';

export interface StoredRow {
  readonly dueAt: number | null;
  /** Encoded, or the doc itself where the database keeps references. */
  readonly doc: Buffer | Doc;
}

/** What is stored of a row whose lasting members are not written: those it had. */
export function keeping(before: StoredRow | undefined, after: StoredRow, lasting: readonly string[]): StoredRow {
  if (before === undefined)
    throw new InvariantViolation('S4', 'a row that is not there cannot keep members', 'partition');
  const isEncoded = Buffer.isBuffer(after.doc);
  const doc = { ...partedDoc(lasting, docOf(after)).rest, ...partedDoc(lasting, docOf(before)).lasting };
  return { dueAt: after.dueAt, doc: isEncoded ? encodeDoc(doc) : doc };
}

export function docOf({ doc }: StoredRow): Doc {
  return Buffer.isBuffer(doc) ? decodeDoc(doc) : doc;
}
