// What is at stake in what waits, from the lists of the services that know it. Pure.
//
// Invariants
//   S1. An amount is what a service made of the effect; arguments, which an agent writes, are none.
//   S2. Nothing is said to be at stake only where a list says so of that thing; all else is not known.
import { fieldIn, listIn, moneyIn, textIn } from './rows.js';
import type { Pages } from './pages.js';
import type { Item, Money, Row } from './shapes.js';

/** Lists that name amounts. */
export const STAKES = ['reviews', 'escalations'] as const;

export interface Valued extends Item {
  /** Null where none is named. */
  readonly value: Money | null;
  /** No list that was read says what is at stake in it. */
  readonly isValueUnread?: boolean;
}

/** Items with what is at stake; `read` is each list of STAKES, null where its service did not answer. */
export function valued(items: readonly Item[], read: readonly (Pages<Row> | null)[]): readonly Valued[] {
  const stakes = new Map(read.flatMap((list) => list?.items ?? []).flatMap(stakeOf));
  return items.map((item) => ({
    ...item,
    value: stakes.get(item.id) ?? null,
    isValueUnread: !stakes.has(item.id),
  }));
}

/** What a row of a list says of its thing; nothing where it says nothing, or several amounts that are not one. */
function stakeOf(row: Row): readonly (readonly [string, Money | null])[] {
  const [step, reservation] = [textIn(row, 'step_id'), textIn(row, 'reservation_id')];
  const value = fieldIn(row, 'execution', 'value');
  if (step !== null) return value === undefined ? [] : [[step, moneyIn(row, 'execution', 'value')]];
  const moved = reservation === null ? undefined : movedBy(row);
  return reservation === null || moved === undefined ? [] : [[reservation, moved]];
}

const CURRENCY = /^[A-Z]{3}$/;

/** The money that a question of the accountant is about. */
function movedBy(row: Row): Money | null | undefined {
  const money = listIn(row, 'debits').flatMap((debit) => {
    const value = moneyIn(
      { of: { amount_minor: fieldIn(debit, 'value_minor'), currency: textIn(debit, 'currency') } },
      'of',
    );
    return value !== null && CURRENCY.test(value.currency) ? [value] : [];
  });
  return money.length > 1 ? undefined : (money[0] ?? null);
}
