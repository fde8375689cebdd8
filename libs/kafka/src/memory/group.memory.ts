// A consumer group of the memory broker: who is in it, and what each member was told to own.
import type { ConsumerGroup } from '../kafka.port.js';
import { assignPartitions } from '../partition-assignment.decisions.js';
import type { PartitionCounts } from '../partition-assignment.decisions.js';
import type { Actor } from './actor.memory.js';
import type { MemoryInputConsumer } from './input-consumer.memory.js';

export class MemoryGroup {
  private members: MemoryInputConsumer[] = [];
  private generation = 0;

  constructor(private readonly countsOf: (topics: readonly string[]) => PartitionCounts) {}

  join(member: MemoryInputConsumer): void {
    // A rebalance waits for nobody: who is dead by then does not come back from it.
    this.members = this.members.filter((other) => other.actor.alive && other !== member);
    this.members.push(member);
    this.rebalance();
  }

  leave(member: MemoryInputConsumer): void {
    if (!this.members.includes(member)) return;
    this.members = this.members.filter((other) => other !== member);
    this.rebalance();
  }

  /** Everybody, dead or alive. */
  all(): readonly MemoryInputConsumer[] {
    return this.members;
  }

  /** Members of an actor, dead or alive. */
  membersOf(actorName: string): readonly MemoryInputConsumer[] {
    return this.members.filter(({ actor }) => actor.name === actorName);
  }

  private rebalance(): void {
    const [first] = this.members;
    if (!first) return;
    this.generation += 1;
    const { aligned, broadcast } = first.options;
    const members = this.members.map(({ memberId, held }) => ({ memberId, held }));
    const shares = assignPartitions(members, this.countsOf(aligned), this.countsOf(broadcast));
    for (const member of this.members) {
      const share = shares[member.memberId];
      if (share) void member.assign(share, this.generation);
    }
  }
}

/** A group as an actor sees it from the side; a living member that is put out does not hear of it at once. */
export function groupSeenBy(
  actor: Actor,
  group: MemoryGroup,
  onZombie: (member: MemoryInputConsumer) => void,
): ConsumerGroup {
  return {
    members: () =>
      actor.ask({ kind: 'admin' }, () =>
        group.all().map(({ memberId, name, held }) => ({ memberId, name, host: 'memory', partitions: held.length })),
      ),
    remove: (memberIds) =>
      actor.ask({ kind: 'admin' }, () => {
        for (const member of group.all().filter((one) => memberIds.includes(one.memberId))) {
          if (member.actor.alive) onZombie(member);
          group.leave(member);
        }
      }),
    close: () => Promise.resolve(),
  };
}
