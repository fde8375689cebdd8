// Reads the records of one type out of a log; of each other type one record is decoded.
import { schemaIdOf } from '@recourse/chain';
import type { StoredRecord } from '@recourse/chain';
import type { Codecs } from './codecs.js';
import type { CutAccepted, Progress } from './generated/index.js';

/** What every log of a service holds. */
interface Bodies {
  readonly CutAccepted: CutAccepted;
  readonly Progress: Progress;
}

/** Reads the body of a record of this type; null of any other record. */
export function bodyReader<T extends keyof Bodies>(
  { decodeSync }: Pick<Codecs, 'decodeSync'>,
  type: T,
): (record: StoredRecord) => Bodies[T] | null {
  const others = new Set<number | null>();
  return ({ value }) => {
    const id = schemaIdOf(value);
    if (others.has(id)) return null;
    const decoded = decodeSync(value);
    // The codec has just decoded it under this name.
    if (decoded.kind === 'decoded' && decoded.type === type) return decoded.body as Bodies[T];
    // What cannot be read says nothing of the next one.
    if (decoded.kind !== 'bad') others.add(id);
    return null;
  };
}
