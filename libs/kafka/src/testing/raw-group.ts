// What a stranger may ask about a group, each request sent by itself: a client like kafkajs gives up where the coordinator is
// denied, and keeps no reason. Nothing of ours decides anything here.
import type { KafkaOptions } from '../options.js';

/** Kafka's name for what it refused, by request; `done` where it did not. */
export type GroupAttempts = Readonly<Record<'join' | 'commit' | 'look' | 'delete', string>>;

const SESSION_MS = 10_000;
/** Of a member that is not there yet, and of a commit from outside any generation. */
const [NEW_MEMBER, NO_GENERATION] = ['', -1];

/** Tries to join a group, to commit and to see its offsets, and to delete it. */
export async function tryGroup(options: KafkaOptions, group: string, topic: string): Promise<GroupAttempts> {
  const { deleteGroupsV2, joinGroupV5, offsetCommitV8, offsetFetchV8 } = await import('@platformatic/kafka');
  const { BrokerCluster } = await import('../platformatic/cluster.kafka.js');
  const cluster = new BrokerCluster(options, SESSION_MS);
  const protocols = [{ name: 'range', metadata: Buffer.alloc(0) }];
  const offset = { partitionIndex: 0, committedOffset: 7n, committedLeaderEpoch: -1, committedMetadata: null };
  const asked = { groupId: group, topics: [{ name: topic, partitionIndexes: [0] }] };
  try {
    const broker = await cluster.anyConnection();
    return {
      join: await refusalOf(
        joinGroupV5.api.async(broker, group, SESSION_MS, SESSION_MS, NEW_MEMBER, null, 'consumer', protocols),
      ),
      commit: await refusalOf(
        offsetCommitV8.api.async(broker, group, NO_GENERATION, NEW_MEMBER, null, [
          { name: topic, partitions: [offset] },
        ]),
      ),
      look: await refusalOf(offsetFetchV8.api.async(broker, [{ ...asked, memberEpoch: -1 }], false)),
      delete: await refusalOf(deleteGroupsV2.api.async(broker, [group])),
    };
  } finally {
    await cluster.close();
  }
}

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'done';
  } catch (error) {
    const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
    return typeof first === 'object' && first !== null && 'apiId' in first ? String(first.apiId) : String(error);
  }
}
