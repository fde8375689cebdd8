// Partitions of topics, by name. A broker that asks who somebody is lists what they may see alone, and leaves out the rest as if it were not there.
import type { Admin } from 'kafkajs';
import { protocolErrorType } from './failures.kafka.js';

/** What is asked of an administrator; its client has the broker make no topic that is asked for. */
type Asked = Pick<Admin, 'listTopics' | 'fetchTopicMetadata'>;

/** Counts of the topics that exist. Errors: those of kafkajs, for a topic too that whoever asks may not see. */
export async function partitionCountsOf(admin: Asked, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const listed = new Set(await admin.listTopics());
  // All at once where that is sure: kafkajs throws for all when one is missing.
  const seen = await countsBy(
    admin,
    names.filter((name) => listed.has(name)),
  );
  const unseen = names.filter((name) => !listed.has(name)).map(async (name) => countsBy(admin, [name]).catch(missing));
  return new Map([...seen, ...(await Promise.all(unseen)).flatMap((found) => [...found])]);
}

async function countsBy(admin: Asked, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map();
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  return new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
}

function missing(error: unknown): ReadonlyMap<string, number> {
  if (protocolErrorType(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return new Map();
  throw error;
}
