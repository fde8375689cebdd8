import { describe, expect, it } from '@jest/globals';
import { MemoryBroker } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { countingCore } from '../../event-log/src/loop.testing.js';
import { PartitionCounts, watchCounts } from './partition-counts.js';

/** A broker with one topic, which hides another and fails over a third. */
async function counts(): Promise<PartitionCounts> {
  const broker = new MemoryBroker();
  broker.ensureTopics([{ name: 'mine', partitions: 2 }]);
  const admin = await broker.forActor('spec').admin();
  const asked = {
    ...admin,
    close: () => admin.close(),
    partitionCount: (topic: string) => {
      if (topic === 'theirs') return Promise.reject(new Failure('BROKER_REFUSED', topic));
      if (topic === 'away') return Promise.reject(new Failure('BROKER_UNAVAILABLE', topic));
      return admin.partitionCount(topic);
    },
  };
  return new PartitionCounts({ admin: () => Promise.resolve(asked) });
}

describe('counts of several topics', () => {
  it('are told of those that are seen; one that is missing or hidden fails once it is asked for', async () => {
    const countOf = await (await counts()).all(['mine', 'theirs', 'nowhere']);
    expect(countOf('mine')).toBe(2);
    expect(() => countOf('theirs')).toThrow(expect.objectContaining({ code: 'BROKER_REFUSED' }));
    expect(() => countOf('nowhere')).toThrow(expect.objectContaining({ code: 'TOPIC_MISSING' }));
  });

  it('are told of none where the broker does not answer', async () => {
    await expect((await counts()).all(['mine', 'away'])).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  });
});

describe('a service that runs', () => {
  it('is not ready once somebody gave a topic of it more partitions, and says which', async () => {
    const core = countingCore();
    const broker = new MemoryBroker();
    const topics = [core.log, ...core.inputs.map(({ topic }) => topic)];
    broker.ensureTopics(topics.map((name) => ({ name, partitions: 2 })));
    const admin = await broker.forActor('spec').admin();
    let answer = (topic: string): Promise<number | null> => admin.partitionCount(topic);
    const asked = { ...admin, close: () => admin.close(), partitionCount: (topic: string) => answer(topic) };
    const watch = watchCounts({ admin: () => Promise.resolve(asked) }, [core]);
    const health = { live: true, ready: true, started: true, detail: { loops: [] } };
    await watch.beat();
    expect(watch.over(health)).toEqual(health);
    answer = () => Promise.reject(new Failure('BROKER_UNAVAILABLE', 'away'));
    await watch.beat();
    expect(watch.over(health)).toEqual(health);
    answer = () => Promise.resolve(4);
    await watch.beat();
    expect(watch.over(health)).toMatchObject({
      ready: false,
      detail: { in_the_way: { code: 'PARTITION_COUNT_CHANGED', detail: expect.stringContaining(core.log) } },
    });
  });
});
