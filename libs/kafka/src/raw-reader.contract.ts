// What every raw reader does alike: positions, ends, ranges, many partitions at once.
import { expect } from '@jest/globals';
import type { Cases } from '@recourse/testing';
import type { KafkaScene } from './kafka-scene.contract.js';
import { codeOf, record, records, valuesOf } from './testing/owner.testing.js';

/** Part of the contract of the Kafka port. */
export const RAW_READER: Cases<KafkaScene> = {
  'reads from the middle, with bytes, offsets and keys as they were sent': async ({
    topic,
    logProducer,
    rawReader,
  }) => {
    const log = await topic();
    await (
      await logProducer()
    ).send(log, 0, [record('a'), { key: Buffer.from([0, 255]), value: Buffer.from([0, 1, 254]) }, record('c')]);
    const batch = await (await rawReader()).read(log, 0, 1);
    expect(batch.fetchedOffset).toBe(1);
    expect(batch.records.map(({ offset, key, value }) => [offset, [...(key ?? [])], [...(value ?? [])]])).toEqual([
      [1, [0, 255], [0, 1, 254]],
      [2, [99], [99]],
    ]);
  },

  'answers with nothing at the end, and knows where that is': async ({ topic, logProducer, rawReader }) => {
    const log = await topic();
    const reader = await rawReader();
    expect(await reader.range(log, 0)).toEqual({ low: 0, high: 0 });
    expect((await reader.read(log, 0, 0)).records).toEqual([]);
    await (await logProducer()).send(log, 0, records('a', 3));
    expect(await reader.range(log, 0)).toEqual({ low: 0, high: 3 });
    expect((await reader.read(log, 0, 3)).records).toEqual([]);
  },

  'fails with CURSOR_OUT_OF_RANGE above the end and below what retention left': async ({
    harness,
    topic,
    logProducer,
    rawReader,
  }) => {
    const log = await topic();
    const reader = await rawReader();
    await (await logProducer()).send(log, 0, records('a', 5));
    await harness.trim(log, 0, 2);
    expect(await reader.range(log, 0)).toEqual({ low: 2, high: 5 });
    expect(await codeOf(reader.read(log, 0, 6))).toBe('CURSOR_OUT_OF_RANGE');
    expect(await codeOf(reader.read(log, 0, 1))).toBe('CURSOR_OUT_OF_RANGE');
    expect(valuesOf(await reader.read(log, 0, 2))).toEqual(['a-2', 'a-3', 'a-4']);
  },

  'fails with TOPIC_MISSING for a topic or a partition that does not exist': async ({ topic, rawReader, marker }) => {
    const log = await topic();
    const reader = await rawReader();
    expect(await codeOf(reader.read(`${marker}-nowhere`, 0, 0))).toBe('TOPIC_MISSING');
    expect(await codeOf(reader.read(log, 1, 0))).toBe('TOPIC_MISSING');
    expect(await codeOf(reader.range(log, 1))).toBe('TOPIC_MISSING');
  },

  'reads many partitions of many topics with one request, each with its end': async ({
    topic,
    logProducer,
    rawReader,
  }) => {
    const [one, two] = [await topic(2), await topic()];
    const producer = await logProducer();
    await producer.send(one, 1, records('a', 3));
    await producer.send(two, 0, records('b', 2));
    const answer = await (
      await rawReader()
    ).readMany([
      { topic: two, partition: 0, offset: 1 },
      { topic: one, partition: 0, offset: 0 },
      { topic: one, partition: 1, offset: 0 },
    ]);
    expect(
      answer.map((batch) => [batch.topic, batch.partition, batch.fetchedOffset, valuesOf(batch), batch.end]),
    ).toEqual([
      [two, 0, 1, ['b-1'], 2],
      [one, 0, 0, [], 0],
      [one, 1, 0, ['a-0', 'a-1', 'a-2'], 3],
    ]);
    expect(await (await rawReader()).readMany([])).toEqual([]);
  },

  'reads many from whoever tells a place when asked for it': async ({ topic, logProducer, rawReader }) => {
    const log = await topic();
    await (await logProducer()).send(log, 0, records('a', 2));
    class Place {
      get topic(): string {
        return log;
      }
      get partition(): number {
        return 0;
      }
      get offset(): number {
        return 1;
      }
    }
    const [answer] = await (await rawReader()).readMany([new Place()]);
    expect(answer === undefined ? [] : valuesOf(answer)).toEqual(['a-1']);
  },

  'fails for all partitions where one is out of range or missing': async ({ topic, logProducer, rawReader }) => {
    const log = await topic();
    await (await logProducer()).send(log, 0, records('a', 1));
    const reader = await rawReader();
    expect(await codeOf(reader.readMany([{ topic: log, partition: 0, offset: 2 }]))).toBe('CURSOR_OUT_OF_RANGE');
    expect(
      await codeOf(
        reader.readMany([
          { topic: log, partition: 0, offset: 0 },
          { topic: log, partition: 1, offset: 0 },
        ]),
      ),
    ).toBe('TOPIC_MISSING');
  },

  'may wait for a record when asked to, and no longer than it was asked to': async ({
    topic,
    logProducer,
    rawReader,
  }) => {
    const log = await topic();
    const [reader, producer] = [await rawReader(), await logProducer()];
    expect((await reader.readMany([{ topic: log, partition: 0, offset: 0 }], { waitMs: 100 }))[0]?.records).toEqual([]);
    const waiting = reader.readMany([{ topic: log, partition: 0, offset: 0 }], { waitMs: 20_000 });
    await producer.send(log, 0, records('a', 1));
    expect([0, 1]).toContain((await waiting)[0]?.records.length);
  },

  'answers with at least one record, however few bytes are asked for, and reaches all in turn': async ({
    topic,
    logProducer,
    rawReader,
  }) => {
    const log = await topic();
    const producer = await logProducer();
    for (let batch = 0; batch < 5; batch += 1)
      await producer.send(log, 0, [record(`big-${String(batch)}`, 'x'.repeat(10_000))]);
    const reader = await rawReader();
    const keys: string[] = [];
    for (let position = 0; position < 5;) {
      const { records: found } = await reader.read(log, 0, position, 100);
      expect(found.length).toBeGreaterThan(0);
      keys.push(...found.map(({ key }) => String(key)));
      position = (found.at(-1)?.offset ?? Infinity) + 1;
    }
    expect(keys).toEqual(['big-0', 'big-1', 'big-2', 'big-3', 'big-4']);
  },
};
