// A consumer group seen from the side: who is in it, and out with who is dead.
//
// Boundary: asks the group's coordinator; it joins nothing. Who counts as dead is the caller's to say.
//
// Invariants
//   I1. An error costs the connection and what is known of the coordinator: the next question begins anew.
import { describeGroupsV5, findCoordinatorV4, leaveGroupV3, Reader, ResponseError } from '@platformatic/kafka';
import type { Connection } from '@platformatic/kafka';
import type { ConsumerGroup, GroupMember } from '../kafka.port.js';
import { REQUEST_TIMEOUT_MS } from '../options.js';
import type { KafkaOptions } from '../options.js';
import { ended, within } from '../time-limit.js';
import { BrokerCluster } from './cluster.kafka.js';
import { asFailure } from './failures.kafka.js';

/** Says in a request for a coordinator that it is that of a group. */
const OF_GROUP = 0;
const ANSWER_WITHIN_MS = 5_000;
/** Another one was quicker, or it left by itself. */
const UNKNOWN_MEMBER = 'UNKNOWN_MEMBER_ID';

export class BrokerConsumerGroup implements ConsumerGroup {
  private cluster: BrokerCluster | null = null;

  constructor(
    private readonly options: KafkaOptions,
    private readonly groupId: string,
  ) {}

  async members(): Promise<readonly GroupMember[]> {
    const { groups } = await this.ask((coordinator) => describeGroupsV5.api.async(coordinator, [this.groupId], false));
    return (groups[0]?.members ?? []).map(({ memberId, clientId, clientHost, memberAssignment }) => ({
      memberId,
      name: clientId,
      host: clientHost.replace(/^\//u, ''),
      partitions: partitionsIn(memberAssignment),
    }));
  }

  async remove(memberIds: readonly string[]): Promise<void> {
    if (memberIds.length === 0) return;
    await this.ask(async (coordinator) => {
      try {
        await leaveGroupV3.api.async(
          coordinator,
          this.groupId,
          memberIds.map((memberId) => ({ memberId })),
        );
      } catch (error) {
        if (!isUnknownMember(error)) throw error;
      }
    });
  }

  async close(): Promise<void> {
    const { cluster } = this;
    this.cluster = null;
    if (cluster !== null) await ended(cluster.close());
  }

  private async ask<T>(act: (coordinator: Connection) => Promise<T>): Promise<T> {
    const cluster = (this.cluster ??= new BrokerCluster(
      this.options,
      this.options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    ));
    try {
      return await within(this.coordinator(cluster).then(act), ANSWER_WITHIN_MS, this.groupId);
    } catch (error) {
      if (this.cluster === cluster) await this.close();
      throw asFailure(error, this.groupId);
    }
  }

  private async coordinator(cluster: BrokerCluster): Promise<Connection> {
    const { coordinators } = await findCoordinatorV4.api.async(await cluster.anyConnection(), OF_GROUP, [this.groupId]);
    const [found] = coordinators;
    return found === undefined ? cluster.anyConnection() : cluster.connectionTo({ host: found.host, port: found.port });
  }
}

function isUnknownMember(error: unknown): boolean {
  if (!(error instanceof ResponseError)) return false;
  const reasons: readonly unknown[] = error.errors;
  return reasons.every(
    (one) => typeof one === 'object' && one !== null && 'apiId' in one && one.apiId === UNKNOWN_MEMBER,
  );
}

/** Partitions that a member was told to own: version, then topics with their partitions. A stranger may have written anything. */
function partitionsIn(assignment: Buffer): number {
  try {
    const reader = Reader.from(assignment);
    reader.readInt16();
    const topics = reader.readArray(
      (topic) => {
        topic.readString(false);
        return topic.readArray((r) => r.readInt32(), false, false).length;
      },
      false,
      false,
    );
    return topics.reduce((sum, count) => sum + count, 0);
  } catch {
    return 0;
  }
}
