// What every adapter says of a group from the side, and how the dead are put out of it (L13).
import { expect } from '@jest/globals';
import { systemClock } from '@recourse/kernel';
import type { Cases } from '@recourse/testing';
import type { KafkaScene } from './kafka-scene.contract.js';
import { until } from './testing/owner.testing.js';

/** Longer than any of these specs waits. */
const LONG_SESSION_MS = 30_000;
const SOON_MS = 5_000;

/** Part of the contract of the Kafka port. */
export const CONSUMER_GROUP: Cases<KafkaScene> = {
  'names its members as they call themselves, with what they own': async ({ kafka, kept, topic, owner, group }) => {
    const wire = await topic(2);
    const one = await owner(kafka, group([wire]), 0, new Map());
    await until('it is assigned', () => one.assignments.length > 0);
    const seen = kept(kafka.group(one.options.groupId));
    expect(await seen.members()).toMatchObject([{ name: one.consumer.name, partitions: 2 }]);
    expect(await kept(kafka.group('nobody is in it')).members()).toEqual([]);
  },

  'gives what a dead member owned to the others as soon as it is put out, not when its session ends': async ({
    kafka,
    harness,
    kept,
    topic,
    owner,
    group,
  }) => {
    const wire = await topic(2);
    const options = { ...group([wire]), sessionTimeoutMs: LONG_SESSION_MS };
    const dying = kept(await harness.faulty());
    const dead = await owner(dying.kafka, options, 0, new Map());
    const living = await owner(kafka, options, 0, new Map());
    await until('they share', () => living.partitions.length === 1 && dead.partitions.length === 1);
    dying.silence();
    const seen = kept(kafka.group(options.groupId));
    const member = (await seen.members()).find(({ name }) => name === dead.consumer.name);
    const since = systemClock.monotonic();
    await seen.remove([member?.memberId ?? '']);
    await seen.remove([member?.memberId ?? '']);
    await until('the other has all', () => living.partitions.length === 2);
    expect(systemClock.monotonic() - since).toBeLessThan(SOON_MS);
  },
};
