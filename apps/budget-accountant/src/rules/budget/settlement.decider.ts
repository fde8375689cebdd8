// Decides what an execution, its cancellation or its compensation does to what is counted. Pure.
import { EXPOSURE, reservationId } from '@recourse/contract';
import { personKey } from '@recourse/kernel';
import type { AwaitedApproval, Brief, Debit, Excess } from '@recourse/messages';
import type { Bounds } from './bounds.decisions.js';
import {
  beyond,
  ceilingExcess,
  excessOf,
  inUnit,
  isMoney,
  moves,
  plus,
  unreadExcess,
  within,
} from './bounds.decisions.js';
import { partiesOf } from './budget.decider.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from './budget.messages.js';

/** How a mutation's execution ended. */
export type ExecutionEnd = 'succeeded' | 'failed' | 'cancelled';

interface Ended {
  readonly mutationId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly effectKey: string;
  readonly end: ExecutionEnd;
  /** What was executed, by unit; a unit that nobody could read is missing. */
  readonly debits: readonly Debit[];
  readonly agentId: string;
  readonly capability: string;
  readonly subjectId: string | null;
  /** Until when it can be reversed, epoch milliseconds; null when it cannot. */
  readonly expiresAt: number | null;
  /** The agent that acted and whom it acted for. */
  readonly parties: readonly string[];
  /** Contract it ran under; null without one. */
  readonly digest: Buffer | null;
  /** What the run was for, and how the effect is compensated. */
  readonly brief: Brief;
  /** Whom the rung of the agent wants asked before; a guard asks them, so it counts where nobody reserved. */
  readonly unasked: readonly Excess[];
  /** Its contract says that it moves money, and how much nobody can read. */
  readonly isUnread: boolean;
  /** What people had to agree to before it, where nobody knows yet that they did. */
  readonly awaited: AwaitedApproval | null;
}

/**
 * Settles, overruns or releases, all units at once.
 *
 * A reservation is settled at what was executed, at most at what it holds; more than that nobody reserved, so the rest is
 * an overrun, counted in full. A unit nobody knows counts as what was asked for. What leaves no debt and exceeds no bound
 * is counted, and nobody is asked.
 */
export function settle(
  ended: Ended,
  reservation: Reservation | null,
  bounds: Bounds,
  policy: EscalationPolicy,
): readonly BudgetRecord[] {
  if (ended.end !== 'succeeded') return release(reservation, ended.end);
  switch (reservation?.phase ?? 'absent') {
    case 'settled':
    case 'overrun':
    case 'refunded':
      return [];
    case 'reserved':
      return reservation === null ? [] : settled(ended, reservation, policy, bounds.now);
    case 'absent':
    case 'released':
    case 'denied':
    case 'escalated':
      return unreserved(ended, reservation, bounds, policy);
  }
}

/** What an effect counts for that nobody reserved, or was refused: what was asked for where nobody knows better. */
function unreserved(
  ended: Ended,
  reservation: Reservation | null,
  bounds: Bounds,
  policy: EscalationPolicy,
): readonly BudgetRecord[] {
  const debits = actualOf(ended.debits, reservation?.debits ?? []);
  const parties = partiesOf(...(reservation?.parties ?? []), ...ended.parties);
  // What moves nothing and is not capped, no guard reserves or asks about.
  const isUnread = ended.isUnread && !debits.some(isMoney);
  const isBounded = debits.some(moves) || bounds.cap !== null || isUnread;
  const unread = isUnread ? [unreadExcess(bounds.runId)] : [];
  const exceeded = [
    ...(isBounded ? ended.unasked : []),
    ...unread,
    ...excessOf(debits, { ...bounds, openOverruns: 0 }),
  ];
  if (debits.some(({ debit_minor }) => debit_minor > 0) || exceeded.length > 0)
    return [overrun({ ...ended, debits, parties }, exceeded, policy, bounds.now)];
  return isBounded ? [debited({ ...ended, debits }, null)] : [];
}

/** Counts what nobody is asked about. */
function debited(ended: Ended, reversesMutationId: string | null): BudgetRecord {
  const { tenant, runId, effectKey, mutationId, debits, agentId, capability, subjectId, expiresAt } = ended;
  return {
    type: 'BudgetDebited',
    body: {
      reservation_id: reservationId(tenant, runId, effectKey),
      tenant,
      run_id: runId,
      effect_key: effectKey,
      mutation_id: mutationId,
      debits,
      capability,
      agent_id: agentId,
      subject_id: subjectId,
      reverses_mutation_id: reversesMutationId,
      expires_at: expiresAt,
    },
  };
}

