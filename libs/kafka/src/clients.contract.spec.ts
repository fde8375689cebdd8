// Traps of the clients, each with its spec on a real broker.
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { alterClientQuotasV1 } from '@platformatic/kafka';
import { Failure, systemClock } from '@recourse/kernel';
import type { Kafka, LogProducer } from './kafka.port.js';
import { createKafka } from './create.kafka.js';
import { asFailure, protocolErrorType } from './kafkajs/failures.kafka.js';
import { BrokerCluster } from './platformatic/cluster.kafka.js';
import { brokersOf } from './platformatic/fetch-terms.kafka.js';
import { PartitionFetcher } from './platformatic/partition-fetcher.kafka.js';
import { record, TestOwner, until } from './testing/owner.testing.js';
import { brokerProxy, kafkaThrough, plainClient, testStack } from './testing/real-broker.js';
import type { TcpProxy } from './testing/tcp-proxy.js';

const marker = `traps-${String(Date.now())}-${String(process.pid)}`;
const kept: { close(): Promise<unknown> }[] = [];
let topicCount = 0;

const keep = <T extends { close(): Promise<unknown> }>(resource: T): T => {
  kept.push(resource);
  return resource;
};
const direct = (): Kafka => createKafka({ brokers: testStack().kafka.brokers, clientId: 'traps' });

async function topic(partitions = 1): Promise<string> {
  const name = `${marker}-${String((topicCount += 1))}`;
  await keep(await direct().admin()).ensureTopics([{ name, partitions }]);
  return name;
}

async function owner(
  kafka: Kafka,
  aligned: string,
  { resumesAtOnce = true, sessionTimeoutMs = 1_000 } = {},
): Promise<TestOwner> {
  const options = {
    groupId: `${aligned}-group`,
    aligned: [aligned],
    broadcast: [],
    sessionTimeoutMs,
    maxWaitMs: 50,
  };
  const started = await new TestOwner(options, 0, new Map(), resumesAtOnce).startOn(kafka);
  keep({ close: () => started.consumer.stop() });
  await until('it is assigned', () => started.assignments.length > 0);
  return started;
}

async function proxied(): Promise<{ proxy: TcpProxy; producer: LogProducer }> {
  const proxy = await brokerProxy();
  const producer = await kafkaThrough(proxy).logProducer();
  keep(producer);
  keep(proxy);
  return { proxy, producer };
}

async function elapsedMs(act: () => Promise<unknown>): Promise<number> {
  const startedAt = systemClock.monotonic();
  await act();
  return systemClock.monotonic() - startedAt;
}

const highOf = async (name: string): Promise<number> => (await keep(await direct().rawReader()).range(name, 0)).high;

afterEach(async () => {
  for (const resource of kept.splice(0).reverse()) await resource.close();
}, 20_000);

describe('the log producer of a broker', () => {
  it('learns of a reset connection at once, and a new producer goes on', async () => {
    const log = await topic();
    const { proxy, producer } = await proxied();
    await producer.send(log, 0, [record('a')]);
    const answer = producer.send(log, 0, [record('b')]);
    proxy.cut();
    expect((await answer).kind).toBe('unknown');
    const successor = keep(await direct().logProducer());
    const outcome = await successor.send(log, 0, [record('c')]);
    expect(outcome).toEqual({ kind: 'landed', baseOffset: (await highOf(log)) - 1 });
  });

  it('goes on through a new connection when the idle one was closed', async () => {
    const log = await topic();
    const { proxy, producer } = await proxied();
    await producer.send(log, 0, [record('a')]);
    proxy.cut();
    await systemClock.sleep(200);
    expect(await producer.send(log, 0, [record('b')])).toEqual({ kind: 'landed', baseOffset: 1 });
  });

  it('does not wait longer than its time-out for an answer that got lost', async () => {
    const log = await topic();
    const { proxy, producer } = await proxied();
    await producer.send(log, 0, [record('a')]);
    proxy.setMode('drop_answers');
    expect(await elapsedMs(() => producer.send(log, 0, [record('b')]))).toBeLessThan(3_000);
    expect(await highOf(log)).toBe(2);
    expect(proxy.droppedBytes).toBeGreaterThan(0);
  });

  it('sends an append once, however its answer was lost', async () => {
    const log = await topic();
    const { proxy, producer } = await proxied();
    await producer.send(log, 0, [record('a')]);
    proxy.setMode('drop_answers');
    await producer.send(log, 0, [record('b')]);
    proxy.setMode('pass');
    await systemClock.sleep(1_000);
    expect(await highOf(log)).toBe(2);
  });

  it('names the clock when the broker refuses its timestamps, and so does a wire producer, at once', async () => {
    const log = await topic();
    const [producer, wires] = [keep(await direct().logProducer()), keep(await direct().wireProducer())];
    const clock = jest.spyOn(systemClock, 'now').mockReturnValue(Date.now() + 2 * 3_600_000);
    try {
      expect(await producer.send(log, 0, [record('a')])).toMatchObject({
        kind: 'unknown',
        cause: { code: 'CLOCK_REFUSED' },
      });
      await expect(wires.send(log, [record('b')])).rejects.toMatchObject({ code: 'CLOCK_REFUSED' });
    } finally {
      clock.mockRestore();
    }
  }, 10_000);

  it('works through a slow connection', async () => {
    const log = await topic();
    const { proxy, producer } = await proxied();
    proxy.setDelay(50);
    let outcome: unknown;
    expect(
      await elapsedMs(async () => {
        outcome = await producer.send(log, 0, [record('a')]);
      }),
    ).toBeGreaterThan(90);
    expect(outcome).toEqual({ kind: 'landed', baseOffset: 0 });
  });
});

