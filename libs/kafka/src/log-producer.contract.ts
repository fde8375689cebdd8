// What every log producer does alike: order, silence after an unknown outcome, races.
import { expect } from '@jest/globals';
import type { Cases } from '@recourse/testing';
import type { KafkaScene } from './kafka-scene.contract.js';
import type { LogProducer } from './kafka.port.js';
import { records, until } from './testing/owner.testing.js';

/** Part of the contract of the Kafka port. */
export const LOG_PRODUCER: Cases<KafkaScene> = {
  'answers with the offset of the first record of every batch': async ({ topic, logProducer }) => {
    const log = await topic();
    const producer = await logProducer();
    expect(await producer.send(log, 0, records('a', 3))).toEqual({ kind: 'landed', baseOffset: 0 });
    expect(await producer.send(log, 0, records('b', 2))).toEqual({ kind: 'landed', baseOffset: 3 });
    expect(await producer.send(log, 0, records('c', 1))).toEqual({ kind: 'landed', baseOffset: 5 });
  },

  'keeps the order of sends that were not waited for': async ({ topic, logProducer, everything }) => {
    const log = await topic();
    const producer = await logProducer();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => producer.send(log, 0, records(String(index).padStart(2, '0'), 2))),
    );
    expect(outcomes).toEqual(outcomes.map((_, index) => ({ kind: 'landed', baseOffset: index * 2 })));
    const values = await everything(log);
    expect(values).toEqual([...values].sort());
  },

  'says unknown about a partition that does not exist': async ({ topic, logProducer }) => {
    const log = await topic(2);
    const producer = await logProducer();
    expect((await producer.send(log, 2, records('a', 1))).kind).toBe('unknown');
  },

  'says unknown about a topic that does not exist': async ({ logProducer, marker }) => {
    const producer = await logProducer();
    expect((await producer.send(`${marker}-nowhere`, 0, records('a', 1))).kind).toBe('unknown');
  },

  'sends nothing more once an outcome is unknown, not even what was waiting': async ({
    topic,
    logProducer,
    everything,
  }) => {
    const log = await topic();
    const producer = await logProducer();
    const outcomes = await Promise.all([
      producer.send(log, 9, records('a', 1)),
      producer.send(log, 0, records('b', 1)),
      producer.send(log, 0, records('c', 1)),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(await everything(log)).toEqual([]);
  },

  'says unknown when the answer is lost, though the records landed': async ({
    harness,
    topic,
    kept,
    logProducer,
    everything,
  }) => {
    const log = await topic();
    const faulty = kept(await harness.faulty());
    const producer = await logProducer(faulty.kafka);
    expect((await producer.send(log, 0, records('a', 1))).kind).toBe('landed');
    faulty.loseAnswers();
    expect((await producer.send(log, 0, records('b', 2))).kind).toBe('unknown');
    expect(await everything(log)).toEqual(['a-0', 'b-0', 'b-1']);
  },

  'says unknown about a packet under way, which may land much later': async ({
    harness,
    topic,
    kept,
    logProducer,
    everything,
  }) => {
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
  },

  'never mixes its batches with those of another one that races it': async ({ topic, logProducer, everything }) => {
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
    expect([...first, ...second].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index * 3));
    const values = await everything(log);
    first.forEach((base, round) => {
      expect(values.slice(base, base + 3)).toEqual([0, 1, 2].map((index) => `x${String(round)}-${String(index)}`));
    });
  },
};
