// Reads of a record the head that it gives up as lost.
import type { Head, StoredRecord } from '@recourse/chain';
import { bodyReader } from './body-reader.js';
import type { Codecs } from './codecs.js';

/** Reads the head that a CutAccepted gives up; null of any other record. */
export function lossReader(codecs: Pick<Codecs, 'decodeSync'>): (record: StoredRecord) => Head | null {
  const read = bodyReader(codecs, 'CutAccepted');
  return (record) => {
    const body = read(record);
    return body === null ? null : { seq: body.lost_to_seq, hash: Buffer.from(body.lost_head_hash) };
  };
}