describe('a kafkajs consumer', () => {
  it('stays in its group while everything is paused for longer than its session', async () => {
    const wire = await topic();
    // A session that a busy machine keeps: it beats several times in it.
    const idle = await owner(direct(), wire, { resumesAtOnce: false, sessionTimeoutMs: 3_000 });
    await systemClock.sleep(7_000);
    expect(idle.assignments).toHaveLength(1);
    await keep(await direct().logProducer()).send(wire, 0, [record('a')]);
    idle.consumer.resume(idle.owned());
    await until('it gets what came', () => idle.taken.length === 1);
  });

  it('is told that its broker takes no session as short as that, and what to do', async () => {
    const wire = await topic();
    const options = { groupId: `${wire}-group`, aligned: [wire], broadcast: [], sessionTimeoutMs: 100, maxWaitMs: 50 };
    const refused = new TestOwner(options, 0, new Map(), true);
    keep({ close: () => refused.consumer.stop() });
    await refused.startOn(direct()).catch((cause: unknown) => refused.crashes.push(cause));
    await until('it is told', () => refused.crashes.length > 0);
    expect(refused.crashes[0]).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('RECOURSE_KAFKA_SESSION_TIMEOUT_MS'),
    });
  });

  it('tells within five seconds that its broker says nothing, and goes on when it answers again', async () => {
    const wire = await topic();
    const proxy = keep(await brokerProxy());
    const reading = await owner(kafkaThrough(proxy), wire);
    await keep(await direct().logProducer()).send(wire, 0, [record('a')]);
    await until('it reads', () => reading.taken.length === 1);
    proxy.setMode('freeze');
    const waited = await elapsedMs(() => until('it is told', () => reading.crashes.length > 0));
    expect(waited).toBeLessThan(5_000);
    expect(reading.crashes).toMatchObject([{ code: 'BROKER_UNAVAILABLE' }]);
    proxy.setMode('pass');
    await keep(await direct().logProducer()).send(wire, 0, [record('b')]);
    await until('it goes on', () => reading.taken.length === 2);
  }, 40_000);

  it('never commits an offset', async () => {
    const wire = await topic(2);
    const reading = await owner(direct(), wire);
    await keep(await direct().wireProducer()).send(
      wire,
      ['a', 'b', 'c', 'd'].map((key) => record(key)),
    );
    await until('it has all', () => reading.taken.length === 4);
    await reading.consumer.stop();
    const admin = plainClient().admin();
    await admin.connect();
    const [committed] = await admin.fetchOffsets({ groupId: reading.options.groupId, topics: [wire] });
    await admin.disconnect();
    expect(committed?.partitions.map(({ offset }) => offset)).toEqual(['-1', '-1']);
  });

  it('says so when its broker is gone for good', async () => {
    const wire = await topic();
    const proxy = keep(await brokerProxy());
    const lost = await owner(kafkaThrough(proxy), wire);
    proxy.setRefusing(true);
    proxy.cut();
    await until('it ends', () => lost.crashes.length === 1, 25_000);
    expect(lost.crashes[0]).toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  }, 40_000);

  it('goes on after its connection was reset, from where it stood', async () => {
    const wire = await topic();
    const producer = keep(await direct().logProducer());
    const proxy = keep(await brokerProxy());
    const reading = await owner(kafkaThrough(proxy), wire);
    await producer.send(wire, 0, [record('a')]);
    await until('it has the first', () => reading.taken.length === 1);
    proxy.cut();
    await producer.send(wire, 0, [record('b')]);
    await until('it has the second', () => reading.taken.length === 2);
    expect(reading.valuesAt(wire)).toEqual(['a', 'b']);
  });
});

describe('a seek to where a batch in hand begins', () => {
  it('does not stop the partition', async () => {
    const name = await topic(2);
    const producers = [keep(await direct().logProducer()), keep(await direct().logProducer())];
    const send = (partition: number, value: string): Promise<unknown> | undefined =>
      producers[partition]?.send(name, partition, [record(value)]);
    for (const partition of [0, 1]) await send(partition, `first of ${String(partition)}`);
    const reading = await owner(direct(), name, { resumesAtOnce: false });
    let sought: number | null = null;
    // One answer holds a batch of each: while the first is handed over, the second is asked for again.
    reading.onTaken = ({ partition }) => {
      if (sought !== null) return;
      sought = 1 - partition;
      reading.consumer.seek(name, sought, 0);
    };
    reading.consumer.resume(reading.owned());
    await until('both were read', () => reading.taken.length >= 2);
    await send(sought ?? 0, 'second');
    await until('the partition goes on', () => reading.valuesAt(name).includes('second'));
    expect(reading.valuesAt(name).sort()).toEqual(['first of 0', 'first of 1', 'second']);
  }, 40_000);
});

