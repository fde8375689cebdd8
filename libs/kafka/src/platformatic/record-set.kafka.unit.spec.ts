import { describe, expect, it } from '@jest/globals';
import { crc32c, createRecordsBatch } from '@platformatic/kafka';
import { visibleIn } from './fetch-answer.kafka.js';
import { PLAIN_MAX } from './decompress.kafka.js';
import { readRecordSet } from './record-set.kafka.js';
import { BATCH_RECORDS_MAX } from './records.kafka.js';

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const [CRC_AT, COVERED_AT, COUNT_AT, RECORDS_AT] = [17, 21, 57, 61];
const [FIRST_TIMESTAMP_AT, MAX_TIMESTAMP_AT, LOG_APPEND_TIME] = [27, 35, 8];
const TEXT = 'the refund of order 4711 '.repeat(50);

/** A batch of two records as a client makes it, at an offset. */
function batchAt(firstOffset: number, compression: (typeof CODECS)[number] = 'none'): Buffer {
  const messages = ['a', 'b'].map((key) => ({
    topic: 'wire',
    key: Buffer.from(key),
    value: Buffer.from(TEXT),
    headers: new Map(),
  }));
  const bytes = Buffer.from(createRecordsBatch(messages, { compression }).buffer);
  bytes.writeBigInt64BE(BigInt(firstOffset), 0);
  return bytes;
}

/** The same with other records, and a checksum that fits: what a client with a codec of its own would send. */
function holding(batch: Buffer, records: Buffer): Buffer {
  const bytes = Buffer.concat([batch.subarray(0, RECORDS_AT), records]);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeUInt32BE(crc32c(bytes.subarray(COVERED_AT)), CRC_AT);
  return bytes;
}

const readFrom = (position: number, ...set: readonly Buffer[]): ReturnType<typeof visibleIn> =>
  visibleIn(readRecordSet(Buffer.concat(set)), position);
const seen = (position: number, ...set: readonly Buffer[]): readonly string[] =>
  readFrom(position, ...set).records.map(({ offset, key, unreadable }) =>
    unreadable === undefined ? `${String(offset)} ${String(key)}` : `${String(offset)} unreadable`,
  );

