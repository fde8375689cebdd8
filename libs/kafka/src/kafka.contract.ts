// What every adapter of the Kafka port does alike, races and deaths included.
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import { CONSUMER_GROUP } from './consumer-group.contract.js';
import { INPUT_CONSUMER } from './input-consumer.contract.js';
import { KafkaScene, type KafkaHarness } from './kafka-scene.contract.js';
import type { AccessRule } from './kafka.port.js';
import { LOG_PRODUCER } from './log-producer.contract.js';
import { RAW_READER } from './raw-reader.contract.js';
import { TRANSACTIONS } from './transactions.contract.js';
import { codeOf, PATIENCE_MS, record } from './testing/owner.testing.js';

/** Java's murmur2 (org.apache.kafka.common.utils.Utils): partition of each key among 12. */
const JAVA_PARTITIONS_OF_12 = {
  '21': 0,
  foobar: 6,
  'a-little-bit-long-string': 8,
  'a-little-bit-longer-string': 11,
  abc: 3,
} as const;

const RULE: AccessRule = {
  principal: 'User:agent',
  host: '*',
  permission: 'ALLOW',
  operation: 'READ',
  resource: 'TOPIC',
  name: 'anything',
  pattern: 'LITERAL',
};

/** Runs the contract against one adapter. */
export function kafkaContract(name: string, open: () => Promise<KafkaHarness>): void {
  describe(`the Kafka port on ${name}`, () => {
    let scene: KafkaScene;
    beforeAll(async () => {
      scene = new KafkaScene(await open(), `${name}-${String(Date.now())}-${String(process.pid)}`);
    }, PATIENCE_MS);
    afterEach(() => scene.endSpec(), PATIENCE_MS);
    afterAll(() => scene.harness.close());
    runCases(CASES, () => scene);
  });
}

const CASES: Cases<KafkaScene> = {
  'a log producer': LOG_PRODUCER,

  'transactions of others': TRANSACTIONS,

  'a consumer group': CONSUMER_GROUP,

  'a wire producer': {
    'puts keys where Java puts them': async ({ topic, wireProducer, everything }) => {
      const wire = await topic(12);
      await (
        await wireProducer()
      ).send(
        wire,
        Object.keys(JAVA_PARTITIONS_OF_12).map((key) => record(key)),
      );
      for (const [key, partition] of Object.entries(JAVA_PARTITIONS_OF_12))
        expect(await everything(wire, partition)).toContain(key);
    },

    'keeps the order of sends that were not waited for': async ({ topic, wireProducer, everything }) => {
      const wire = await topic();
      const producer = await wireProducer();
      await Promise.all(
        Array.from({ length: 30 }, (_, index) => producer.send(wire, [record('key', String(index).padStart(2, '0'))])),
      );
      const values = await everything(wire);
      expect(values).toEqual(Array.from({ length: 30 }, (_, index) => String(index).padStart(2, '0')));
    },

    'takes what is too large only together, and refuses what is too large alone': async ({
      kafka,
      kept,
      marker,
      wireProducer,
      everything,
    }) => {
      const name = `${marker}-small`;
      const config = { 'max.message.bytes': '100000' };
      await kept(await kafka.admin()).ensureTopics([{ name, partitions: 1, config }]);
      const producer = await wireProducer();
      const send = (bytes: number) => codeOf(producer.send(name, [record('key', 'x'.repeat(bytes))]));
      expect(await Promise.all([send(60_000), send(120_000), send(70_000)])).toEqual([
        'no failure',
        'RECORD_TOO_LARGE',
        'no failure',
      ]);
      expect((await everything(name)).map((value) => value.length)).toEqual([60_000, 70_000]);
    },

    'carries headers': async ({ topic, wireProducer, rawReader }) => {
      const wire = await topic();
      await (await wireProducer()).send(wire, [{ ...record('key'), headers: { ce_id: '4711', ce_type: 'größe' } }]);
      const {
        records: [found],
      } = await (await rawReader()).read(wire, 0, 0);
      expect(Object.entries(found?.headers ?? {}).map(([header, value]) => [header, String(value)])).toEqual([
        ['ce_id', '4711'],
        ['ce_type', 'größe'],
      ]);
    },

    'fails with TOPIC_MISSING where there is no topic, and its neighbours in the same round do not': async ({
      topic,
      wireProducer,
      marker,
    }) => {
      const wire = await topic();
      const producer = await wireProducer();
      const outcomes = await Promise.all([
        codeOf(producer.send(wire, [record('a')])),
        codeOf(producer.send(`${marker}-nowhere`, [record('b')])),
        codeOf(producer.send(wire, [record('c')])),
      ]);
      expect(outcomes).toEqual(['no failure', 'TOPIC_MISSING', 'no failure']);
    },
  },

  'a raw reader': RAW_READER,

  'the administrator': {
    'counts partitions, and knows what is missing': async ({ kafka, topic, kept, marker }) => {
      const name = await topic(3);
      const admin = kept(await kafka.admin());
      expect(await admin.partitionCount(name)).toBe(3);
      expect(await admin.partitionCount(`${marker}-nowhere`)).toBeNull();
      expect(await admin.listTopics()).toContain(name);
      expect((await admin.clusterId()).length).toBeGreaterThan(0);
    },

    'leaves a topic alone that is as wanted, and refuses another count': async ({ kafka, topic, kept }) => {
      const name = await topic(3);
      const admin = kept(await kafka.admin());
      await admin.ensureTopics([{ name, partitions: 3 }]);
      expect(await codeOf(admin.ensureTopics([{ name, partitions: 4 }]))).toBe('PARTITION_COUNT_CHANGED');
      expect(await admin.partitionCount(name)).toBe(3);
    },

    'makes no topic where another stands with another count': async ({ kafka, topic, kept, marker }) => {
      const [name, other] = [await topic(3), `${marker}-unmade`];
      const admin = kept(await kafka.admin());
      const wanted = [
        { name: other, partitions: 1 },
        { name, partitions: 4 },
      ];
      expect(await codeOf(admin.ensureTopics(wanted))).toBe('PARTITION_COUNT_CHANGED');
      expect(await admin.partitionCount(other)).toBeNull();
    },

    'tells a topic as it stands': async ({ kafka, marker, kept }) => {
      const name = `${marker}-kept`;
      const admin = kept(await kafka.admin());
      await admin.ensureTopics([{ name, partitions: 2, config: { 'retention.ms': '604800000' } }]);
      const [facts, ...others] = await admin.topicFacts([name, `${marker}-nowhere`]);
      expect(others).toEqual([]);
      expect(facts).toMatchObject({ name, partitions: 2, replicationFactor: 1 });
      expect(facts?.config['retention.ms']).toBe('604800000');
    },

    'knows no rules of access where nobody is asked who they are, and makes none': async ({ kafka, kept }) => {
      const admin = kept(await kafka.admin());
      expect(await admin.accessRules()).toBeNull();
      expect(await codeOf(admin.applyAccess([RULE]))).toBe('CONFIG_INVALID');
    },
  },

  'an input consumer': INPUT_CONSUMER,
};
