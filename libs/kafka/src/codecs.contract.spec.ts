// What other clients send compressed is read like everything else, by the raw reader and by the consumer of a service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Producer } from '@platformatic/kafka';
import { createKafka } from './create.kafka.js';
import type { Kafka } from './kafka.port.js';
import { TestOwner, until } from './testing/owner.testing.js';
import { testStack } from './testing/real-broker.js';

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const TOPIC = `codecs-${String(Date.now())}-${String(process.pid)}`;
/** Long enough for every codec to leave something out, short enough for one batch. */
const TEXT = 'the refund of order 4711 '.repeat(200);

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
