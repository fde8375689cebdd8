// What every adapter of the Kafka port does alike, races and deaths included.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { inputConsumerContract } from './input-consumer.contract.js';
import type { ContractScene, KafkaHarness } from './kafka-scene.contract.js';
import type { Kafka, LogProducer, RawReader, WireProducer } from './kafka.port.js';
import { logProducerContract } from './log-producer.contract.js';
import { rawReaderContract } from './raw-reader.contract.js';
import { codeOf, PATIENCE_MS, record, valuesOf } from './testing/owner.testing.js';

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

    const scene: ContractScene = {
      marker,
      harness: () => harness,
      kafka: () => kafka,
      topic,
      topics,
      kept,
      logProducer,
      wireProducer,
      rawReader,
      everything,
    };

    logProducerContract(scene);

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

    rawReaderContract(scene);

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

    inputConsumerContract(scene);
  });
}