describe('records of transactions of others', () => {
  it('that stay open are told of, and read once they are committed', async () => {
    const wire = await topic();
    const other = plainClient().producer({ transactionalId: `${wire}-tx`, maxInFlightRequests: 1, idempotent: true });
    await other.connect();
    const transaction = await other.transaction();
    await transaction.send({ topic: wire, messages: [{ key: 'a', value: 'a', partition: 0 }] });
    const [troubles, values]: [(string | null)[], string[]] = [[], []];
    const options = { brokers: testStack().kafka.brokers, clientId: 'traps' };
    const fetcher = new PartitionFetcher(
      brokersOf(options),
      { isolation: 'committed', waitMs: 50, heldMs: 300 },
      {
        onBatch: ({ records }) => {
          values.push(...records.map(({ value }) => String(value)));
        },
        onTrouble: (_, cause) => troubles.push(cause?.code ?? null),
        onCrash: () => undefined,
      },
    );
    keep(fetcher);
    fetcher.seek({ topic: wire, partition: 0 }, 0);
    fetcher.flow([{ topic: wire, partition: 0 }], true);
    await until('it is told', () => troubles.includes('TRANSACTION_OPEN'));
    expect(values).toEqual([]);
    await transaction.commit();
    await other.disconnect();
    await until('it is read', () => values.length === 1);
    expect(troubles.at(-1)).toBeNull();
  }, 20_000);

  it('are read once committed; control records and aborted ones leave no gap an owner could see', async () => {
    const wire = await topic();
    const other = plainClient().producer({ transactionalId: `${wire}-tx`, maxInFlightRequests: 1, idempotent: true });
    await other.connect();
    for (const [value, ends] of [
      ['a', 'commit'],
      ['b', 'abort'],
      ['c', 'commit'],
    ] as const) {
      const transaction = await other.transaction();
      await transaction.send({ topic: wire, messages: [{ key: value, value, partition: 0 }] });
      await transaction[ends]();
    }
    await other.disconnect();
    const reading = await owner(direct(), wire);
    await until('the consumer has both', () => reading.taken.length === 2);
    await keep(await direct().logProducer()).send(wire, 0, [record('d')]);
    await until('the consumer goes on', () => reading.taken.length === 3);
    expect([reading.valuesAt(wire), reading.dropped]).toEqual([['a', 'c', 'd'], 0]);
    const reader = keep(await direct().rawReader('wires'));
    const values: string[] = [];
    for (let position = 0; ;) {
      const { records } = await reader.read(wire, 0, position);
      if (records.length === 0) break;
      values.push(...records.map(({ value }) => String(value)));
      position = (records.at(-1)?.offset ?? position) + 1;
    }
    expect(values).toEqual(['a', 'c', 'd']);
  });
});

describe('a raw reader whose quota is used up', () => {
  it('reads a log to its end all the same', async () => {
    const [log, clientId] = [await topic(), `${marker}-slow`];
    const producer = keep(await direct().logProducer());
    for (let sent = 0; sent < 4; sent += 1)
      await producer.send(log, 0, [{ key: Buffer.from('k'), value: randomBytes(500_000) }]);
    await limitTo(clientId, 150_000);
    const reader = keep(await createKafka({ brokers: testStack().kafka.brokers, clientId }).rawReader());
    let read = 0;
    for (let at = 0; at < 4;) {
      const { records, nextOffset } = await reader.read(log, 0, at);
      if (nextOffset === at) break;
      [at, read] = [nextOffset, read + records.length];
    }
    expect(read).toBe(4);
  });
});

/** What one client may read, octets a second. */
async function limitTo(clientId: string, rate: number): Promise<void> {
  const cluster = keep(new BrokerCluster({ brokers: testStack().kafka.brokers, clientId: 'limits' }, 5_000));
  const entities = [{ entityType: 'client-id' as const, entityName: clientId }];
  const ops = [{ key: 'consumer_byte_rate' as const, value: rate, remove: false as const }];
  await alterClientQuotasV1.api.async(await cluster.anyConnection(), [{ entities, ops }], false);
}

describe('an error of kafkajs', () => {
  it('is known by the type of its innermost cause', () => {
    const wrapped = new Error('retries exceeded', {
      cause: Object.assign(new Error('out of range'), { type: 'OFFSET_OUT_OF_RANGE' }),
    });
    expect(protocolErrorType(wrapped)).toBe('OFFSET_OUT_OF_RANGE');
    expect(asFailure(wrapped, 'a topic')).toMatchObject({ code: 'CURSOR_OUT_OF_RANGE', cause: wrapped });
  });

  it('that says nothing we know means that no broker answers', () => {
    expect(asFailure(new Error('?'), 'a topic')).toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  });

  it('that is a failure already stays as it is', () => {
    const failure = new Failure('TOPIC_MISSING', 'a topic');
    expect(asFailure(failure, 'another')).toBe(failure);
  });
});
