// What an executed compensation does to what is counted: it is an execution, and leaves a debt of its own (A62, B9). Pure.
//
// Invariants
//   C1. Each is debited once, under the contract of the compensation, however often its outcome is told (B3).
//   C2. Whoever agreed to the recovery agreed to what it costs: people are asked again only where it exceeds a ceiling.
//   C3. Several of one leg count one after the other, as if each had been told alone.

import type { Debit } from '@recourse/messages';
import type { Bounds } from './bounds.decisions.js';
import { ceilingExcess, inUnit, moves, plus } from './bounds.decisions.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from './budget.messages.js';
import { debited, settle } from './settlement.decider.js';
import type { Ended } from './settlement.decider.js';

/** An executed compensation, and what somebody reserved for it before. */
export interface Executed {
  readonly ended: Ended;
  readonly reversesMutationId: string;
  readonly reservation: Reservation | null;
}

/** Debits compensations in their order. `bounds` are those before the first of them. */
export function debitCompensations(
  executed: readonly Executed[],
  bounds: Bounds,
  policy: EscalationPolicy,
): readonly BudgetRecord[] {
  const records: BudgetRecord[] = [];
  let spent: readonly Debit[] = [];
  for (const one of executed) {
    const told = debitOne(one, withSpent(bounds, spent), policy);
    records.push(...told);
    if (told.length > 0) spent = plus(spent, one.ended.debits);
  }
  return records;
}

function debitOne(
  { ended, reversesMutationId, reservation }: Executed,
  bounds: Bounds,
  policy: EscalationPolicy,
): readonly BudgetRecord[] {
  const isReserved = reservation?.phase === 'reserved' || isOver(reservation);
  if (isReserved || !ended.debits.some(moves) || ceilingExcess(ended.debits, bounds).length > 0)
    // Whoever takes an effect back reserves for it.
    return settle(ended, reservation === null ? null : asIts(ended, reservation), bounds, policy);
  return [debited(ended, reversesMutationId)];
}

/** Whoever takes it back reserves for it in a name of their own; caps bound no compensation. */
function asIts({ capability, subjectId }: Ended, reservation: Reservation): Reservation {
  return { ...reservation, agent_id: null, capability, subject_id: subjectId };
}

function isOver(reservation: Reservation | null): boolean {
  return reservation !== null && ['settled', 'overrun', 'refunded'].includes(reservation.phase);
}

/** Budgets after what was debited since. */
function withSpent(bounds: Bounds, spent: readonly Debit[]): Bounds {
  return {
    ...bounds,
    budgets: bounds.budgets.map((one) => {
      const { debit_minor, value_minor } = inUnit(spent, one.currency);
      return { ...one, used_minor: one.used_minor + debit_minor, moved_minor: one.moved_minor + value_minor };
    }),
  };
}