/** A mutation whose compensation was observed, and what it counted for. */
export interface Compensated {
  readonly mutationId: string;
  readonly reservation: Reservation | null;
}

/** Frees what the mutations of a run counted for, whose compensations were observed; once. What was disclosed stays so. */
export function refund(compensated: readonly Compensated[]): readonly BudgetRecord[] {
  const counting = compensated.flatMap(({ mutationId, reservation }) =>
    reservation?.phase === 'settled' || reservation?.phase === 'overrun' ? [{ mutationId, reservation }] : [],
  );
  const [first] = counting;
  if (first === undefined) return [];
  const { tenant, run_id } = first.reservation;
  const members = counting.map(({ mutationId, reservation: { reservation_id, effect_key, debits } }) => ({
    reservation_id,
    effect_key,
    mutation_id: mutationId,
    debits: debits.filter(({ currency }) => currency !== EXPOSURE),
  }));
  return [{ type: 'BudgetRefunded', body: { tenant, run_id, members } }];
}

/** Gives back what an execution that never took effect had reserved. */
export function release(reservation: Reservation | null, cause: 'failed' | 'cancelled'): readonly BudgetRecord[] {
  if (reservation === null || (reservation.phase !== 'reserved' && reservation.phase !== 'escalated')) return [];
  const { reservation_id, tenant, run_id, effect_key } = reservation;
  const debits = reservation.phase === 'reserved' ? reservation.debits : [];
  return [{ type: 'BudgetReleased', body: { reservation_id, tenant, run_id, effect_key, debits, cause } }];
}

function settled(
  ended: Ended,
  reservation: Reservation,
  policy: EscalationPolicy,
  now: number,
): readonly BudgetRecord[] {
  const actual = actualOf(ended.debits, reservation.debits);
  const excess = beyond(actual, reservation.debits);
  const { reservation_id, tenant, run_id, effect_key } = reservation;
  const event: BudgetRecord = {
    type: 'BudgetSettled',
    body: {
      reservation_id,
      tenant,
      run_id,
      effect_key,
      mutation_id: ended.mutationId,
      debits: within(actual, reservation.debits),
      expires_at: ended.expiresAt,
      awaited: ended.awaited,
    },
  };
  const parties = partiesOf(...(reservation.parties ?? []), ...ended.parties);
  const foreign = inAnotherName(ended, reservation);
  return excess.length + foreign.length > 0
    ? [event, overrun({ ...ended, debits: excess, parties }, foreign, policy, now)]
    : [event];
}

/** Reserved in the name of another, it counted at their ceilings, and not at those of the agent that acted. */
function inAnotherName({ agentId }: Ended, { agent_id: reservedFor }: Reservation): readonly Excess[] {
  if (reservedFor === null || personKey(reservedFor) === personKey(agentId)) return [];
  const measure = { scope: 'agent', scope_id: agentId, measure: 'name', currency: '', window: 'life' };
  return [{ ...measure, used_minor: 0, asked_minor: 1, ceiling_minor: 0 }];
}

/** What was executed: a unit that is missing counts as what is held, but no two currencies stand for each other. */
function actualOf(told: readonly Debit[], held: readonly Debit[]): readonly Debit[] {
  const isPaid = told.some(isMoney);
  const missing = held.filter(
    (one) => !told.some(({ currency }) => currency === one.currency) && !(isPaid && isMoney(one)),
  );
  return [...told, ...missing];
}

function overrun(ended: Ended, exceeded: readonly Excess[], policy: EscalationPolicy, now: number): BudgetRecord {
  const { tenant, runId, effectKey, mutationId, debits, parties, digest, brief } = ended;
  return {
    type: 'BudgetOverrun',
    body: {
      reservation_id: reservationId(tenant, runId, effectKey),
      tenant,
      run_id: runId,
      effect_key: effectKey,
      mutation_id: mutationId,
      brief,
      debits,
      capability: ended.capability,
      agent_id: ended.agentId,
      subject_id: ended.subjectId,
      exceeded,
      expires_at: ended.expiresAt,
      parties,
      contract_digest: digest,
      owner: policy.owner,
      deadline_at: now + policy.deadlineMs,
    },
  };
}

// What an executed compensation does to what is counted: it is an execution, and leaves a debt of its own (A62, B9). Pure.
//
// Invariants
//   C1. Each is debited once, under the contract of the compensation, however often its outcome is told (B3).
//   C2. Whoever agreed to the recovery agreed to what it costs: people are asked again only where it exceeds a ceiling.
//   C3. Several of one leg count one after the other, as if each had been told alone.

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
    return settle(ended, reservation === null ? null : { ...reservation, agent_id: null }, bounds, policy);
  return [debited(ended, reversesMutationId)];
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
