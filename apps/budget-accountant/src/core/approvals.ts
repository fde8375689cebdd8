// Forward approvals, as far as a rung wants them: who keeps them says that one was used, the ledger what was done.
//
// Boundary: looks up reservations and what was noted, and asks the rules; holds none.
import { append, decidedAtOf, NOTHING } from '@recourse/event-log';
import type { Asked, DecideContext, Decision } from '@recourse/event-log';
import type { AwaitedApproval, BodyOf } from '@recourse/messages';
import { approvals, escalations, reservations } from '../rows/kinds.js';
import {
  failedAgain,
  isAsReserved,
  isMetBy,
  missApproval,
  neededFor,
  satisfiedBy,
  usedAgain,
  wantedOf,
} from '../rules/budget/approval.decisions.js';
import { escalationIdOf } from '../rules/budget/budget.decider.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from '../rules/budget/budget.messages.js';
import { escalateReservation } from '../rules/budget/overdue.decider.js';
import { earnedBy } from './autonomy.js';
import { afterBreach } from './undoings.js';

type Recorded = BodyOf<'recourse.mutations', 'MutationRecorded'>;

/** Remembers each use of an approval, for effects whose rung may want it; said again, it changes nothing. */
export function onApprovalUsed({
  body,
  input,
  context: { state },
}: Asked<BodyOf<'recourse.recoveries', 'ForwardApprovalUsed'>>): Decision {
  const { approval_id, tenant, run_id, mutation_id, agreed_by } = body;
  // Asked first and reserved later, or done as something else than was reserved, it may be wanted yet.
  const use = { approval_id, satisfies: satisfiedBy(agreed_by), used_at: decidedAtOf(input) };
  if (usedAgain(approvals.find(state, approval_id), use) === null) return NOTHING;
  return append({ type: 'ForwardApprovalNoted', body: { ...use, tenant, run_id, mutation_id, failed_began_at: null } });
}

/** Remembers that an attempt failed, of an effect whose rung wants people asked: what they agreed to before is used up. */
export function attemptFailed(
  { body: { execution, ref, mutation_id }, input }: Asked<Recorded>,
  reservation: Reservation | null,
): readonly BudgetRecord[] {
  if ((reservation?.forward_approval ?? null) === null) return [];
  const failed_began_at = ref.committed_at;
  if (failedAgain(reservation?.failed ?? [], failed_began_at) === null) return [];
  const { tenant, run_id } = execution;
  const of = { approval_id: '', tenant, run_id, mutation_id, satisfies: '', used_at: decidedAtOf(input) };
  return [{ type: 'ForwardApprovalNoted', body: { ...of, failed_began_at } }];
}

/** What people had to agree to before an effect, where nobody knows yet that they did; null where nothing is open. */
export function awaitedFor(
  { body: { execution, action_digest }, input, context }: Asked<Recorded>,
  reservation: Reservation | null,
  { approvalWithinMs }: EscalationPolicy,
): AwaitedApproval | null {
  if (reservation?.phase !== 'reserved') return null;
  const { tenant, run_id: runId, effect_key: effectKey, capability, agent_id: agentId } = execution;
  const executedAt = decidedAtOf(input);
  const done = { tenant, runId, effectKey, capability, agentId, actionDigest: action_digest, executedAt };
  const wanted = isAsReserved(reservation, done)
    ? (reservation.forward_approval ?? null)
    : wantedOf(earnedBy(context, { tenant, agent: agentId, capability }, true).forward_approval, reservation);
  const needed = neededFor(wanted, done, context.now + approvalWithinMs);
  if (needed === null) return null;
  const { failed = [] } = reservation;
  return isMetBy(approvals.find(context.state, needed.approval_id), needed, failed) ? null : needed;
}

/** A reservation that nobody used in time, or an effect that nobody was asked about. */
export function onReservationDue(context: DecideContext, id: string, policy: EscalationPolicy): Decision {
  const { state, now } = context;
  const reservation = reservations.find(state, id);
  if (reservation === null) return NOTHING;
  const escalation = escalations.find(state, escalationIdOf(id));
  const found = escalateReservation(reservation, policy, now) ?? missApproval(reservation, escalation, policy, now);
  if (found === null) return NOTHING;
  const { awaited = null } = reservation;
  const effect = awaited === null ? null : { ...reservation, ...awaited };
  return afterBreach(append(found), effect, context);
}
