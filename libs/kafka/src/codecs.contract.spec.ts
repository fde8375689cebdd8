// What other clients send compressed is read like everything else, by the raw reader and by the consumer of a service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Producer } from '@platformatic/kafka';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createKafka } from './create.kafka.js';
import type { Kafka } from './kafka.port.js';
import { TestOwner, until } from './testing/owner.testing.js';
import { plainClient, testStack } from './testing/real-broker.js';
import type { ConfigResourceTypes } from 'kafkajs';

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
// An ES module cannot name kafkajs' enum at run time; 4 is its BROKER.
const BROKER_RESOURCE = 4 as ConfigResourceTypes;
const TOPIC = `codecs-${String(Date.now())}-${String(process.pid)}`;
/** Long enough for every codec to leave something out, short enough for one batch. */
const TEXT = 'the refund of order 4711 '.repeat(200);

/** Alters the stored batch in which a word stands, as a disk does that forgets. */
async function alter(topic: string, word: string): Promise<void> {
  const admin = plainClient().admin();
  await admin.connect();
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: BROKER_RESOURCE, name: '1', configNames: ['log.dirs'] }],
  });
  await admin.disconnect();
  const folder = resources[0]?.configEntries[0]?.configValue ?? '';
  const file = join(folder, `${topic}-0`, '00000000000000000000.log');
  const bytes = readFileSync(file);
  const at = bytes.indexOf(word);
  if (at < 0) throw new Error(`${word} is not stored in ${file}`);
  const disk = openSync(file, 'r+');
  writeSync(disk, Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
  closeSync(disk);
}

describe('a record that is compressed', () => {
  let kafka: Kafka;
  let producer: Producer;

  beforeAll(async () => {
    const { brokers } = testStack().kafka;
    kafka = createKafka({ brokers, clientId: 'codecs' });
    const admin = await kafka.admin();
    await admin.ensureTopics([{ name: TOPIC, partitions: 1 }]);
    await admin.close();
    producer = new Producer({ clientId: 'compressing', bootstrapBrokers: [...brokers] });
    for (const compression of CODECS)
      await producer.send({
        messages: [1, 2].map((n) => ({
          topic: TOPIC,
          key: Buffer.from(compression),
          value: Buffer.from(`${String(n)} ${TEXT}`),
        })),
        compression,
        acks: -1,
      });
  }, 60_000);
  afterAll(async () => {
    await producer.close();
  });

  it('with gzip, snappy, lz4 or zstd is read as it was sent, from every offset', async () => {
    const reader = await kafka.rawReader();
    const read = await reader.read(TOPIC, 0, 0);
    expect(read.records.map(({ key, value }) => [String(key), String(value)])).toEqual(
      CODECS.flatMap((codec) => [1, 2].map((n) => [codec, `${String(n)} ${TEXT}`])),
    );
    const second = await reader.read(TOPIC, 0, 5);
    expect(second.records.map(({ offset, key }) => [offset, String(key)]).at(0)).toEqual([5, 'snappy']);
    await reader.close();
  });

  it('that was altered where it is stored is told of, and what comes behind it is read', async () => {
    const topic = `${TOPIC}-altered`;
    const admin = await kafka.admin();
    await admin.ensureTopics([{ name: topic, partitions: 1 }]);
    await admin.close();
    for (const [n, compression] of (['none', 'snappy', 'lz4'] as const).entries())
      await producer.send({
        messages: [{ topic, key: Buffer.from(compression), value: Buffer.from(`${String(n)} ${TEXT}`) }],
        compression,
        acks: -1,
      });
    await alter(topic, 'snappy');
    const owner = await new TestOwner(
      { groupId: `${topic}-group`, aligned: [topic], broadcast: [], maxWaitMs: 50 },
      0,
      new Map(),
    ).startOn(kafka);
    const seen: string[] = [];
    owner.onTaken = ({ records }) => {
      seen.push(...records.map(({ key, unreadable }) => (unreadable === undefined ? String(key) : 'unreadable')));
    };
    await until('the last', () => seen.includes('lz4'));
    expect(seen.filter((key) => key !== 'none')).toEqual(['unreadable', 'lz4']);
    await owner.consumer.stop();
  });

  it('reaches the consumer of a service, and what comes behind it does', async () => {
    const owner = await new TestOwner(
      { groupId: `${TOPIC}-group`, aligned: [TOPIC], broadcast: [], maxWaitMs: 50 },
      0,
      new Map(),
    ).startOn(kafka);
    await until('it has all', () => owner.taken.length === 2 * CODECS.length);
    expect(owner.valuesAt(TOPIC)).toEqual(CODECS.flatMap(() => [1, 2].map((n) => `${String(n)} ${TEXT}`)));
    await owner.consumer.stop();
  });
});
