// Which broker leads which partitions, as far as that is known soon: one that cannot be reached holds up no other.
import type { Connection } from '@platformatic/kafka';
import type { TopicPartition } from '../kafka.port.js';
import { within } from '../time-limit.js';

/** Longest wait for all leaders to be known: whoever is known by then is asked, the others with the next poll. */
const LOOKED_UP_WITHIN_MS = 500;

/**
 * Partitions by their brokers, in the order in which they were given.
 *
 * Shape: `leaderOf` answers with null for one that has no broker; `onLate` is called for each that is known only afterwards.
 */
export async function ledBy<Position extends TopicPartition>(
  positions: readonly Position[],
  leaderOf: (position: Position) => Promise<Connection | null>,
  onLate: () => void,
): Promise<ReadonlyMap<Connection, readonly Position[]>> {
  const known = new Map<Position, Connection>();
  let isLate = false;
  const lookUp = async (position: Position): Promise<void> => {
    const broker = await leaderOf(position);
    if (broker !== null) known.set(position, broker);
    if (isLate) onLate();
  };
  // The first of a topic learns who leads it, for all of them.
  const looking = [...Map.groupBy(positions, ({ topic }) => topic).values()].map(async ([first, ...others]) => {
    if (first !== undefined) await lookUp(first);
    await Promise.all(others.map(lookUp));
  });
  await within(Promise.all(looking), LOOKED_UP_WITHIN_MS, 'leaders').catch(() => undefined);
  isLate = true;
  const led = new Map<Connection, Position[]>();
  for (const position of positions) {
    const broker = known.get(position);
    if (broker !== undefined) led.set(broker, [...(led.get(broker) ?? []), position]);
  }
  return led;
}

/** Puts who was answered behind all others, with a record or without: in front, an empty partition would have its topic served first. */
export function putLast<Key, Value>(all: Map<Key, Value>, key: Key, value: Value): void {
  if (all.get(key) !== value) return;
  all.delete(key);
  all.set(key, value);
}
