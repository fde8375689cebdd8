import { describe, expect, it } from '@jest/globals';
import { partitionCountsOf } from './topic-counts.kafka.js';

type Asked = Parameters<typeof partitionCountsOf>[0];
type Described = Awaited<ReturnType<Asked['fetchTopicMetadata']>>['topics'][number];

const PARTITION = { partitionErrorCode: 0, partitionId: 0, leader: 1, replicas: [1], isr: [1] };
const described = (name: string): Described => ({ name, partitions: [PARTITION, PARTITION] });

/** A broker that lists `mine`, answers for `young` by name alone, keeps `theirs` from whoever asks, and has no other. */
const BROKER: Asked = {
  listTopics: () => Promise.resolve(['mine']),
  fetchTopicMetadata: ({ topics } = { topics: [] }) => {
    if (topics.includes('theirs')) return refused('TOPIC_AUTHORIZATION_FAILED');
    if (topics.some((name) => !['mine', 'young'].includes(name))) return refused('UNKNOWN_TOPIC_OR_PARTITION');
    return Promise.resolve({ topics: topics.map(described) });
  },
};

function refused(type: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(type), { type }));
}

describe('partitions of topics', () => {
  it('are counted of those that are there, and not of one that is missing', async () => {
    expect([...(await partitionCountsOf(BROKER, ['mine', 'young', 'nowhere']))]).toEqual([
      ['mine', 2],
      ['young', 2],
    ]);
  });

  it('are refused of a topic that whoever asks may not see: it is not told as missing', async () => {
    await expect(partitionCountsOf(BROKER, ['mine', 'theirs'])).rejects.toMatchObject({
      type: 'TOPIC_AUTHORIZATION_FAILED',
    });
  });
});
