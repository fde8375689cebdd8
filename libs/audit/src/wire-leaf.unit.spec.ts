// Leaves of a wire: of what can be read, and of what nobody can.
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { wireLeaf } from './index.js';

const BATCH = Buffer.concat([Buffer.alloc(8), Buffer.from('a batch nobody can read')]);
const EMPTY = { offset: 0, key: null, value: null };

describe('a leaf of a wire', () => {
  it('of a record is of its offset, its key and its value', () => {
    const leaf = createHash('sha256')
      .update(`\0recourse.wire.v1${'\0'.repeat(7)}\x07${'\0'.repeat(3)}\x01k`, 'latin1')
      .update(Buffer.alloc(4, 0xff))
      .digest();
    expect(wireLeaf({ offset: 7, key: Buffer.from('k'), value: null }).equals(leaf)).toBe(true);
  });

  it('of a batch nobody can read is of its bytes, wherever in it reading began', () => {
    const unreadable = { bytes: BATCH };
    const leaf = createHash('sha256')
      .update(`\0recourse.wire.unreadable.v1${'\0'.repeat(3)}${String.fromCharCode(BATCH.length)}`, 'latin1')
      .update(BATCH)
      .digest();
    for (const offset of [0, 3]) expect(wireLeaf({ ...EMPTY, offset, unreadable }).equals(leaf)).toBe(true);
    const other = wireLeaf({ ...EMPTY, unreadable: { bytes: Buffer.concat([BATCH, Buffer.alloc(1)]) } });
    expect(other.equals(leaf)).toBe(false);
  });

  it('of a batch nobody can read is that of no record', () => {
    const leaf = wireLeaf({ ...EMPTY, unreadable: { bytes: BATCH } });
    const alike = [EMPTY, { ...EMPTY, value: BATCH }, { ...EMPTY, key: BATCH }];
    expect(alike.filter((record) => wireLeaf(record).equals(leaf))).toEqual([]);
  });
});
