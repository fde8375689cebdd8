// Which items are shown, and in which order. Pure.
import type { InboxItem } from '../api/inbox.js';
import type { Person } from '../api/shapes.js';
import type { InboxSearch } from './inbox.search.js';

/** Is an item one that this person's roles, or they by name, are asked about? */
export function isMine({ owner }: Pick<InboxItem, 'owner'>, { subject, roles }: Person): boolean {
  return owner === subject || roles.some((role) => owner === `role:${role}` || owner === role);
}

export function chosen(
  items: readonly InboxItem[],
  search: InboxSearch,
  person: Person,
  now: number,
): readonly InboxItem[] {
  const words = (search.find ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = items.filter(
    (item) =>
      (search.kind === undefined || item.kind === search.kind) &&
      (search.whose !== 'mine' || isMine(item, person)) &&
      (search.overdue !== true || item.deadline_at < now) &&
      words.every((word) => textOf(item).includes(word)),
  );
  return search.sort === 'money' ? found.toSorted(byMoney) : found;
}

function textOf({ kind, id, run_id, capability, reason, owner }: InboxItem): string {
  return `${kind} ${id} ${run_id} ${capability ?? ''} ${reason} ${owner}`.toLowerCase();
}

/** The largest amount first, each currency by itself; what has none last, by time left. */
function byMoney(a: InboxItem, b: InboxItem): number {
  if (a.value === null || b.value === null)
    return a.value === b.value ? a.deadline_at - b.deadline_at : a.value === null ? 1 : -1;
  const currency = a.value.currency.localeCompare(b.value.currency);
  return currency !== 0 ? currency : b.value.amount_minor - a.value.amount_minor;
}