describe('a set of record batches', () => {
  it.each(CODECS)('is read with %s', (codec) => {
    expect(seen(0, batchAt(0, codec), batchAt(2, codec))).toEqual(['0 a', '1 b', '2 a', '3 b']);
    expect(String(readFrom(0, batchAt(0, codec)).records[0]?.value)).toBe(TEXT);
  });

  it('leaves out a batch that is cut off at its end', () => {
    const [whole, cut] = [batchAt(0), batchAt(2)];
    expect(readFrom(0, whole, cut.subarray(0, 40)).nextOffset).toBe(2);
    expect(seen(0, whole, cut.subarray(0, 5))).toEqual(['0 a', '1 b']);
  });

  it('goes on behind a batch whose records say that they stand elsewhere, and nowhere else', () => {
    const strange = batchAt(2);
    // Place of the first record: behind its size (two octets of it, the value is long), attributes and time.
    const placeAt = RECORDS_AT + 4;
    expect(strange[placeAt]).toBe(0);
    strange[placeAt] = 2 * 50;
    const forged = holding(strange, strange.subarray(RECORDS_AT));
    expect(seen(0, batchAt(0), forged, batchAt(4))).toEqual(['0 a', '1 b', '2 unreadable', '4 a', '5 b']);
    expect(readFrom(0, batchAt(0), forged).nextOffset).toBe(4);
  });

  it.each(CODECS.slice(1))('tells of a batch whose %s is broken, and reads those around it', (codec) => {
    const broken = holding(batchAt(2, codec), Buffer.from('this is no such thing'));
    expect(seen(0, batchAt(0), broken, batchAt(4))).toEqual(['0 a', '1 b', '2 unreadable', '4 a', '5 b']);
    const { records, nextOffset } = readFrom(3, broken);
    expect([records[0]?.offset, nextOffset]).toEqual([3, 4]);
    expect(records[0]?.unreadable).toEqual({ detail: expect.stringMatching(/cannot be read: ./), bytes: broken });
  });

  it.each(CODECS.slice(1))(
    'tells of a batch that %s blows up beyond what is read, and reads those around it',
    (codec) => {
      const messages = [{ topic: 'wire', value: Buffer.alloc(PLAIN_MAX + 1) }];
      const bomb = Buffer.from(createRecordsBatch(messages, { compression: codec }).buffer);
      bomb.writeBigInt64BE(2n, 0);
      const { records } = readFrom(2, bomb);
      expect(records[0]?.unreadable?.detail).toMatch(/more than 33554432 bytes/);
      expect(seen(0, batchAt(0), bomb, batchAt(3))).toEqual(['0 a', '1 b', '2 unreadable', '3 a', '4 b']);
    },
  );

  it.each(CODECS.slice(1))('takes as much as is read, compressed with %s', (codec) => {
    const value = Buffer.alloc(PLAIN_MAX - 1_000, 'the refund of order 4711 ');
    const large = Buffer.from(createRecordsBatch([{ topic: 'wire', value }], { compression: codec }).buffer);
    expect(readFrom(0, large).records[0]?.value?.equals(value)).toBe(true);
  });

  it('is read no further once it takes as much memory as a batch may; the rest is asked for again', () => {
    const value = Buffer.alloc(PLAIN_MAX - 1_000);
    const large = Buffer.from(createRecordsBatch([{ topic: 'wire', value }], { compression: 'zstd' }).buffer);
    const at = (offset: number): Buffer => {
      const bytes = Buffer.from(large);
      bytes.writeBigInt64BE(BigInt(offset), 0);
      return bytes;
    };
    expect(readFrom(0, at(0), at(1), at(2), at(3)).nextOffset).toBe(2);
  });

  it('is read up to what is left of its answer, and its first batch at any cost', () => {
    const set = Buffer.concat([batchAt(0), batchAt(2), batchAt(4)]);
    const read = (costMax = Infinity): number => readRecordSet(set, { costMax }).batches.length;
    const { cost } = readRecordSet(batchAt(0)).batches[0] ?? { cost: 0 };
    expect([read(), read(cost + 1), read(0), read(-1)]).toEqual([3, 2, 1, 1]);
  });

  it('has the time of the broker, where it is that of all records: also of a batch that cannot be read', () => {
    const stamped = (records: Buffer): Buffer => {
      const bytes = holding(batchAt(0), records);
      bytes.writeInt16BE(LOG_APPEND_TIME, COVERED_AT);
      bytes.writeBigInt64BE(1n, FIRST_TIMESTAMP_AT);
      bytes.writeBigInt64BE(1_700_000_000_000n, MAX_TIMESTAMP_AT);
      bytes.writeUInt32BE(crc32c(bytes.subarray(COVERED_AT)), CRC_AT);
      return bytes;
    };
    const timesOf = (bytes: Buffer): readonly number[] => readFrom(0, bytes).records.map(({ timestamp }) => timestamp);
    expect(timesOf(stamped(batchAt(0).subarray(RECORDS_AT)))).toEqual([1_700_000_000_000, 1_700_000_000_000]);
    expect(timesOf(stamped(Buffer.from('?')))).toEqual([1_700_000_000_000]);
  });

  it('tells of a batch with a record of more headers than are read, and reads those around it', () => {
    const headers = new Map(Array.from({ length: 129 }, (_, n) => [Buffer.from(`h${String(n)}`), Buffer.alloc(0)]));
    const messages = [{ topic: 'wire', value: Buffer.from('v'), headers }];
    const crowded = Buffer.from(createRecordsBatch(messages, { compression: 'zstd' }).buffer);
    crowded.writeBigInt64BE(2n, 0);
    expect(seen(0, batchAt(0), crowded, batchAt(3))).toEqual(['0 a', '1 b', '2 unreadable', '3 a', '4 b']);
    expect(readFrom(2, crowded).records[0]?.unreadable?.detail).toMatch(/129 headers; 128 are read/);
  });

  it('tells of a batch that says it has more records than are read', () => {
    const many = holding(batchAt(0), Buffer.alloc(8 * (BATCH_RECORDS_MAX + 1), 0));
    many.writeInt32BE(BATCH_RECORDS_MAX + 1, COUNT_AT);
    many.writeUInt32BE(crc32c(many.subarray(COVERED_AT)), CRC_AT);
    expect(readFrom(0, many).records[0]?.unreadable?.detail).toMatch(/100001 records; 100000 are read/);
  });

  it('tells of a batch whose codec nobody knows', () => {
    const strange = holding(batchAt(0), Buffer.from('?'));
    strange.writeInt16BE(7, COVERED_AT);
    strange.writeUInt32BE(crc32c(strange.subarray(COVERED_AT)), CRC_AT);
    expect(seen(0, strange, batchAt(2))).toEqual(['0 unreadable', '2 a', '3 b']);
  });

  it('tells of a batch whose bytes were altered, also where they could be read', () => {
    const altered = batchAt(0);
    altered[altered.length - 3] = (altered[altered.length - 3] ?? 0) ^ 1;
    expect(seen(0, altered, batchAt(2))).toEqual(['0 unreadable', '2 a', '3 b']);
    expect(readFrom(0, altered, batchAt(2)).records[0]?.unreadable?.detail).toContain('checksum');
  });

  it('takes the place of an altered batch from the one behind it: its own word counts for nothing', () => {
    const altered = batchAt(0);
    altered.writeInt32BE(1_000_000, 23);
    expect(readFrom(0, altered, batchAt(2)).nextOffset).toBe(4);
  });

  it('tells of a batch of another format', () => {
    const old = batchAt(0);
    old.writeInt8(1, 16);
    expect(seen(0, old, batchAt(2))).toEqual(['0 unreadable', '2 a', '3 b']);
  });

  const lengthened = (bytes: Buffer, length: number): Buffer => {
    bytes.writeInt32BE(length, 8);
    return bytes;
  };

  it.each([
    ['less than a head', 3],
    ['none', -1],
    ['too few', 70],
    ['so many that it takes in the next', 2 * batchAt(0).length - 24],
    ['more than there are', 1_000_000],
  ])('ends before a batch that says it has %s bytes, and what came before is read', (_what, length) => {
    const set = Buffer.concat([batchAt(0), lengthened(batchAt(2), length), batchAt(4)]);
    expect(readRecordSet(set.subarray(batchAt(0).length))).toMatchObject({
      batches: [],
      broken: {
        firstOffset: 2n,
        detail: expect.stringMatching(/^a record batch cannot be read, nor where it ends: ./),
      },
    });
    const { batches } = readRecordSet(set);
    expect(batches.map(({ firstOffset, unreadable }) => [firstOffset, unreadable])).toEqual([[0n, null]]);
  });

  it('ends before an altered batch with nothing behind it that would tell where it ends', () => {
    const altered = batchAt(2);
    altered.writeInt32BE(1_000_000, 23);
    expect(readFrom(0, batchAt(0), altered).nextOffset).toBe(2);
    expect(readRecordSet(altered).broken?.detail).toContain('checksum');
  });
});
