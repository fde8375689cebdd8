// Records of a batch: what the client writes is read, and bytes that are no records have an answer.
import { describe, expect, it } from '@jest/globals';
import { createRecordsBatch } from '@platformatic/kafka';
import fc from 'fast-check';
import type { FetchedRecord } from '../kafka.port.js';
import { encodeRecordBatch } from './record-batch.kafka.js';
import { BATCH_HEADERS_MAX, IS_APPEND_TIME, RECORD_HEADERS_MAX, readRecords } from './records.kafka.js';

const [COUNT_AT, RECORDS_AT] = [57, 61];
const PLAIN = { attributes: 0, firstOffset: 40, firstTimestamp: 1_000, lastOffsetDelta: 2 ** 31 - 1 };
const bytesOf = fc.uint8Array({ maxLength: 300 }).map((octets) => Buffer.from(octets));
const message = fc.record({
  key: fc.option(bytesOf),
  value: fc.option(bytesOf),
  headers: fc.dictionary(fc.string({ minLength: 1, maxLength: 9 }), bytesOf, { maxKeys: 3, noNullPrototype: true }),
  timestamp: fc.nat({ max: 2 ** 30 }),
});

const read = (batch: Buffer, count = batch.readInt32BE(COUNT_AT)): readonly FetchedRecord[] =>
  readRecords(batch.subarray(RECORDS_AT), { ...PLAIN, count }).records;

/** The octets of a record up to its headers: its place, no key, no value. */
const beforeHeaders = (place: number): readonly number[] => [0, 0, 0, ...varint(place), 1, 1];
const varint = (value: number): number[] => (value < 64 ? [value * 2] : [((value * 2) & 0x7f) | 0x80, ...rest(value)]);
const rest = (value: number): number[] => {
  const left = Math.floor((value * 2) / 128);
  return left < 128 ? [left] : [(left & 0x7f) | 0x80, ...rest(left / 2)];
};
/** Records with so many empty headers each. */
const withHeaders = (records: number, says: number, has = says): Buffer => {
  const empty = Buffer.alloc(2 * has);
  return Buffer.concat(
    Array.from({ length: records }, (_, n) =>
      Buffer.concat([Buffer.from([...beforeHeaders(n), ...varint(says)]), empty]),
    ),
  );
};

