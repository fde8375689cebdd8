// What every input consumer does alike: pauses at joins, sharing, take-overs, and ends that are told.
import { expect } from '@jest/globals';
import { systemClock } from '@recourse/kernel';
import type { Cases } from '@recourse/testing';
import { NEWS_WAIT_MS } from './kafka-scene.contract.js';
import type { KafkaScene } from './kafka-scene.contract.js';
import type { InputHandlers } from './kafka.port.js';
import { codeOf, record, records, until } from './testing/owner.testing.js';
import type { TestOwner } from './testing/owner.testing.js';

/** Time after which a consumer that has nothing to read waits long for news. */
const AT_REST_MS = 1_500;

/** Before it asks anybody, while it connects, and while it joins. */
const STOPPED_AFTER_MS = [0, 15, 60, 200];
const IGNORING: InputHandlers = {
  onAssigned: () => undefined,
  onBatch: () => undefined,
  onTrouble: () => undefined,
  onCrash: () => undefined,
};

/** Part of the contract of the Kafka port. */
export const INPUT_CONSUMER: Cases<KafkaScene> = {
  'alone owns every partition, and gets nothing before it resumes': async ({
    kafka,
    topics,
    wireProducer,
    owner,
    group,
  }) => {
    const [a = '', b = '', c = ''] = await topics(2, 2, 3);
    await (await wireProducer()).send(a, [record('first')]);
    const one = await owner(kafka, group([a, b], [c]), 3, new Map(), false);
    await until('it is assigned', () => one.assignments.length > 0);
    expect(one.partitions).toEqual([0, 1]);
    await systemClock.sleep(200);
    expect(one.taken).toEqual([]);
    // On a busy broker its group may turn once more, after which everything is paused again.
    await until('it gets what waited', () => {
      one.consumer.resume(one.owned());
      return one.taken.length === 1;
    });
  },

  'that is stopped while it joins is in no group afterwards': async ({ kafka, kept, topic, group }) => {
    const options = group([await topic(2)]);
    const stopped = STOPPED_AFTER_MS.map(async (ms) => {
      const consumer = kafka.inputConsumer(options);
      const beginning = consumer.start(IGNORING).catch(() => undefined);
      if (ms > 0) await systemClock.sleep(ms);
      await consumer.stop();
      await beginning;
    });
    await Promise.all(stopped);
    expect(await kept(kafka.group(options.groupId)).members()).toEqual([]);
  },

  'goes on from where its owner seeks': async ({ kafka, topic, logProducer, owner, group }) => {
    const wire = await topic();
    await (await logProducer()).send(wire, 0, records('a', 5));
    const one = await owner(kafka, group([wire]), 0, new Map([[`${wire}/0`, 3]]));
    await until('it has the rest', () => one.taken.length >= 2);
    expect(one.valuesAt(wire)).toEqual(['a-3', 'a-4']);
    one.seek(wire, 0, 1);
    await until('it has it again', () => one.taken.length >= 6);
    expect(one.valuesAt(wire)).toEqual(['a-3', 'a-4', 'a-1', 'a-2', 'a-3', 'a-4']);
  },

  'brings what its owner seeks or resumes, and what is new, long before a wait for news would end': async ({
    kafka,
    topics,
    logProducer,
    owner,
    group,
  }) => {
    const [a = '', b = ''] = await topics(1, 1);
    const producer = await logProducer();
    await producer.send(a, 0, records('a', 1));
    const one = await owner(kafka, group([a, b]), 0, new Map());
    const soonHas = async (count: number): Promise<void> => {
      const from = systemClock.monotonic();
      await until(`it has ${String(count)}`, () => one.taken.length === count);
      expect(systemClock.monotonic() - from).toBeLessThan(NEWS_WAIT_MS / 2);
    };
    await until('it has the first', () => one.taken.length === 1);
    await systemClock.sleep(AT_REST_MS);
    one.seek(a, 0, 0);
    await soonHas(2);
    await systemClock.sleep(AT_REST_MS);
    await producer.send(b, 0, records('b', 1));
    await soonHas(3);
    one.consumer.pause([{ topic: b, partition: 0 }]);
    await producer.send(b, 0, records('b', 1));
    await systemClock.sleep(AT_REST_MS);
    expect(one.taken).toHaveLength(3);
    one.consumer.resume([{ topic: b, partition: 0 }]);
    await soonHas(4);
    expect([one.valuesAt(a), one.valuesAt(b)]).toEqual([
      ['a-0', 'a-0'],
      ['b-0', 'b-0'],
    ]);
  },

  'never gives a batch fetched before a seek as if it began where the owner stands': async ({
    kafka,
    topics,
    logProducer,
    owner,
    group,
  }) => {
    const [a = '', b = ''] = await topics(1, 1);
    const producer = await logProducer();
    for (let round = 0; round < 20; round += 1)
      for (const wire of [a, b]) await producer.send(wire, 0, records(String(round).padStart(2, '0'), 10));
    const one = await owner(kafka, group([a, b]), 0, new Map());
    let rewinds = 8;
    one.onTaken = () => {
      if (rewinds > 0) {
        rewinds -= 1;
        one.seek(a, 0, 50);
        one.seek(b, 0, 50);
      }
    };
    await until('both ends are reached', () => [a, b].every((wire) => one.cursors.get(`${wire}/0`) === 200));
    for (const wire of [a, b]) {
      const values = one.valuesAt(wire);
      const jumps = values.filter((value, index) => index > 0 && expectedAfter(values[index - 1]) !== value);
      expect(new Set(jumps.map((value) => value))).toEqual(new Set(jumps.length > 0 ? ['05-0'] : []));
    }
  },

  'delivers nothing more than what is in hand while paused, and all of it after': async ({
    kafka,
    topic,
    logProducer,
    everything,
    owner,
    group,
  }) => {
    const wire = await topic();
    const producer = await logProducer();
    const one = await owner(kafka, group([wire]), 0, new Map());
    await until('it is assigned', () => one.assignments.length === 1);
    one.onTaken = () => {
      one.consumer.pause([{ topic: wire, partition: 0 }]);
    };
    await producer.send(wire, 0, records('a', 1));
    await until('it has the first', () => one.taken.length === 1);
    for (let batch = 0; batch < 5; batch += 1) await producer.send(wire, 0, records(`b${String(batch)}`, 2));
    await systemClock.sleep(300);
    expect(one.taken.length).toBeLessThanOrEqual(3);
    one.onTaken = () => undefined;
    one.consumer.resume([{ topic: wire, partition: 0 }]);
    await until('it has all', () => one.taken.length === 11);
    expect(one.valuesAt(wire)).toEqual(await everything(wire));
  },

  'shares aligned partitions with a second one, keeps half of its own, and both read all of a broadcast': async ({
    kafka,
    topics,
    wireProducer,
    owner,
    group,
  }) => {
    const [a = '', b = '', c = ''] = await topics(6, 6, 2);
    const cursors = new Map<string, number>();
    const one = await owner(kafka, group([a, b], [c]), 2, cursors);
    await until('the first is alone', () => one.partitions.length === 6);
    const two = await owner(kafka, group([a, b], [c]), 2, cursors);
    await until('both have half', () => one.partitions.length === 3 && two.partitions.length === 3);
    expect([...one.partitions, ...two.partitions].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(one.partitions).toEqual([0, 1, 2]);
    const producer = await wireProducer();
    await Promise.all([a, b, c].map((wire) => producer.send(wire, records('r', 60))));
    // A wire is at least once: a producer that met a partition without a leader has sent the others' records again.
    const all = records('r', 60)
      .map(({ value }) => String(value))
      .sort();
    const seen = (wire: string, ...members: readonly TestOwner[]): readonly string[] =>
      [...new Set(members.flatMap((member) => member.valuesAt(wire)))].sort();
    await until('all has arrived', () =>
      [seen(a, one, two), seen(b, one, two), seen(c, one), seen(c, two)].every(({ length }) => length === all.length),
    );
    for (const wire of [a, b]) expect(seen(wire, one, two)).toEqual(all);
    for (const wire of [a, b]) expect(seen(wire, one).filter((value) => seen(wire, two).includes(value))).toEqual([]);
  },

  'takes over from one that was killed under load, without gap or overlap': async ({
    harness,
    kafka,
    topics,
    kept,
    wireProducer,
    owner,
    group,
  }) => {
    const [a = '', b = ''] = await topics(4, 4);
    const cursors = new Map<string, number>();
    const one = await owner(kafka, group([a, b]), 0, cursors);
    const faulty = kept(await harness.faulty());
    const two = await owner(faulty.kafka, group([a, b]), 0, cursors);
    await until('both have half', () => one.partitions.length === 2 && two.partitions.length === 2);
    const producer = await wireProducer();
    let sent = 0;
    const load = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1, sent += 8)
        for (const wire of [a, b])
          await producer.send(
            wire,
            Array.from({ length: 8 }, (_, index) => record(`k${String(index)}`, String(sent + index))),
          );
    };
    await load(10);
    faulty.kill();
    await load(10);
    await until('the survivor has everything', () => one.partitions.length === 4);
    await load(5);
    const sorted = (values: string[]): number[] => values.map(Number).sort((x, y) => x - y);
    await until('all has arrived', () => one.taken.length + two.taken.length >= 2 * sent);
    for (const wire of [a, b])
      expect(sorted([...one.valuesAt(wire), ...two.valuesAt(wire)])).toEqual(
        Array.from({ length: sent }, (_, index) => index),
      );
  },

  'that stops hands over at once': async ({ kafka, topic, owner, group }) => {
    const wire = await topic(2);
    const cursors = new Map<string, number>();
    const one = await owner(kafka, group([wire]), 0, cursors);
    const two = await owner(kafka, group([wire]), 0, cursors);
    await until('both have one', () => one.partitions.length === 1 && two.partitions.length === 1);
    await two.consumer.stop();
    await until('the other has both', () => one.partitions.length === 2);
    expect(one.assignments.map(({ generation }) => generation)).toEqual(one.assignments.map((_, index) => index + 1));
  },

  'gets nothing when its aligned topics differ in their counts': async ({ kafka, topics, owner, group }) => {
    const [a = '', b = '', c = ''] = await topics(2, 3, 1);
    const one = await owner(kafka, group([a, b], [c]), 0, new Map());
    await until('it is assigned', () => one.assignments.length === 1);
    expect(one.partitions).toEqual([]);
  },

  'fails to start with TOPIC_MISSING': async ({ kafka, topic, marker, owner, group }) => {
    const wire = await topic();
    expect(await codeOf(owner(kafka, group([wire, `${marker}-nowhere`]), 0, new Map()))).toBe('TOPIC_MISSING');
  },

  'ends with CURSOR_OUT_OF_RANGE when its owner seeks below what the topic holds': (scene) => seekOutOfRange(scene, 1),

  'ends with CURSOR_OUT_OF_RANGE when its owner seeks above what the topic holds': (scene) => seekOutOfRange(scene, 9),

  'ends when its owner throws': async ({ kafka, topic, logProducer, owner, group }) => {
    const wire = await topic();
    const one = await owner(kafka, group([wire]), 0, new Map());
    await until('it is assigned', () => one.assignments.length === 1);
    const thrown = new Error('a bug of the owner');
    one.onTaken = () => {
      throw thrown;
    };
    await (await logProducer()).send(wire, 0, records('a', 1));
    await until('it ends', () => one.crashes.length === 1);
    expect(one.crashes).toEqual([thrown]);
  },
};

/** `07-9` is followed by `08-0`. */
function expectedAfter(value = ''): string {
  const [round = 0, index = 0] = value.split('-').map(Number);
  return index === 9
    ? `${String(round + 1).padStart(2, '0')}-0`
    : `${String(round).padStart(2, '0')}-${String(index + 1)}`;
}

async function seekOutOfRange(
  { harness, kafka, topic, logProducer, owner, group }: KafkaScene,
  offset: number,
): Promise<void> {
  const wire = await topic();
  await (await logProducer()).send(wire, 0, records('a', 5));
  await harness.trim(wire, 0, 3);
  const one = await owner(kafka, group([wire]), 0, new Map([[`${wire}/0`, offset]]));
  await until('it ends', () => one.crashes.length === 1);
  expect(one.crashes[0]).toMatchObject({ code: 'CURSOR_OUT_OF_RANGE' });
  expect(one.taken).toEqual([]);
}
