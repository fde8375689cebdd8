// Who is in a service's group and should not be: the dead, and strangers. Pure.
import type { GroupMember } from '@recourse/kafka';

export interface GroupSeen {
  readonly members: readonly GroupMember[];
  /** Names that are here now. */
  readonly here: ReadonlySet<string>;
  /** Instances of a service begin with this. */
  readonly kin: string;
}

/** Instances that are not here: what they own, nobody works on. */
export function deadIn({ members, here, kin }: GroupSeen): readonly GroupMember[] {
  return members.filter(({ name }) => name.startsWith(kin) && !here.has(name));
}

/** Members that are no instances, and were given something. */
export function foreignIn({ members, kin }: Pick<GroupSeen, 'members' | 'kin'>): readonly GroupMember[] {
  return members.filter(({ name, partitions }) => !name.startsWith(kin) && partitions > 0);
}

/** What an operator reads of strangers; null without any. */
export function foreignMessage(groupId: string, foreign: readonly GroupMember[]): string | null {
  if (foreign.length === 0) return null;
  const who = foreign.map(
    ({ name, host, partitions }) =>
      `${JSON.stringify(name.slice(0, NAME_MAX))} from ${host} (${partitions} partitions)`,
  );
  return `in group ${groupId}, and no instance of the service: ${who.join(', ')}`;
}

/** A stranger calls itself what it likes. */
const NAME_MAX = 80;
