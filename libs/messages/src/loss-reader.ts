// Reads of a record the head that it gives up as lost; of the types that give up nothing, one record each is decoded.
import { schemaIdOf } from '@recourse/chain';
import type { Head, StoredRecord } from '@recourse/chain';
import type { Codecs } from './codecs.js';
import type { CutAccepted } from './generated/index.js';

/** Reads the head that a CutAccepted gives up; null of any other record. */
export function lossReader({ decodeSync }: Pick<Codecs, 'decodeSync'>): (record: StoredRecord) => Head | null {
  const others = new Set<number | null>();
  return ({ value }) => {
    const id = schemaIdOf(value);
    if (others.has(id)) return null;
    const decoded = decodeSync(value);
    if (decoded.kind !== 'decoded' || decoded.type !== 'CutAccepted') {
      others.add(id);
      return null;
    }
    // The codec has just decoded it under this name.
    const { lost_to_seq, lost_head_hash } = decoded.body as CutAccepted;
    return { seq: lost_to_seq, hash: Buffer.from(lost_head_hash) };
  };
}
