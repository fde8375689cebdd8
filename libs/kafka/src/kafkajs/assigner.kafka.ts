// The group protocol's side of partition-assignment.decisions.ts: metadata and assignments as bytes, version 0.
//
// A member with another assigner name crashes its group: a changed protocol gets a new name, shipped beside the old one.
import { AssignerProtocol } from 'kafkajs';
import type { Cluster, GroupMember as KafkaJsMember, GroupMemberAssignment, PartitionAssigner } from 'kafkajs';
import { assignPartitions } from '../partition-assignment.decisions.js';
import type { GroupMember, MemberShare, PartitionCounts } from '../partition-assignment.decisions.js';

const NAME = 'recourse-aligned-1';
const VERSION = 0;

export interface AssignerInputs {
  readonly aligned: readonly string[];
  readonly broadcast: readonly string[];
  /** Partition numbers held now; sent along with every join, so that they can be kept. */
  readonly held: () => readonly number[];
}

/** kafkajs' assigner for one consumer. */
export function alignedAssigner({ aligned, broadcast, held }: AssignerInputs): PartitionAssigner {
  return ({ cluster }) => ({
    name: NAME,
    version: VERSION,
    protocol: ({ topics }) => ({
      name: NAME,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: VERSION,
        topics,
        userData: Buffer.from(JSON.stringify(held())),
      }),
    }),
    assign: ({ members }) => {
      const subscribed = new Map(members.map((member) => [member.memberId, topicsOf(member)]));
      const shares = assignPartitions(members.map(asMember), countsOf(cluster, aligned), countsOf(cluster, broadcast));
      return Promise.resolve(
        Object.entries(shares).map(([memberId, share]) =>
          encoded(memberId, share, subscribed.get(memberId) ?? new Set()),
        ),
      );
    },
  });
}

function countsOf(cluster: Cluster, topics: readonly string[]): PartitionCounts {
  return Object.fromEntries(topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]));
}

function topicsOf({ memberMetadata }: KafkaJsMember): ReadonlySet<string> {
  return new Set(AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? []);
}

/** A member's own claim; anything that cannot be read counts as nothing held. */
function asMember({ memberId, memberMetadata }: KafkaJsMember): GroupMember {
  try {
    const held: unknown = JSON.parse(
      AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData.toString('utf8') ?? '[]',
    );
    return { memberId, held: Array.isArray(held) ? held.filter((partition) => typeof partition === 'number') : [] };
  } catch {
    return { memberId, held: [] };
  }
}

function encoded(memberId: string, { topics }: MemberShare, subscribed: ReadonlySet<string>): GroupMemberAssignment {
  const assignment = Object.fromEntries(
    Object.entries(topics)
      .filter(([topic]) => subscribed.has(topic))
      .map(([topic, partitions]) => [topic, [...partitions]]),
  );
  return {
    memberId,
    memberAssignment: AssignerProtocol.MemberAssignment.encode({
      version: VERSION,
      assignment,
      userData: Buffer.alloc(0),
    }),
  };
}
