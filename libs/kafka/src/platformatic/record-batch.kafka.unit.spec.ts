import { describe, expect, it } from '@jest/globals';
import { createRecordsBatch, produceV7 } from '@platformatic/kafka';
import fc from 'fast-check';
import type { OutgoingRecord } from '../kafka.port.js';
import { encodeProduce, encodeRecordBatch } from './record-batch.kafka.js';

const NOW = 1_760_000_000_123;
const TOPIC = 'recourse.mutations';
const bytes = fc.uint8Array({ maxLength: 300 }).map((octets) => Buffer.from(octets));
const records: fc.Arbitrary<readonly OutgoingRecord[]> = fc.array(
  fc.record({
    key: bytes,
    value: bytes,
    headers: fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== '__proto__'),
      fc.string({ maxLength: 8 }),
      { maxKeys: 2 },
    ),
  }),
  { minLength: 1, maxLength: 130 },
);

const messageOf = ({ key, value, headers }: OutgoingRecord): Parameters<typeof createRecordsBatch>[0][number] => ({
  topic: TOPIC,
  partition: 3,
  timestamp: BigInt(NOW),
  key,
  value,
  headers: new Map(Object.entries(headers ?? {}).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
});
const batchOfTheClient = (given: readonly OutgoingRecord[]): Buffer => createRecordsBatch(given.map(messageOf)).buffer;

describe('a record batch', () => {
  it('has the bytes the client would have sent', () => {
    fc.assert(
      fc.property(records, (given) => {
        expect(encodeRecordBatch(given, NOW).equals(batchOfTheClient(given))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('takes records larger than what two octets of length can say', () => {
    const given = [
      { key: Buffer.from('k'), value: Buffer.alloc(300_000, 7) },
      { key: Buffer.alloc(0), value: Buffer.alloc(0) },
    ];
    expect(encodeRecordBatch(given, NOW).equals(batchOfTheClient(given))).toBe(true);
  });

  it('stands in a produce request as the client builds one', () => {
    const given = [{ key: Buffer.from('run'), value: Buffer.from('one') }];
    const expected = produceV7.createRequest(-1, 5_000, given.map(messageOf)).buffer;
    expect(encodeProduce({ topic: TOPIC, partition: 3, timeoutMs: 5_000 }, given, NOW).equals(expected)).toBe(true);
  });
});
