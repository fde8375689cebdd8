// A consumer group of the memory broker: who is in it, and what each member was told to own.
import { assignPartitions } from '../partition-assignment.decisions.js';
import type { PartitionCounts } from '../partition-assignment.decisions.js';
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
