// Decides what an execution, its cancellation or its compensation does to the debt.
import { reservationId } from '@recourse/contract';
import type { Brief, Money } from '@recourse/messages';
import { partiesOf } from './budget.decider.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from './budget.messages.js';

/** How a mutation's execution ended. */
export type ExecutionEnd = 'succeeded' | 'failed' | 'cancelled';

export interface Ended {
  readonly mutationId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly effectKey: string;
  readonly end: ExecutionEnd;
  /** Debt of what was executed; null when its value is not known. */
  readonly debit: Money | null;
  /** The agent that acted and whom it acted for. */
  readonly parties: readonly string[];
  /** What the run was for, and how the effect is compensated. */
  readonly brief: Brief;
}

/**
 * Settles, overruns or releases.
 *
 * A reservation is settled at what was executed, at most at what it holds; more than that nobody reserved, so the rest is
 * an overrun, debited in full. A value nobody knows counts as what was asked for.
 */
export function settle(
  ended: Ended,
  reservation: Reservation | null,
  policy: EscalationPolicy,
  now: number,
): readonly BudgetRecord[] {
  if (ended.end !== 'succeeded') return release(reservation, ended.end);
  switch (reservation?.phase ?? 'absent') {
    case 'settled':
    case 'overrun':
    case 'refunded':
      return [];
    case 'reserved':
      return reservation === null ? [] : settled(ended, reservation, policy, now);
    case 'absent':
    case 'released':
    case 'denied':
    case 'escalated': {
      const debit = ended.debit ?? (reservation === null ? null : debitOf(reservation));
      const parties = partiesOf(...(reservation?.parties ?? []), ...ended.parties);
      return debit === null || debit.amount_minor === 0 ? [] : [overrun({ ...ended, parties }, debit, policy, now)];
    }
  }
}

/** Frees the debit of a mutation whose compensation was observed; once. */
export function refund(mutationId: string, reservation: Reservation | null): readonly BudgetRecord[] {
  if (reservation === null || (reservation.phase !== 'settled' && reservation.phase !== 'overrun')) return [];
  const { reservation_id, tenant, run_id, effect_key } = reservation;
  return [
    {
      type: 'BudgetRefunded',
      body: { reservation_id, tenant, run_id, effect_key, mutation_id: mutationId, debit: debitOf(reservation) },
    },
  ];
}

/** Gives back what an execution that never took effect had reserved. */
export function release(reservation: Reservation | null, cause: 'failed' | 'cancelled'): readonly BudgetRecord[] {
  if (reservation === null || (reservation.phase !== 'reserved' && reservation.phase !== 'escalated')) return [];
  const { reservation_id, tenant, run_id, effect_key, currency } = reservation;
  const debit = reservation.phase === 'reserved' ? debitOf(reservation) : { amount_minor: 0, currency };
  return [{ type: 'BudgetReleased', body: { reservation_id, tenant, run_id, effect_key, debit, cause } }];
}

function settled(
  ended: Ended,
  reservation: Reservation,
  policy: EscalationPolicy,
  now: number,
): readonly BudgetRecord[] {
  const held = debitOf(reservation);
  const actual = ended.debit ?? held;
  const sameCurrency = actual.currency === held.currency;
  const kept = {
    amount_minor: sameCurrency ? Math.min(actual.amount_minor, held.amount_minor) : 0,
    currency: held.currency,
  };
  const excess = {
    amount_minor: sameCurrency ? actual.amount_minor - kept.amount_minor : actual.amount_minor,
    currency: actual.currency,
  };
  const { reservation_id, tenant, run_id, effect_key } = reservation;
  const event: BudgetRecord = {
    type: 'BudgetSettled',
    body: { reservation_id, tenant, run_id, effect_key, mutation_id: ended.mutationId, debit: kept },
  };
  const parties = partiesOf(...(reservation.parties ?? []), ...ended.parties);
  return excess.amount_minor > 0 ? [event, overrun({ ...ended, parties }, excess, policy, now)] : [event];
}

function overrun(ended: Ended, debit: Money, policy: EscalationPolicy, now: number): BudgetRecord {
  const { tenant, runId, effectKey, mutationId, parties, brief } = ended;
  return {
    type: 'BudgetOverrun',
    body: {
      reservation_id: reservationId(tenant, runId, effectKey, debit.currency),
      tenant,
      run_id: runId,
      effect_key: effectKey,
      mutation_id: mutationId,
      brief,
      debit,
      parties,
      owner: policy.owner,
      deadline_at: now + policy.deadlineMs,
    },
  };
}

function debitOf(reservation: Reservation): Money {
  return { amount_minor: reservation.debit_minor, currency: reservation.currency };
}
