// Ceilings that are higher for one reservation, and for how long. Holds no rules; follows what the reservation became.
import type { Raise } from '@recourse/messages';
import type { Reservation } from '../rules/budget/budget.messages.js';
import { inUnit } from '../rules/budget/debits.decisions.js';

/** A raise lasts as long as what it was for counts, and is no more than that. */
export function raisedAfter({ raised = [], debits, phase }: Reservation): readonly Raise[] {
  const held = phase === 'released' ? [] : debits;
  return raised.map((one) => {
    const { debit_minor, value_minor } = inUnit(held, one.currency);
    return { ...one, by_minor: Math.min(one.by_minor, one.measure === 'debt' ? debit_minor : value_minor) };
  });
}

/** By how much each ceiling is raised more than before; negative where it falls back. */
export function moreRaised(before: readonly Raise[], after: readonly Raise[]): readonly Raise[] {
  return after.map((one) => {
    const standing = before.find((other) => isSameCeiling(one, other));
    return { ...one, by_minor: one.by_minor - (standing?.by_minor ?? 0) };
  });
}

function isSameCeiling(one: Raise, other: Raise): boolean {
  return (['scope', 'scope_id', 'measure', 'currency', 'window'] as const).every((name) => one[name] === other[name]);
}
