// Records of a batch: what the client writes is read, and bytes that are no records have an answer.
import { describe, expect, it } from '@jest/globals';
import { createRecordsBatch } from '@platformatic/kafka';
import fc from 'fast-check';
import type { FetchedRecord } from '../kafka.port.js';
import { encodeRecordBatch } from './record-batch.kafka.js';
import { readRecords } from './records.kafka.js';

const [COUNT_AT, RECORDS_AT] = [57, 61];
const PLAIN = { attributes: 0, firstOffset: 40, firstTimestamp: 1_000 };
const bytesOf = fc.uint8Array({ maxLength: 300 }).map((octets) => Buffer.from(octets));
const message = fc.record({
  key: fc.option(bytesOf),
  value: fc.option(bytesOf),
  headers: fc.dictionary(fc.string({ minLength: 1, maxLength: 9 }), bytesOf, { maxKeys: 3, noNullPrototype: true }),
  timestamp: fc.nat({ max: 2 ** 30 }),
});

const read = (batch: Buffer, count = batch.readInt32BE(COUNT_AT)): readonly FetchedRecord[] =>
  readRecords(batch.subarray(RECORDS_AT), { ...PLAIN, count }).records;

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
