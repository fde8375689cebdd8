// What other clients send compressed is read like everything else, by the raw reader and by the consumer of a service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Connection, crc32c, Producer, produceV7, Writer } from '@platformatic/kafka';
import { createKafka } from './create.kafka.js';
import type { Kafka } from './kafka.port.js';
import { encodeProduce, encodeRecordBatch } from './platformatic/record-batch.kafka.js';
import { TestOwner, until } from './testing/owner.testing.js';
import { alterStored } from './testing/alter-stored.js';
import { testStack } from './testing/real-broker.js';

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
/** Of the length in the head of a batch, and of its checksum and what that covers. */
const [LENGTH_AT, CRC_AT, COVERED_AT] = [8, 17, 21];
/** Of what the first record of a batch says of its place: behind the head, two octets of its size, attributes and time. */
const PLACE_AT = 65;
const TOPIC = `codecs-${String(Date.now())}-${String(process.pid)}`;
/** Long enough for every codec to leave something out, short enough for one batch. */
const TEXT = 'the refund of order 4711 '.repeat(200);

const recordOf = (key: string): { readonly key: Buffer; readonly value: Buffer } => ({
  key: Buffer.from(key),
  value: Buffer.from(TEXT),
});

/** Sends a produce request as it is. Errors: what the broker refuses, and a connection it ends. */
function sentAs(broker: Connection, body: Buffer): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const { key, version } = produceV7.api;
  const request = (): Writer => Writer.create().append(body);
  broker.send(key, version, request, produceV7.parseResponse, false, false, (error, answer) => {
    if (error) reject(error);
    else resolve(answer);
  });
  return promise;
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
    await alterStored({ brokers: testStack().kafka.brokers, topic, partition: 0, word: 'snappy', what: 'word' });
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

  it('that does not say where it ends is taken by no broker: such bytes come from a damaged disk, or from something in between', async () => {
    const topic = `${TOPIC}-refused`;
    const admin = await kafka.admin();
    await admin.ensureTopics([{ name: topic, partitions: 1 }]);
    await admin.close();
    const broker = new Connection('damaging');
    const [host = '', port = '0'] = (testStack().kafka.brokers[0] ?? '').split(':');
    await broker.connect(host, Number(port));
    const record = { key: Buffer.from('a'), value: Buffer.from(TEXT) };
    const size = encodeRecordBatch([record], 0).length;
    for (const length of [3, 70, size, 1_000_000]) {
      const body = encodeProduce({ topic, partition: 0, timeoutMs: 5_000 }, [record], Date.now());
      body.writeInt32BE(length, body.length - size + LENGTH_AT);
      await expect(sentAs(broker, body)).rejects.toThrow();
      if (!broker.isConnected()) await broker.connect(host, Number(port));
    }
    const reader = await kafka.rawReader();
    expect(await reader.range(topic, 0)).toEqual({ low: 0, high: 0 });
    await reader.close();
    await broker.close();
  });

  it('whose record says that it stands elsewhere is taken by a broker, told of in its own place, and what comes behind it is read', async () => {
    const topic = `${TOPIC}-misplaced`;
    const admin = await kafka.admin();
    await admin.ensureTopics([{ name: topic, partitions: 1 }]);
    await admin.close();
    const broker = new Connection('forging');
    const [host = '', port = '0'] = (testStack().kafka.brokers[0] ?? '').split(':');
    await broker.connect(host, Number(port));
    const request = (key: string): Buffer =>
      encodeProduce({ topic, partition: 0, timeoutMs: 5_000 }, [recordOf(key)], Date.now());
    const forged = request('a');
    const batch = forged.subarray(forged.length - encodeRecordBatch([recordOf('a')], 0).length);
    expect(batch[PLACE_AT]).toBe(0);
    batch[PLACE_AT] = 2 * 50;
    batch.writeUInt32BE(crc32c(batch.subarray(COVERED_AT)), CRC_AT);
    for (const body of [forged, request('b')]) await sentAs(broker, body);
    const reader = await kafka.rawReader();
    expect(await reader.range(topic, 0)).toEqual({ low: 0, high: 2 });
    const { records, nextOffset } = await reader.read(topic, 0, 0);
    expect(records.map(({ offset, key, unreadable }) => [offset, unreadable?.detail ?? String(key)])).toEqual([
      [0, expect.stringContaining('a record says that it is number 50')],
      [1, 'b'],
    ]);
    expect(nextOffset).toBe(2);
    await reader.close();
    await broker.close();
  });

  it('whose length was altered where it is stored is told of by its offset; what its broker then finds no more is refused with a code', async () => {
    const topic = `${TOPIC}-lengthened`;
    const admin = await kafka.admin();
    await admin.ensureTopics([{ name: topic, partitions: 1 }]);
    await admin.close();
    for (const [n, compression] of (['none', 'snappy', 'lz4'] as const).entries())
      await producer.send({
        messages: [{ topic, key: Buffer.from(compression), value: Buffer.from(`${String(n)} ${TEXT}`) }],
        compression,
        acks: -1,
      });
    await alterStored({ brokers: testStack().kafka.brokers, topic, partition: 0, word: 'snappy', what: 'length' });
    const reader = await kafka.rawReader();
    const seenAt = async (offset: number): Promise<readonly unknown[]> => {
      const { records, nextOffset } = await reader.read(topic, 0, offset);
      return [...records.map(({ key, unreadable }) => unreadable?.detail ?? String(key)), nextOffset];
    };
    expect(await seenAt(0)).toEqual(['none', 1]);
    expect(await seenAt(1)).toEqual([expect.stringMatching(/^a record batch cannot be read, nor where it ends: /), 2]);
    await expect(seenAt(2)).rejects.toMatchObject({ code: 'FETCH_BROKEN' });
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
