// A partition that refuses, records that are too large together, one that is too large alone: each fails whom it concerns.
import { describe, expect, it } from '@jest/globals';
import { ResponseError } from '@platformatic/kafka';
import type { Connection } from '@platformatic/kafka';
import { partitionForKey } from '../murmur2.js';
import { codeOf } from '../testing/owner.testing.js';
import { NoLeader } from './cluster.kafka.js';
import { BrokerWireProducer } from './wire-producer.kafka.js';
import type { Leaders } from './wire-producer.kafka.js';

const PARTITIONS = 2;
const NOT_ENOUGH_REPLICAS = 19;
const MESSAGE_TOO_LARGE = 10;

/** Answers a request of so many octets with a number of Kafka's, 0 where it takes it, or not at all. */
type Answer = (partition: number, bytes: number, before: number) => number | 'silent';

/** Brokers that answer as told. */
class Brokers {
  /** Partition of each request that was taken. */
  readonly taken: number[] = [];
  readonly asked: number[] = [];
  opened = 0;

  constructor(private readonly answer: Answer) {}

  readonly open = (): Leaders => {
    this.opened += 1;
    return {
      connect: () => Promise.resolve(),
      partitionCount: () => Promise.resolve(PARTITIONS),
      leaderOf: (_topic, partition) => Promise.resolve(this.leader(partition)),
      forget: () => undefined,
      close: () => Promise.resolve(),
    };
  };

  /** Of a connection a producer uses `send` alone. */
  private leader(partition: number): Connection {
    const send = (
      _api: number,
      _version: number,
      payload: () => { readonly length: number },
      ...rest: readonly unknown[]
    ): void => {
      const told = rest.at(-1) as (error: Error | null, answer?: unknown) => void;
      const before = this.asked.filter((one) => one === partition).length;
      this.asked.push(partition);
      const code = this.answer(partition, payload().length, before);
      if (code === 'silent') told(new Error('the connection is gone'));
      else if (code !== 0) told(new ResponseError(0, 7, { '/responses/0/partition_responses/0': [code, null] }, {}));
      else {
        this.taken.push(partition);
        told(null, { responses: [{ partitionResponses: [{ index: partition, baseOffset: 0n }] }] });
      }
    };
    return { send } as unknown as Connection;
  }
}

/** The first key that goes to a partition. */
function keyOf(partition: number): Buffer {
  for (let at = 0; ; at += 1) {
    const key = Buffer.from(`key-${String(at)}`);
    if (partitionForKey(key, PARTITIONS) === partition) return key;
  }
}
const record = (partition: number, bytes = 1) => ({ key: keyOf(partition), value: Buffer.alloc(bytes) });
const producerOf = (brokers: Brokers) => new BrokerWireProducer(brokers.open, 5_000);

