// Says what happens when the deadline of something open passes: it goes to the next owner, on record (P12).
import { escalationIdOf } from './budget.decider.js';
import { LAST_RESORT_ROLE } from './budget.messages.js';
import type { BudgetRecord, Escalation, EscalationPolicy, Reservation } from './budget.messages.js';

/** Asks a person about a reservation that was neither settled nor given back in time; null while there is time. */
export function escalateReservation(
  reservation: Reservation,
  policy: EscalationPolicy,
  now: number,
): BudgetRecord | null {
  const { phase, settle_by, reservation_id, tenant, run_id, effect_key, debit_minor, currency } = reservation;
  if (phase !== 'reserved' || settle_by === null || now < settle_by) return null;
  return {
    type: 'BudgetOverdue',
    body: {
      reservation_id,
      tenant,
      run_id,
      effect_key,
      escalation_id: escalationIdOf(reservation_id),
      about: 'unsettled',
      debit: { amount_minor: debit_minor, currency },
      owner: policy.owner,
      deadline_at: now + policy.deadlineMs,
    },
  };
}

/** Passes an escalation nobody decided in time on to the last owner; null while there is time, and once that was done. */
export function passOn(escalation: Escalation, policy: EscalationPolicy, now: number): BudgetRecord | null {
  const {
    phase,
    is_overdue,
    deadline_at,
    reservation_id,
    tenant,
    run_id,
    effect_key,
    escalation_id,
    about,
    debit_minor,
    currency,
  } = escalation;
  if (phase !== 'open' || is_overdue || now < deadline_at) return null;
  return {
    type: 'BudgetOverdue',
    body: {
      reservation_id,
      tenant,
      run_id,
      effect_key,
      escalation_id,
      about,
      debit: { amount_minor: debit_minor, currency },
      owner: `role:${LAST_RESORT_ROLE}`,
      deadline_at: now + policy.deadlineMs,
    },
  };
}
