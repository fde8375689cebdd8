// What is at stake in what waits, from the lists of the services that know it. Pure.
import { STEP_KINDS } from '../words/kinds.js';
import { moneyIn, textIn } from './rows.js';
import type { Pages } from './pages.js';
import type { Item, Money, Row } from './shapes.js';

/** Lists that name amounts, and the kinds of items whose amounts each names. */
export const STAKES = [
  { of: 'reviews', kinds: STEP_KINDS },
  { of: 'forward reviews', kinds: ['forward_approval'] },
  { of: 'escalations', kinds: ['budget'] },
] as const;

export interface Valued extends Item {
  /** Null where no service names an amount. */
  readonly value: Money | null;
  /** Nobody knows whether one does: the list that would was not read, or not to its end. */
  readonly isValueUnread?: boolean;
}

/** Items with what is at stake; `read` is each list of STAKES, null where its service did not answer. */
export function valued(items: readonly Item[], read: readonly (Pages<Row> | null)[]): readonly Valued[] {
  const stakes = new Map(read.flatMap((list) => list?.items ?? []).flatMap(stakeOf));
  const unread = STAKES.filter((_stake, at) => read[at]?.isCut !== false).flatMap(
    ({ kinds }): readonly string[] => kinds,
  );
  return items.map((item) => {
    const value = stakes.get(item.id) ?? null;
    return { ...item, value, isValueUnread: value === null && unread.includes(item.kind) };
  });
}

function stakeOf(row: Row): readonly (readonly [string, Money])[] {
  const value = moneyIn(row, 'execution', 'value') ?? moneyIn(row, 'value') ?? moneyIn(row, 'args', 'body');
  const id = textIn(row, 'step_id') ?? textIn(row, 'approval_id') ?? textIn(row, 'reservation_id');
  return value === null || id === null ? [] : [[id, value]];
}
