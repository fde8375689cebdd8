// Decides what an execution, its cancellation or its compensation does to what is counted. Pure.
import { EXPOSURE, reservationId } from '@recourse/contract';
import { personKey } from '@recourse/kernel';
import type { AwaitedApproval, Brief, Debit, Excess } from '@recourse/messages';
import type { Bounds } from './bounds.decisions.js';
import { beyond, excessOf, isMoney, moves, uncountedExcess, unreadExcess, within } from './bounds.decisions.js';
import { partiesOf } from './budget.decider.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from './budget.messages.js';

/** How a mutation's execution ended. */
export type ExecutionEnd = 'succeeded' | 'failed' | 'cancelled';

/** An execution that ended. */
export interface Ended {
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
  /** Its key is that of a compensation, and it is none: no cap counts it. */
  readonly isPosing: boolean;
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
      return reservation === null ? [] : settled(ended, reservation, bounds, policy);
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
  const isBounded = debits.some(moves) || bounds.cap !== null || ended.isUnread || ended.isPosing;
  const exceeded = [
    ...(isBounded ? ended.unasked : []),
    ...unread(ended, bounds),
    ...posing(ended),
    ...(reservation === null ? [] : inAnotherName(ended, reservation)),
    ...excessOf(debits, { ...bounds, openOverruns: 0 }),
  ];
  if (debits.some(({ debit_minor }) => debit_minor > 0) || exceeded.length > 0)
    return [overrun({ ...ended, debits, parties }, exceeded, policy, bounds.now)];
  return isBounded ? [debited({ ...ended, debits }, null)] : [];
}

/** Counts what nobody is asked about. */
export function debited(ended: Ended, reversesMutationId: string | null): BudgetRecord {
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

/** Was another capability or subject executed than was reserved? What caps it was asked about nothing of that. */
export function isSomethingElse(
  { capability, subjectId }: Pick<Ended, 'capability' | 'subjectId'>,
  reservation: Reservation | null,
): boolean {
  return (
    reservation?.phase === 'reserved' && (reservation.capability !== capability || reservation.subject_id !== subjectId)
  );
}

function settled(
  ended: Ended,
  reservation: Reservation,
  bounds: Bounds,
  policy: EscalationPolicy,
): readonly BudgetRecord[] {
  const actual = actualOf(ended.debits, reservation.debits);
  const excess = beyond(actual, reservation.debits);
  const { reservation_id, tenant, run_id, effect_key } = reservation;
  const isElse = isSomethingElse(ended, reservation);
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
      capability: isElse ? ended.capability : null,
      subject_id: isElse ? ended.subjectId : null,
      asked: excess.length + beyond(reservation.debits, actual).length > 0 ? reservation.debits : null,
    },
  };
  const parties = partiesOf(...(reservation.parties ?? []), ...ended.parties);
  const exceeded = [
    ...inAnotherName(ended, reservation),
    ...unread(ended, bounds),
    ...posing(ended),
    // Its bounds are those before it was reserved.
    ...(isElse ? excessOf(actual, { ...bounds, openOverruns: 0 }) : []),
  ];
  return excess.length + exceeded.length > 0
    ? [event, overrun({ ...ended, debits: excess, parties }, exceeded, policy, bounds.now)]
    : [event];
}

/** That it moved money nobody can read: whatever was reserved says nothing of how much. */
function unread({ isUnread }: Ended, { runId }: Bounds): readonly Excess[] {
  return isUnread ? [unreadExcess(runId)] : [];
}

function posing({ isPosing, capability }: Ended): readonly Excess[] {
  return isPosing ? [uncountedExcess(capability)] : [];
}

/** Asked for in the name of another, it was weighed at their ceilings, and not at those of the agent that acted. */
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
