// What every adapter of the Kafka port does alike, races and deaths included.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { inputConsumerContract } from './input-consumer.contract.js';
import type { KafkaHarness } from './kafka-scene.contract.js';
import type { Kafka, LogProducer, RawReader, WireProducer } from './kafka.port.js';
import { codeOf, PATIENCE_MS, record, records, until, valuesOf } from './testing/owner.testing.js';

/** Java's murmur2 (org.apache.kafka.common.utils.Utils): partition of each key among 12. */
const JAVA_PARTITIONS_OF_12 = {
  '21': 0,
  foobar: 6,
  'a-little-bit-long-string': 8,
  'a-little-bit-longer-string': 11,
  abc: 3,
} as const;
/** Runs the contract against one adapter. */
export function kafkaContract(name: string, open: () => Promise<KafkaHarness>): void {
  describe(`the Kafka port on ${name}`, () => {
    let harness: KafkaHarness;
    let kafka: Kafka;
    const opened: { close(): Promise<void> }[] = [];
    const marker = `${name}-${String(Date.now())}-${String(process.pid)}`;
    let topicCount = 0;

    beforeAll(async () => {
      harness = await open();
      kafka = harness.kafka;
    }, PATIENCE_MS);
    afterEach(async () => {
      await Promise.all(
        opened
          .splice(0)
          .reverse()
          .map((resource) => resource.close()),
      );
    }, PATIENCE_MS);
    afterAll(async () => {
      await harness.close();
    });

    const kept = <T extends { close(): Promise<void> }>(resource: T): T => {
      opened.push(resource);
      return resource;
    };
    const logProducer = async (from: Kafka = kafka): Promise<LogProducer> => kept(await from.logProducer());
    const wireProducer = async (): Promise<WireProducer> => kept(await kafka.wireProducer());
    const rawReader = async (): Promise<RawReader> => kept(await kafka.rawReader());
    const topics = async (...partitionCounts: number[]): Promise<string[]> => {
      const specs = partitionCounts.map((partitions) => ({
        name: `${marker}-${String((topicCount += 1))}`,
        partitions,
      }));
      const admin = kept(await kafka.admin());
      await admin.ensureTopics(specs);
      return specs.map((spec) => spec.name);
    };
    const topic = async (partitions = 1): Promise<string> => (await topics(partitions))[0] ?? '';
    const everything = async (from: string, partition = 0): Promise<string[]> =>
      valuesOf(await (await rawReader()).read(from, partition, 0));

    describe('a log producer', () => {
      it('answers with the offset of the first record of every batch', async () => {
        const log = await topic();
        const producer = await logProducer();
        expect(await producer.send(log, 0, records('a', 3))).toEqual({ kind: 'landed', baseOffset: 0 });
        expect(await producer.send(log, 0, records('b', 2))).toEqual({ kind: 'landed', baseOffset: 3 });
        expect(await producer.send(log, 0, records('c', 1))).toEqual({ kind: 'landed', baseOffset: 5 });
      });

      it('keeps the order of sends that were not waited for', async () => {
        const log = await topic();
        const producer = await logProducer();
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, index) => producer.send(log, 0, records(String(index).padStart(2, '0'), 2))),
        );
        expect(outcomes).toEqual(outcomes.map((_, index) => ({ kind: 'landed', baseOffset: index * 2 })));
        const values = await everything(log);
        expect(values).toEqual([...values].sort());
      });

      it('says unknown about a partition that does not exist', async () => {
        const log = await topic(2);
        const producer = await logProducer();
        expect((await producer.send(log, 2, records('a', 1))).kind).toBe('unknown');
      });

      it('says unknown about a topic that does not exist', async () => {
        const producer = await logProducer();
        expect((await producer.send(`${marker}-nowhere`, 0, records('a', 1))).kind).toBe('unknown');
      });

      it('sends nothing more once an outcome is unknown, not even what was waiting', async () => {
        const log = await topic();
        const producer = await logProducer();
        const outcomes = await Promise.all([
          producer.send(log, 9, records('a', 1)),
          producer.send(log, 0, records('b', 1)),
          producer.send(log, 0, records('c', 1)),
        ]);
        expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown']);
        expect(await everything(log)).toEqual([]);
      });

      it('says unknown when the answer is lost, though the records landed', async () => {
        const log = await topic();
        const faulty = kept(await harness.faulty());
        const producer = await logProducer(faulty.kafka);
        expect((await producer.send(log, 0, records('a', 1))).kind).toBe('landed');
        faulty.loseAnswers();
        expect((await producer.send(log, 0, records('b', 2))).kind).toBe('unknown');
        expect(await everything(log)).toEqual(['a-0', 'b-0', 'b-1']);
      });

      it('says unknown about a packet under way, which may land much later', async () => {
        const log = await topic();
        const faulty = kept(await harness.faulty());
        const zombie = await logProducer(faulty.kafka);
        await zombie.send(log, 0, records('a', 1));
        faulty.hold();
        expect((await zombie.send(log, 0, records('late', 1))).kind).toBe('unknown');
        const successor = await logProducer();
        expect(await successor.send(log, 0, records('b', 1))).toEqual({ kind: 'landed', baseOffset: 1 });
        await faulty.release();
        await until('the late packet landed', async () => (await everything(log)).length === 3);
        expect(await everything(log)).toEqual(['a-0', 'b-0', 'late-0']);
      });

      it('never mixes its batches with those of another one that races it', async () => {
        const log = await topic();
        const [one, two] = await Promise.all([logProducer(), logProducer()]);
        const send = async (producer: LogProducer, prefix: string): Promise<number[]> => {
          const bases: number[] = [];
          for (let round = 0; round < 15; round += 1) {
            const outcome = await producer.send(log, 0, records(`${prefix}${String(round)}`, 3));
            bases.push(outcome.kind === 'landed' ? outcome.baseOffset : NaN);
          }
          return bases;
        };
        const [first, second] = await Promise.all([send(one, 'x'), send(two, 'y')]);
        expect([...first, ...second].sort((a, b) => a - b)).toEqual(
          Array.from({ length: 30 }, (_, index) => index * 3),
        );
        const values = await everything(log);
        first.forEach((base, round) => {
          expect(values.slice(base, base + 3)).toEqual([0, 1, 2].map((index) => `x${String(round)}-${String(index)}`));
        });
      });
    });

    describe('a wire producer', () => {
      it('puts keys where Java puts them', async () => {
        const wire = await topic(12);
        await (
          await wireProducer()
        ).send(
          wire,
          Object.keys(JAVA_PARTITIONS_OF_12).map((key) => record(key)),
        );
        for (const [key, partition] of Object.entries(JAVA_PARTITIONS_OF_12))
          expect(await everything(wire, partition)).toContain(key);
      });

      it('keeps the order of sends that were not waited for', async () => {
        const wire = await topic();
        const producer = await wireProducer();
        await Promise.all(
          Array.from({ length: 30 }, (_, index) =>
            producer.send(wire, [record('key', String(index).padStart(2, '0'))]),
          ),
        );
        const values = await everything(wire);
        expect(values).toEqual(Array.from({ length: 30 }, (_, index) => String(index).padStart(2, '0')));
      });

      it('carries headers', async () => {
        const wire = await topic();
        await (await wireProducer()).send(wire, [{ ...record('key'), headers: { ce_id: '4711', ce_type: 'größe' } }]);
        const {
          records: [found],
        } = await (await rawReader()).read(wire, 0, 0);
        expect(Object.entries(found?.headers ?? {}).map(([header, value]) => [header, String(value)])).toEqual([
          ['ce_id', '4711'],
          ['ce_type', 'größe'],
        ]);
      });

      it('fails with TOPIC_MISSING where there is no topic, and its neighbours in the same round do not', async () => {
        const wire = await topic();
        const producer = await wireProducer();
        const outcomes = await Promise.all([
          codeOf(producer.send(wire, [record('a')])),
          codeOf(producer.send(`${marker}-nowhere`, [record('b')])),
          codeOf(producer.send(wire, [record('c')])),
        ]);
        expect(outcomes).toEqual(['no failure', 'TOPIC_MISSING', 'no failure']);
      });
    });

    describe('a raw reader', () => {
      it('reads from the middle, with bytes, offsets and keys as they were sent', async () => {
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
      });

      it('answers with nothing at the end, and knows where that is', async () => {
        const log = await topic();
        const reader = await rawReader();
        expect(await reader.range(log, 0)).toEqual({ low: 0, high: 0 });
        expect((await reader.read(log, 0, 0)).records).toEqual([]);
        await (await logProducer()).send(log, 0, records('a', 3));
        expect(await reader.range(log, 0)).toEqual({ low: 0, high: 3 });
        expect((await reader.read(log, 0, 3)).records).toEqual([]);
      });

      it('fails with CURSOR_OUT_OF_RANGE above the end and below what retention left', async () => {
        const log = await topic();
        const reader = await rawReader();
        await (await logProducer()).send(log, 0, records('a', 5));
        await harness.trim(log, 0, 2);
        expect(await reader.range(log, 0)).toEqual({ low: 2, high: 5 });
        expect(await codeOf(reader.read(log, 0, 6))).toBe('CURSOR_OUT_OF_RANGE');
        expect(await codeOf(reader.read(log, 0, 1))).toBe('CURSOR_OUT_OF_RANGE');
        expect(valuesOf(await reader.read(log, 0, 2))).toEqual(['a-2', 'a-3', 'a-4']);
      });

      it('fails with TOPIC_MISSING for a topic or a partition that does not exist', async () => {
        const log = await topic();
        const reader = await rawReader();
        expect(await codeOf(reader.read(`${marker}-nowhere`, 0, 0))).toBe('TOPIC_MISSING');
        expect(await codeOf(reader.read(log, 1, 0))).toBe('TOPIC_MISSING');
        expect(await codeOf(reader.range(log, 1))).toBe('TOPIC_MISSING');
      });

      it('reads many partitions of many topics with one request, each with its end', async () => {
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
      });

      it('fails for all partitions where one is out of range or missing', async () => {
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
      });

      it('may wait for a record when asked to, and no longer than it was asked to', async () => {
        const log = await topic();
        const [reader, producer] = [await rawReader(), await logProducer()];
        expect((await reader.readMany([{ topic: log, partition: 0, offset: 0 }], { waitMs: 100 }))[0]?.records).toEqual(
          [],
        );
        const waiting = reader.readMany([{ topic: log, partition: 0, offset: 0 }], { waitMs: 20_000 });
        await producer.send(log, 0, records('a', 1));
        expect([0, 1]).toContain((await waiting)[0]?.records.length);
      });

      it('answers with at least one record, however few bytes are asked for, and reaches all in turn', async () => {
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
      });
    });

    describe('the administrator', () => {
      it('counts partitions, and knows what is missing', async () => {
        const name = await topic(3);
        const admin = kept(await kafka.admin());
        expect(await admin.partitionCount(name)).toBe(3);
        expect(await admin.partitionCount(`${marker}-nowhere`)).toBeNull();
        expect(await admin.listTopics()).toContain(name);
        expect((await admin.clusterId()).length).toBeGreaterThan(0);
      });

      it('leaves a topic alone that is as wanted, and refuses another count', async () => {
        const name = await topic(3);
        const admin = kept(await kafka.admin());
        await admin.ensureTopics([{ name, partitions: 3 }]);
        expect(await codeOf(admin.ensureTopics([{ name, partitions: 4 }]))).toBe('PARTITION_COUNT_CHANGED');
        expect(await admin.partitionCount(name)).toBe(3);
      });
    });

    inputConsumerContract({
      harness: () => harness,
      kafka: () => kafka,
      topic,
      topics,
      kept,
      logProducer,
      wireProducer,
      everything,
      marker,
    });
  });
}