describe('records of a batch', () => {
  it('are what a client wrote, with places and times counted from those of the batch', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), (messages) => {
        const first = messages[0]?.timestamp ?? 0;
        const written = createRecordsBatch(
          messages.map(({ key, value, headers, timestamp }) => ({
            topic: 'wire',
            // The client's type knows no null; it writes one as Kafka does.
            key: key as Buffer,
            value: value as Buffer,
            timestamp: BigInt(timestamp),
            headers: new Map(Object.entries(headers).map(([name, bytes]) => [Buffer.from(name), bytes])),
          })),
        ).buffer;
        expect(read(written)).toEqual(
          messages.map(({ key, value, headers, timestamp }, n) => ({
            ...{ key, value, headers },
            offset: 40 + n,
            timestamp: 1_000 + timestamp - first,
          })),
        );
      }),
    );
  });

  it('keep the last of a header that is given twice', () => {
    const headers = new Map(['old', 'new'].map((text) => [Buffer.from('ce_id'), Buffer.from(text)]));
    const written = createRecordsBatch([{ topic: 'wire', value: Buffer.from('v'), headers }]).buffer;
    expect(String(read(written)[0]?.headers['ce_id'])).toBe('new');
  });

  it('are refused where they end too early, and at once where more are claimed than there are bytes for', () => {
    const record = { key: Buffer.from('k'), value: Buffer.alloc(200, 7), headers: { ce_id: 'evt-1' } };
    const written = encodeRecordBatch([record], 1_000);
    for (let end = RECORDS_AT; end < written.length; end += 1)
      expect(() => read(written.subarray(0, end), 1)).toThrow(RangeError);
    expect(() => read(written, 2 ** 31 - 1)).toThrow(RangeError);
  });

  it('are refused at once with more headers than are read, or than there are bytes for', () => {
    const tooMany = `${String(RECORD_HEADERS_MAX + 1)} headers; ${String(RECORD_HEADERS_MAX)} are read`;
    expect(() => readRecords(withHeaders(1, RECORD_HEADERS_MAX + 1), { ...PLAIN, count: 1 })).toThrow(tooMany);
    expect(() => readRecords(withHeaders(1, 16_000_000, 1), { ...PLAIN, count: 1 })).toThrow(/16000000 headers; 128/);
    expect(() => readRecords(withHeaders(1, 3, 2), { ...PLAIN, count: 1 })).toThrow('3 headers in 4 bytes');
    expect(readRecords(withHeaders(1, RECORD_HEADERS_MAX), { ...PLAIN, count: 1 }).records).toHaveLength(1);
  });

  it('are refused with more headers in all than are read, and each counts as memory', () => {
    const [each, few] = [100, 10];
    const many = BATCH_HEADERS_MAX / each + 1;
    const whole = withHeaders(many, each);
    expect(() => readRecords(whole, { ...PLAIN, count: many })).toThrow(
      `${String(many * each)} headers or more; ${String(BATCH_HEADERS_MAX)} are read`,
    );
    expect(readRecords(whole, { ...PLAIN, count: many - 1 }).records).toHaveLength(many - 1);
    const without = readRecords(withHeaders(few, 0), { ...PLAIN, count: few }).cost;
    const { cost } = readRecords(withHeaders(few, each), { ...PLAIN, count: few });
    expect(cost - without).toBeGreaterThan(few * each * 200);
  });

  it('are refused at once where more of them are claimed than there are bytes for', () => {
    expect(() => readRecords(Buffer.alloc(699), { ...PLAIN, count: 100 })).toThrow('100 records in 699 bytes');
  });

  describe('say where in their batch they stand, and', () => {
    /** Records without anything, of which each says its place; zig-zag, so that a place may lie before the batch. */
    const placed = (...places: readonly number[]): Buffer =>
      Buffer.concat(places.map((place) => Buffer.from([0, 0, 0, place < 0 ? -2 * place - 1 : 2 * place, 1, 1, 0])));
    const offsetsOf = (places: readonly number[], lastOffsetDelta: number): readonly number[] =>
      readRecords(placed(...places), { ...PLAIN, count: places.length, lastOffsetDelta }).records.map(
        ({ offset }) => offset,
      );

    it.each([
      [[0, 1, 2], 2, [40, 41, 42]],
      [[1, 4], 5, [41, 44]],
    ])('are believed where they go up within it, with gaps where a log was compacted: %j', (places, last, offsets) => {
      expect(offsetsOf(places, last)).toEqual(offsets);
    });

    it.each([
      ['beyond its end', [3], 0],
      ['beyond its end, the last of them', [0, 2], 1],
      ['before its beginning', [-2], 0],
      ['twice in one place', [1, 1], 2],
      ['one after the other', [1, 0], 1],
    ])('are not where they stand %s', (_case, places, last) => {
      expect(() => offsetsOf(places, last)).toThrow(/a record says that it is number/u);
    });
  });

  it('are all of the time that the broker gives, where it gives one', () => {
    const sent = [5_000, 9_000].map((timestamp) => ({
      topic: 'wire',
      value: Buffer.from('v'),
      timestamp: BigInt(timestamp),
    }));
    const bytes = createRecordsBatch(sent).buffer.subarray(RECORDS_AT);
    const timesBy = (attributes: number): readonly number[] =>
      readRecords(bytes, { ...PLAIN, attributes, count: 2 }).records.map(({ timestamp }) => timestamp);
    expect(timesBy(0)).toEqual([1_000, 5_000]);
    expect(timesBy(IS_APPEND_TIME)).toEqual([1_000, 1_000]);
  });

  it('never make a reader loop, whatever the bytes are', () => {
    fc.assert(
      fc.property(bytesOf, fc.nat({ max: 50 }), (bytes, count) => {
        try {
          return readRecords(bytes, { ...PLAIN, count }).records.length === count;
        } catch (error) {
          return error instanceof RangeError;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