describe('a producer of wires', () => {
  it('sends again what was refused, and nothing that was taken', async () => {
    const brokers = new Brokers((partition, _bytes, before) =>
      partition === 0 && before < 2 ? NOT_ENOUGH_REPLICAS : 0,
    );
    const producer = producerOf(brokers);
    const order: string[] = [];
    await Promise.all([
      producer.send('w', [record(0)]).then(() => order.push('refused twice')),
      producer.send('w', [record(1)]).then(() => order.push('taken')),
    ]);
    expect([order, brokers.taken]).toEqual([
      ['taken', 'refused twice'],
      [1, 0],
    ]);
    expect(brokers.opened).toBe(1);
    await producer.close();
  });

  it('resolves a send once every partition took its part', async () => {
    const brokers = new Brokers((partition, _bytes, before) =>
      partition === 0 && before < 1 ? NOT_ENOUGH_REPLICAS : 0,
    );
    const producer = producerOf(brokers);
    await producer.send('w', [record(0), record(1)]);
    expect(brokers.taken).toEqual([1, 0]);
    await producer.send('w', []);
    await producer.close();
  });

  it('takes new connections where nobody answered', async () => {
    const brokers = new Brokers((_partition, _bytes, before) => (before === 0 ? 'silent' : 0));
    const producer = producerOf(brokers);
    await producer.send('w', [record(1)]);
    expect([brokers.opened, brokers.taken]).toEqual([2, [1]]);
    await producer.close();
  });

  it('keeps its connections where a partition has no leader: others are under way', async () => {
    const brokers = new Brokers(() => 0);
    let asked = 0;
    const open = (): Leaders => ({
      ...brokers.open(),
      leaderOf: (topic, partition) => {
        asked += 1;
        return asked === 1 ? Promise.reject(new NoLeader(topic, partition)) : brokers.open().leaderOf(topic, partition);
      },
    });
    let opened = 0;
    const producer = new BrokerWireProducer(() => {
      opened += 1;
      return open();
    }, 5_000);
    await producer.send('w', [record(0)]);
    expect([opened, asked]).toEqual([1, 2]);
    await producer.close();
  });

  it('sends what is too large together in several requests', async () => {
    const brokers = new Brokers((_partition, bytes) => (bytes > 1_000_000 ? MESSAGE_TOO_LARGE : 0));
    const producer = producerOf(brokers);
    await Promise.all([1, 2, 3, 4, 5].map(() => producer.send('w', [record(1, 600_000)])));
    expect(brokers.taken).toEqual([1, 1, 1, 1, 1]);
    expect(brokers.asked).toHaveLength(5);
    await producer.close();
  });

  it('fails together what waited together for a partition that is refused, after tries that all share', async () => {
    const refuses = 29; // TOPIC_AUTHORIZATION_FAILED: no further try mends it
    const brokers = new Brokers(() => refuses);
    const producer = producerOf(brokers);
    const outcomes = await Promise.all([1, 2, 3].map(() => codeOf(producer.send('w', [record(1, 600_000)]))));
    expect(outcomes).toEqual(['BROKER_REFUSED', 'BROKER_REFUSED', 'BROKER_REFUSED']);
    expect(brokers.asked).toHaveLength(1);
    await producer.close();
  });

  it('fails both parts of what was cut in two where the partition is refused after that', async () => {
    const [tooLarge, refuses] = [MESSAGE_TOO_LARGE, 29];
    const brokers = new Brokers((_partition, _bytes, before) => (before === 0 ? tooLarge : refuses));
    const producer = producerOf(brokers);
    const outcomes = await Promise.all([1, 2].map(() => codeOf(producer.send('w', [record(1)]))));
    expect(outcomes).toEqual(['BROKER_REFUSED', 'BROKER_REFUSED']);
    await producer.close();
  });

  it('sends to a topic while nobody answers for another', async () => {
    const brokers = new Brokers(() => 0);
    const never = Promise.withResolvers<number>();
    const open = (): Leaders => ({
      ...brokers.open(),
      partitionCount: (topic) => (topic === 'silent' ? never.promise : Promise.resolve(PARTITIONS)),
    });
    const producer = new BrokerWireProducer(open, 5_000);
    const waiting = producer.send('silent', [record(0)]);
    await producer.send('w', [record(1)]);
    expect(brokers.taken).toEqual([1]);
    never.resolve(PARTITIONS);
    await waiting;
    await producer.close();
  });

  it('fails who sends what is too large alone, and takes what went with it', async () => {
    const brokers = new Brokers((_partition, bytes) => (bytes > 50_000 ? MESSAGE_TOO_LARGE : 0));
    const producer = producerOf(brokers);
    const outcomes = await Promise.all(
      [10_000, 80_000, 10_000, 10_000].map((bytes) => codeOf(producer.send('w', [record(1, bytes)]))),
    );
    expect(outcomes).toEqual(['no failure', 'RECORD_TOO_LARGE', 'no failure', 'no failure']);
    await producer.close();
  });
});
