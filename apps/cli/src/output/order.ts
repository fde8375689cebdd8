// Lists in the order of their time: pages of a service come by partition, which tells people nothing.
import type { Doc, Listed } from '@recourse/sdk';

/** What was listed, the earliest first by one member in epoch milliseconds; what has none of it stands last. Pure. */
export function byTime({ items, more }: Listed, member: string): Listed {
  const timeOf = (row: Doc): number => {
    const time = row[member];
    return typeof time === 'number' ? time : Number.POSITIVE_INFINITY;
  };
  return { items: items.toSorted((one, other) => compared(timeOf(one), timeOf(other))), more };
}

function compared(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
