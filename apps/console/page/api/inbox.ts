// All that waits for a person, and what is at stake in it: the notifier's list, with the money the other services know.
import { queryOptions } from '@tanstack/react-query';
import { answered, budgets, notifier, recoveries } from './clients.js';
import { ITEM, pageOf, ROW } from './shapes.js';
import type { Item, Money, Row } from './shapes.js';
import { moneyIn, textIn } from './rows.js';

export interface InboxItem extends Item {
  /** Null where no service names an amount. */
  readonly value: Money | null;
}

export interface InboxAnswer {
  readonly items: readonly InboxItem[];
  /** More wait than the console reads at once. */
  readonly isCut: boolean;
}

const PAGE = 500;
export const ITEMS_MAX = 20_000;
const ITEM_PAGE = pageOf(ITEM);
const ROW_PAGE = pageOf(ROW);

export const inboxQuery = queryOptions({
  queryKey: ['notifier', 'items'],
  queryFn: async (): Promise<InboxAnswer> => {
    const [items, stakes] = await Promise.all([everyItem(), stakesNow()]);
    return {
      items: items.map((item) => ({ ...item, value: stakes.get(item.id) ?? null })),
      isCut: items.length >= ITEMS_MAX,
    };
  },
});

async function everyItem(): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null | undefined;
  do {
    const query = { limit: PAGE, ...(typeof cursor === 'string' ? { cursor } : {}) };
    const page = await answered(ITEM_PAGE, notifier.GET('/v1/items', { params: { query } }));
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (typeof cursor === 'string' && items.length < ITEMS_MAX);
  return items;
}

/** Money by id of the thing; where a service does not answer, its things are shown without. */
async function stakesNow(): Promise<ReadonlyMap<string, Money>> {
  const lists = await Promise.allSettled([
    answered(ROW_PAGE, recoveries.GET('/v1/reviews', { params: { query: { limit: PAGE } } })),
    answered(ROW_PAGE, recoveries.GET('/v1/reviews', { params: { query: { limit: PAGE, kind: 'forward' } } })),
    answered(ROW_PAGE, budgets.GET('/v1/escalations', { params: { query: { limit: PAGE } } })),
  ]);
  const rows = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value.items : []));
  return new Map(rows.flatMap(stakeOf));
}

function stakeOf(row: Row): readonly (readonly [string, Money])[] {
  const value = moneyIn(row, 'execution', 'value') ?? moneyIn(row, 'value') ?? moneyIn(row, 'args', 'body');
  const id = textIn(row, 'step_id') ?? textIn(row, 'approval_id') ?? textIn(row, 'reservation_id');
  return value === null || id === null ? [] : [[id, value]];
}
