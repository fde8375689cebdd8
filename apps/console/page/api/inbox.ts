// All that waits for a person, and what is at stake in it: the notifier's list, with the money the other services know.
import { queryOptions } from '@tanstack/react-query';
import { budgets, notifier, recoveries } from './clients.js';
import { everyPage } from './pages.js';
import type { Call, More, Pages } from './pages.js';
import { ITEM, pageOf, ROWS } from './shapes.js';
import type { Row } from './shapes.js';
import { STAKES, valued } from './stakes.js';
import type { Valued } from './stakes.js';

export type InboxItem = Valued;

const PAGE = 500;
export const ITEMS_MAX = 20_000;
const ITEM_PAGE = pageOf(ITEM);

export const inboxQuery = queryOptions({
  queryKey: ['notifier', 'items'],
  queryFn: async (): Promise<Pages<InboxItem>> => {
    const [{ items, isCut }, stakes] = await Promise.all([
      everyPage(
        ITEM_PAGE,
        (more) => notifier.GET('/v1/items', { params: { query: { limit: PAGE, ...more } } }),
        ITEMS_MAX,
      ),
      Promise.all(STAKES.map((of) => stakesIn(CALLS[of]))),
    ]);
    return { items: valued(items, stakes), isCut };
  },
});

const CALLS: Readonly<Record<(typeof STAKES)[number], (more: More) => Call>> = {
  reviews: (more) => recoveries.GET('/v1/reviews', { params: { query: { limit: PAGE, ...more } } }),
  escalations: (more) => budgets.GET('/v1/escalations', { params: { query: { limit: PAGE, phase: 'open', ...more } } }),
};

/** Null where the service does not answer: its things are shown without. */
function stakesIn(call: (more: More) => Call): Promise<Pages<Row> | null> {
  return everyPage(ROWS, call, ITEMS_MAX).catch(() => null);
}
