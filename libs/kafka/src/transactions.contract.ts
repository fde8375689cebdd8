// What every adapter does about transactions of others: logs are read as they lie, wires as they were committed (L13).
import { expect } from '@jest/globals';
import type { Cases } from '@recourse/testing';
import type { KafkaScene } from './kafka-scene.contract.js';
import type { RawReader } from './kafka.port.js';
import { record, until, valuesOf } from './testing/owner.testing.js';

/** Part of the contract of the Kafka port. */
export const TRANSACTIONS: Cases<KafkaScene> = {
  'are no matter to who reads a log: what they wrote is read while they are open, and after they were aborted': async ({
    topic,
    logProducer,
    rawReader,
    transaction,
  }) => {
    const log = await topic();
    const producer = await logProducer();
    await producer.send(log, 0, [record('a')]);
    const open = await transaction(log, 0, [record('x')]);
    await producer.send(log, 0, [record('b')]);
    const reader = await rawReader('logs');
    expect(await reader.range(log, 0)).toEqual({ low: 0, high: 3 });
    expect(valuesOf(await reader.read(log, 0, 0))).toEqual(['a', 'x', 'b']);
    await open.abort();
    await until('the marker is there', async () => (await reader.range(log, 0)).high === 4);
    expect(await reader.read(log, 0, 3)).toMatchObject({ records: [], nextOffset: 4 });
    expect(valuesOf(await reader.read(log, 0, 0))).toEqual(['a', 'x', 'b']);
  },

  'hold who reads a wire until they end, and what was aborted is never read': async ({
    topic,
    logProducer,
    rawReader,
    transaction,
  }) => {
    const wire = await topic();
    const producer = await logProducer();
    await producer.send(wire, 0, [record('a')]);
    const open = await transaction(wire, 0, [record('x')]);
    await producer.send(wire, 0, [record('b')]);
    const reader = await rawReader('wires');
    expect(await reader.range(wire, 0)).toEqual({ low: 0, high: 1 });
    expect(await readToEnd(reader, wire)).toEqual(['a']);
    await open.abort();
    await until('the marker is there', async () => (await reader.range(wire, 0)).high === 4);
    expect(await readToEnd(reader, wire)).toEqual(['a', 'b']);
  },

  'hold a consumer in a wire, and not in a log': async ({ kafka, topics, logProducer, owner, group, transaction }) => {
    const [wire = '', log = ''] = await topics(1, 1);
    const producer = await logProducer();
    const open = [await transaction(wire, 0, [record('x')]), await transaction(log, 0, [record('y')])];
    for (const topic of [wire, log]) await producer.send(topic, 0, [record('a')]);
    const one = await owner(kafka, { ...group([wire, log]), logs: [log] }, 0, new Map());
    await until('it has what is in the log', () => one.cursors.get(`${log}/0`) === 2);
    expect([one.valuesAt(log), one.valuesAt(wire)]).toEqual([['y', 'a'], []]);
    for (const transactionOf of open) await transactionOf.commit();
    await until('it has all', () => [wire, log].every((topic) => one.cursors.get(`${topic}/0`) === 3));
    expect(one.valuesAt(wire)).toEqual(['x', 'a']);
  },
};

async function readToEnd(reader: RawReader, topic: string): Promise<readonly string[]> {
  const values: string[] = [];
  for (let at = 0; ;) {
    const batch = await reader.read(topic, 0, at);
    if (batch.nextOffset === at) return values;
    values.push(...valuesOf(batch));
    at = batch.nextOffset;
  }
}
