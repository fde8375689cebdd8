// The acceptance rule: whoever lands first at a head wins, and every reader agrees.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ChainReader, judge, readHead, readRecord } from './index.js';
import type { StoredRecord } from './index.js';
import { fingerprintOf, GENESIS, headAfter, recordAfter, soundLog, UNKNOWN_SCHEMA } from './records.testing.js';

const verdictsOf = (records: readonly StoredRecord[]): string[] => {
  const reader = new ChainReader(GENESIS, fingerprintOf);
  return records.map((record) => reader.read(record).kind);
};
const at = <T>(list: readonly T[], index: number): T => {
  const item = list[index];
  if (item === undefined) throw new RangeError(`nothing at ${index}`);
  return item;
};

describe('a record at the head of its partition', () => {
  it('is accepted when it carries the next seq and the hash of the head', () => {
    expect(judge(GENESIS, { seq: 1, prevHash: GENESIS.hash })).toBe('accepted');
  });

  it('is void with another seq or another hash', () => {
    expect(judge(GENESIS, { seq: 2, prevHash: GENESIS.hash })).toBe('void');
    expect(judge(GENESIS, { seq: 0, prevHash: GENESIS.hash })).toBe('void');
    expect(judge(GENESIS, { seq: 1, prevHash: Buffer.alloc(32) })).toBe('void');
  });

  it('is void without a key or without a readable head', () => {
    const record = recordAfter(GENESIS, 'a');
    expect(readRecord(GENESIS, { ...record, key: null }, fingerprintOf)).toEqual({ kind: 'void' });
    expect(readRecord(GENESIS, { ...record, value: null }, fingerprintOf)).toEqual({ kind: 'void' });
    expect(readRecord(GENESIS, { ...record, value: Buffer.from('no frame') }, fingerprintOf)).toEqual({ kind: 'void' });
  });
});

describe('a reader of a partition', () => {
  const { records, heads } = soundLog(4);

  it('accepts a sound log whole', () => {
    expect(verdictsOf(records)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
  });

  it('skips a duplicate, and a batch whose prefix is repeated', () => {
    expect(verdictsOf([...records.slice(0, 2), at(records, 1), ...records])).toEqual([
      'accepted',
      'accepted',
      'void',
      'void',
      'void',
      'accepted',
      'accepted',
    ]);
  });

  it('skips a late batch of a rival whole', () => {
    const rival = recordAfter(at(heads, 1), 'rival');
    const second = recordAfter(headAfter(at(heads, 1), rival), 'rival too');
    expect(verdictsOf([at(records, 0), at(records, 1), rival, second, at(records, 2)])).toEqual([
      'accepted',
      'accepted',
      'void',
      'void',
      'accepted',
    ]);
  });

  it('skips everything after a gap', () => {
    expect(verdictsOf([at(records, 0), at(records, 2), at(records, 3)])).toEqual(['accepted', 'void', 'void']);
  });

  it('stops at an unknown schema, goes on once it is known, and never minds one in a void record', () => {
    const strange = recordAfter(GENESIS, 'strange', 0, UNKNOWN_SCHEMA);
    let known = false;
    const reader = new ChainReader(GENESIS, (id) => (known ? Buffer.alloc(32, id) : null));
    expect(reader.read(strange)).toEqual({ kind: 'unknown_schema', id: UNKNOWN_SCHEMA });
    expect(reader.head).toBe(GENESIS);
    known = true;
    expect(reader.read(strange).kind).toBe('accepted');
    expect(verdictsOf([at(records, 0), strange, at(records, 1)])).toEqual(['accepted', 'void', 'accepted']);
  });

  it('accepts exactly one chain, whatever rivals, repeats and orders land', () => {
    const pool = soundLog(5).records;
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 4 }), { maxLength: 40 }), (order) => {
        const reader = new ChainReader(GENESIS, fingerprintOf);
        const accepted = order.filter((n) => reader.read(at(pool, n)).kind === 'accepted');
        return accepted.every((n, position) => n === position) && reader.head.seq === accepted.length;
      }),
    );
  });
});

describe('the head of a record', () => {
  it('reads every seq back, up to 2^53 - 1', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (seq) => {
        const head = readHead(recordAfter({ seq: seq - 1, hash: GENESIS.hash }, '').value);
        return head?.seq === seq && head.prevHash.equals(GENESIS.hash);
      }),
    );
  });

  it('is null for bytes that are too short or a seq that never ends', () => {
    const { value } = recordAfter(GENESIS, '');
    for (let end = 0; end < (value?.length ?? 0); end += 1)
      expect(readHead(value?.subarray(0, end) ?? null)).toBeNull();
    expect(readHead(Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.alloc(60, 0xff)]))).toBeNull();
  });
});
