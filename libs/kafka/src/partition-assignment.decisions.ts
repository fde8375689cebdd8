// Who owns what in a service's group: aligned partition numbers are shared out, broadcast partitions go to everybody.
// Pure: the kafkajs assigner and the memory broker both obey it (L13).

export interface GroupMember {
  readonly memberId: string;
  /** Aligned partition numbers it held in the generation before. */
  readonly held: readonly number[];
}

/** Partition counts by topic name. */
export type PartitionCounts = Readonly<Record<string, number>>;

export interface MemberShare {
  /** Same numbers for every aligned topic, ascending. */
  readonly partitions: readonly number[];
  /** What the member subscribes to, by topic. */
  readonly topics: Readonly<Record<string, readonly number[]>>;
}

/**
 * Shares the partitions of a group among its members.
 *
 * Shape:   every aligned number has exactly one owner; shares differ by one at most; a member keeps what it held as far
 *          as its share allows. When the counts of aligned topics differ, nobody gets anything: an owner of a number
 *          that exists in one topic only would read half of its inputs.
 * Errors:  none; a throw would end the consumer.
 */
export function assignPartitions(
  members: readonly GroupMember[],
  aligned: PartitionCounts,
  broadcast: PartitionCounts,
): Readonly<Record<string, MemberShare>> {
  const counts = new Set(Object.values(aligned));
  if (counts.size > 1 || members.length === 0) {
    return Object.fromEntries(members.map(({ memberId }) => [memberId, { partitions: [], topics: {} }]));
  }
  const owned = shareNumbers(members, [...counts][0] ?? 0);
  const everybody = Object.fromEntries(Object.entries(broadcast).map(([topic, count]) => [topic, numbersBelow(count)]));
  return Object.fromEntries(
    members.map(({ memberId }) => {
      const partitions = owned.get(memberId) ?? [];
      const own = Object.fromEntries(Object.keys(aligned).map((topic) => [topic, partitions]));
      return [memberId, { partitions, topics: { ...everybody, ...(partitions.length > 0 ? own : {}) } }];
    }),
  );
}

/** Sticky shares of ⌊N/m⌋ or ⌊N/m⌋ + 1; the members that hold most are the ones to get the larger share. */
function shareNumbers(members: readonly GroupMember[], count: number): Map<string, number[]> {
  const claims = validClaims(members, count);
  const order = [...members].sort((a, b) => claimed(claims, b) - claimed(claims, a) || compare(a.memberId, b.memberId));
  const smaller = Math.floor(count / members.length);
  const larger = count % members.length;
  const owned = new Map<string, number[]>();
  const sizes = new Map(order.map(({ memberId }, rank) => [memberId, smaller + (rank < larger ? 1 : 0)]));
  for (const { memberId } of order) owned.set(memberId, (claims.get(memberId) ?? []).slice(0, sizes.get(memberId)));
  const taken = new Set([...owned.values()].flat());
  const free = numbersBelow(count).filter((partition) => !taken.has(partition));
  for (const { memberId } of order) {
    const own = owned.get(memberId) ?? [];
    own.push(...free.splice(0, (sizes.get(memberId) ?? 0) - own.length));
    own.sort((a, b) => a - b);
  }
  return owned;
}

/** What each member says it held, without numbers that do not exist; a number claimed twice goes to the first by id. */
function validClaims(members: readonly GroupMember[], count: number): Map<string, number[]> {
  const claimedBefore = new Set<number>();
  const claims = new Map<string, number[]>();
  for (const { memberId, held } of [...members].sort((a, b) => compare(a.memberId, b.memberId))) {
    const valid = [...new Set(held)]
      .filter(
        (partition) =>
          Number.isInteger(partition) && partition >= 0 && partition < count && !claimedBefore.has(partition),
      )
      .sort((a, b) => a - b);
    valid.forEach((partition) => claimedBefore.add(partition));
    claims.set(memberId, valid);
  }
  return claims;
}

function claimed(claims: Map<string, number[]>, { memberId }: GroupMember): number {
  return claims.get(memberId)?.length ?? 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function numbersBelow(count: number): number[] {
  return Array.from({ length: count }, (_, partition) => partition);
}
