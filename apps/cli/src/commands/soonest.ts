// Lists in the order of their time, where a service gives its pages by partition: what is soonest may stand on the last of them.
import type { Doc, EdgeClient, Listed, Query } from '@recourse/sdk';
import { byTime } from '../output/order.js';
import { listText } from '../output/table.js';
import type { Column } from '../output/table.js';

/** Rows of what waits that are looked through for the soonest, unless more are asked for. */
const LOOKED_MAX = 10_000;

/** The soonest of what was looked through. */
export interface Soonest extends Listed {
  /** How many were looked through, where those were not all. */
  readonly looked_through?: number;
}

interface Order {
  /** Member in epoch milliseconds by which it is ordered. */
  readonly by: string;
  /** Rows at most. */
  readonly limit: number;
  /** Of a list that only grows, such as that of commits, no more is looked through than is asked for. */
  readonly grows?: boolean;
}

/** Looks through pages before it orders them, and gives the soonest. Errors: those of the service. */
export async function listSoonest(service: EdgeClient, path: string, query: Query, order: Order): Promise<Soonest> {
  const { limit, grows = false } = order;
  return soonestOf(await service.list(path, query, grows ? limit : Math.max(limit, LOOKED_MAX)), order);
}

/** The soonest of what a service gave. Pure. */
export function soonestOf(found: Listed, { by, limit }: Order): Soonest {
  const { items } = byTime(found, by);
  return {
    items: items.slice(0, limit),
    more: found.more || items.length > limit,
    ...(found.more ? { looked_through: items.length } : {}),
  };
}

/** A table of the soonest, which says so where others may be earlier. */
export function soonestText(columns: readonly Column<Doc>[], listed: Soonest): string {
  const text = listText(columns, listed);
  const { looked_through: looked } = listed;
  return looked === undefined
    ? text
    : `${text}\nonly ${String(looked)} were looked through, and others may be earlier: narrow the list`;
}
