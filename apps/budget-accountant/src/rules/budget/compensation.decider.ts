// What an executed compensation does to what is counted: it is an execution, and leaves a debt of its own (A62, B9). Pure.
//
// Invariants
//   C1. Each is debited once, under the contract of the compensation, however often its outcome is told (B3).
//   C2. Whoever agreed to the recovery agreed to what it costs: people are asked again only where it exceeds a ceiling, or nobody can read what it costs.
//   C3. Several of one leg count one after the other, as if each had been told alone: each at the ceilings of its own agent.
import type { Bounds } from './bounds.decisions.js';
import { ceilingExcess, moves } from './bounds.decisions.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from './budget.messages.js';
import { debited, settle } from './settlement.decider.js';
import type { Ended } from './settlement.decider.js';

/** An executed compensation, and what somebody reserved for it before. */
export interface Executed {
  readonly ended: Ended;
  readonly reversesMutationId: string;
  readonly reservation: Reservation | null;
}

/** What a compensation moves, and what somebody reserved for it before. */
export type Weighed = Pick<Executed, 'reservation'> & Pick<Ended, 'debits' | 'isUnread'>;

/** Nobody reserved for it, it moves nothing, and everybody can read that: it counts nowhere, whatever its bounds are. */
export function leavesNothing({ debits, isUnread, reservation }: Weighed): boolean {
  return reservation === null && !isUnread && !debits.some(moves);
}

/** Debits a compensation. `bounds` are those of its own accounts, after what was debited of its leg before it. */
export function debitCompensation(
  { ended, reversesMutationId, reservation }: Executed,
  bounds: Bounds,
  policy: EscalationPolicy,
): readonly BudgetRecord[] {
  const isReserved = reservation?.phase === 'reserved' || isOver(reservation);
  const isAsked = ended.isUnread || ceilingExcess(ended.debits, bounds).length > 0;
  if (isReserved || !ended.debits.some(moves) || isAsked)
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
