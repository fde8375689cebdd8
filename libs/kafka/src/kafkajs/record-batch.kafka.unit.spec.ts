import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OutgoingRecord } from '../kafka.port.js';
import { crc32c, encodeProduce, encodeRecordBatch } from './record-batch.kafka.js';

// kafkajs' own encoders, which no type of its public interface covers.
const load = createRequire(import.meta.url);
const recordOfKafkaJs = load('kafkajs/src/protocol/recordBatch/record/v0') as (record: object) => object;
const { RecordBatch: batchOfKafkaJs } = load('kafkajs/src/protocol/recordBatch/v0') as {
  readonly RecordBatch: (batch: object) => Promise<{ readonly buffer: Buffer }>;
};
const produceOfKafkaJs = load('kafkajs/src/protocol/requests/produce/v7/request') as (request: object) => {
  readonly encode: () => Promise<{ readonly buffer: Buffer }>;
};

const NOW = 1_760_000_000_123;
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

async function expectedBatch(given: readonly OutgoingRecord[]): Promise<Buffer> {
  const encoded = given.map((record, offsetDelta) => recordOfKafkaJs({ ...record, offsetDelta, timestampDelta: 0 }));
  return (
    await batchOfKafkaJs({
      records: encoded,
      firstTimestamp: NOW,
      maxTimestamp: NOW,
      lastOffsetDelta: given.length - 1,
    })
  ).buffer;
}

describe('a record batch', () => {
  it('has the bytes kafkajs would have sent', async () => {
    await fc.assert(
      fc.asyncProperty(records, async (given) => {
        expect(encodeRecordBatch(given, NOW).equals(await expectedBatch(given))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('takes records larger than what two octets of length can say', async () => {
    const given = [
      { key: Buffer.from('k'), value: Buffer.alloc(300_000, 7) },
      { key: Buffer.alloc(0), value: Buffer.alloc(0) },
    ];
    expect(encodeRecordBatch(given, NOW).equals(await expectedBatch(given))).toBe(true);
  });

  it('stands in a produce request as kafkajs builds one', async () => {
    const messages = [{ key: Buffer.from('run'), value: Buffer.from('one'), timestamp: NOW }];
    const request = produceOfKafkaJs({
      acks: -1,
      timeout: 5_000,
      topicData: [{ topic: 'recourse.mutations', partitions: [{ partition: 3, firstSequence: 0, messages }] }],
    });
    const expected = (await request.encode()).buffer;
    expect(
      encodeProduce({ topic: 'recourse.mutations', partition: 3, timeoutMs: 5_000 }, messages, NOW).equals(expected),
    ).toBe(true);
  });
});

describe('CRC-32C', () => {
  it('has the check value of its definition', () => {
    const check = Buffer.from('123456789');
    expect(crc32c(check, 0, check.length)).toBe(0xe3069283);
  });
});
