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
  const { phase, settle_by, reservation_id, tenant, run_id, effect_key, debits } = reservation;
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
      debits,
      owner: policy.owner,
      deadline_at: now + policy.deadlineMs,
    },
  };
}

/** Who is named where nobody decided: no person, and no agent. */
const NOBODY = 'nobody';

/**
 * Ends a question whose time has passed, or passes it on; null while there is time, and once that was done.
 *
 * Shape:  silence about a ceiling is denial: the agent waits for an answer. What has happened already goes to the last owner.
 */
export function passOn(escalation: Escalation, policy: EscalationPolicy, now: number): BudgetRecord | null {
  const { phase, is_overdue, deadline_at, reservation_id, tenant, run_id, effect_key, escalation_id, about, debits } =
    escalation;
  if (phase !== 'open' || is_overdue || now < deadline_at) return null;
  const of = { reservation_id, tenant, run_id, effect_key, escalation_id };
  if (about === 'ceiling' || about === 'raise')
    return {
      type: 'EscalationDecided',
      body: {
        ...of,
        approved: false,
        debits: [],
        by: NOBODY,
        reason: 'DEADLINE_PASSED',
        command_id: '',
        settle_by: null,
        raised: [],
      },
    };
  return {
    type: 'BudgetOverdue',
    body: {
      ...of,
      about,
      debits,
      owner: `role:${LAST_RESORT_ROLE}`,
      deadline_at: now + policy.deadlineMs,
    },
  };
}
