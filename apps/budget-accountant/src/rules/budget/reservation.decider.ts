// Decides what is reserved before an action, in every unit at once, and what is given back. Pure.
import { briefOf, debitsOf, isUnsaid, reservationId } from '@recourse/contract';
import type { BriefTerms, Contract } from '@recourse/contract';
import { isAmong, personKey } from '@recourse/kernel';
import type { BodyOf, ContractTerms, Debit, Excess } from '@recourse/messages';
import { isGivenBackLate, laterAttempt, unfitAttempt } from './attempts.decisions.js';
import { ceilingExcess, excessOf, inUnit, uncountedExcess, windowAt } from './bounds.decisions.js';
import type { Bounds } from './bounds.decisions.js';
import { escalationIdOf, partiesOf, rejected, unfitAmounts } from './budget.decider.js';
import { LAST_RESORT_ROLE } from './budget.messages.js';
import type {
  BudgetAnswer,
  BudgetCommand,
  BudgetRecord,
  EscalationPolicy,
  Reservation,
  ReservationTold,
} from './budget.messages.js';
import { holds, isTooLarge } from './sums.decisions.js';

/** What a reservation is decided on, beside the command. */
export interface ReserveFacts {
  readonly reservation: Reservation | null;
  /** Bounds that an open question about it names. */
  readonly askedAbout: readonly Excess[];
  readonly bounds: Bounds;
  /** Contract that weighs it; undefined counts as irreversible. */
  readonly contract: Contract | undefined;
  /** Terms of that contract; null without one. */
  readonly terms: (BriefTerms & Pick<ContractTerms, 'contract_digest'>) | null;
  /** Its recovery was agreed to: people are asked again only over a ceiling. */
  readonly isCompensation: boolean;
  /** Its key is that of a compensation, and it is none: no cap counts it. */
  readonly isPosing: boolean;
  readonly subjectId: string | null;
  /** Agent on whose account it counts, as that account is spelt. */
  readonly agentId: string;
  /** Whom the rung wants asked before the effect; null where nobody. */
  readonly forwardApproval: string | null;
  readonly policy: EscalationPolicy;
}

/** Agent whose account an action counts on: as it is named, or whoever asks. */
export function agentOf({ agent_id, envelope }: Pick<BudgetCommand<'ReserveBudget'>, 'agent_id' | 'envelope'>): string {
  return agent_id ?? envelope.principal.replace(/^agent:/u, '');
}

/** Reserves in every unit, or escalates to a person when it would exceed a bound; an escalation adds nothing. */
export function decideReserve(
  command: BudgetCommand<'ReserveBudget'>,
  facts: ReserveFacts,
): BudgetAnswer<ReservationTold> {
  const unfit = unfitAmounts(command.values) ?? unfitAttempt(command.attempt);
  if (unfit !== null) return unfit;
  if (command.values.some(({ amount_minor }) => isTooLarge(amount_minor)))
    return rejected('AMOUNT_INVALID', 'the amount is more than is counted of one effect');
  const { reservation, bounds, contract } = facts;
  if (reservation !== null && reservation.phase !== 'released') return reservedBefore(command, reservation, facts);
  const debits = debitsOf(contract, 'irreversible', command.values);
  if (!isCountable(debits, bounds)) return rejected('AMOUNT_INVALID', 'the sum cannot be counted');
  return reserved(command, facts, debits);
}

/** Does every sum of these units still say how much is used, in the windows that run? */
function isCountable(debits: readonly Debit[], { budgets, now }: Bounds): boolean {
  return budgets
    .filter(({ window, window_at }) => window_at === windowAt(window, now))
    .every(({ currency, used_minor, moved_minor }) => {
      const { debit_minor, value_minor } = inUnit(debits, currency);
      return holds(used_minor, debit_minor) && holds(moved_minor, value_minor);
    });
}

function reserved(
  command: BudgetCommand<'ReserveBudget'>,
  { bounds, terms, policy, isCompensation, isPosing, subjectId, agentId, forwardApproval }: ReserveFacts,
  debits: readonly Debit[],
): BudgetAnswer<ReservationTold> {
  const { envelope, run_id, effect_key, capability, agent_id, initiator, objective, attempt } = command;
  const { tenant, principal, command_id } = envelope;
  const id = reservationId(tenant, run_id, effect_key);
  const base = {
    reservation_id: id,
    tenant,
    run_id,
    effect_key,
    capability,
    contract_digest: terms?.contract_digest ?? null,
    brief: briefOf(objective, terms),
    debits,
    agent_id: agentId,
    subject_id: subjectId,
    command_id,
    parties: partiesOf(principal, agent_id, initiator),
    forward_approval: forwardApproval,
    attempt,
  };
  const posing = isPosing ? [uncountedExcess(capability)] : [];
  const exceeded = [...posing, ...(isCompensation ? ceilingExcess : excessOf)(debits, bounds)];
  if (exceeded.length === 0)
    return {
      kind: 'recorded',
      outcome: { reservation_id: id, phase: 'reserved', debits },
      event: { type: 'BudgetReserved', body: { ...base, settle_by: bounds.now + policy.settleWithinMs } },
    };
  return isUnsaid(objective)
    ? rejected('OBJECTIVE_MISSING', `it exceeds ${named(exceeded)}: nobody is asked without an objective`)
    : escalated(base, exceeded, { ...policy, requestedBy: principal }, bounds.now);
}

/** Bounds, as a person reads them. */
function named(exceeded: readonly Excess[]): string {
  return exceeded.map(({ scope, measure, currency }) => `the ${scope}'s ${measure} ${currency}`.trim()).join(', ');
}

/** Asks a person. */
function escalated(
  base: Omit<BodyOf<'recourse.budgets', 'BudgetReserved'>, 'settle_by'>,
  exceeded: readonly Excess[],
  { owner, deadlineMs, requestedBy }: EscalationPolicy & { readonly requestedBy: string },
  now: number,
): BudgetAnswer<ReservationTold> {
  const { reservation_id: id, debits } = base;
  const escalation = { escalation_id: escalationIdOf(id), exceeded };
  const asked = { requested_by: requestedBy, owner, deadline_at: now + deadlineMs };
  return {
    kind: 'recorded',
    outcome: { reservation_id: id, phase: 'escalated', debits, ...escalation, deadline_at: asked.deadline_at },
    event: { type: 'BudgetEscalated', body: { ...base, ...escalation, ...asked } },
  };
}

function reservedBefore(
  command: BudgetCommand<'ReserveBudget'>,
  reservation: Reservation,
  { agentId, askedAbout, isCompensation, forwardApproval }: ReserveFacts,
): BudgetAnswer<ReservationTold> {
  const { phase, debits, asked: before = debits, agent_id: reservedFor } = reservation;
  const same =
    before.length === command.values.length &&
    command.values.every(({ currency, amount_minor }) =>
      before.some((one) => one.currency === currency && one.value_minor === amount_minor),
    );
  // Whoever takes an effect back does so in a name of their own; anybody else who used it would be blamed for it.
  const isTheirs = isCompensation || reservedFor === null || personKey(reservedFor) === personKey(agentId);
  if (!isTheirs || reservation.capability !== command.capability || (phase !== 'refunded' && !same))
    return rejected('RESERVATION_CONFLICT', 'this effect was reserved for another agent, capability or value');
  if (phase === 'denied') return rejected('RESERVATION_DENIED', 'nobody let this reservation through');
  const escalation_id = escalationIdOf(reservation.reservation_id);
  const asked = phase === 'escalated' ? { escalation_id, exceeded: askedAbout } : {};
  const outcome = { ...shown(reservation), ...asked };
  const attempt = laterAttempt(command.attempt, reservation);
  if (attempt === null) return { kind: 'unchanged', phase, outcome };
  const by = { attempt, command_id: command.envelope.command_id, forward_approval: forwardApproval };
  return { kind: 'recorded', outcome, event: retried(reservation, by) };
}

/** A later attempt goes on with what one before it holds, or is asked about (T1). */
function retried(
  { reservation_id, tenant, run_id, effect_key }: Reservation,
  by: Pick<BodyOf<'recourse.budgets', 'BudgetRetried'>, 'attempt' | 'command_id' | 'forward_approval'>,
): BudgetRecord {
  return { type: 'BudgetRetried', body: { reservation_id, tenant, run_id, effect_key, ...by } };
}

/** Gives back what is reserved for an effect; an escalation that nobody decided is withdrawn. */
export function decideRelease(
  { envelope: asker, attempt }: BudgetCommand<'ReleaseReservation'>,
  reservation: Reservation | null,
): BudgetAnswer<ReservationTold> {
  const unfit = unfitAttempt(attempt);
  if (unfit !== null) return unfit;
  if (reservation === null) return rejected('RESERVATION_UNKNOWN', 'nothing was reserved for this effect');
  if (!isAmong(reservation.parties ?? [], asker) && !asker.roles.includes(LAST_RESORT_ROLE))
    return rejected('RESERVATION_OF_ANOTHER', 'a reservation is given back by whoever made it, or by an administrator');
  const { phase, reservation_id, tenant, run_id, effect_key } = reservation;
  if (phase === 'released' || isGivenBackLate(attempt, reservation))
    return { kind: 'unchanged', phase, outcome: shown(reservation) };
  if (phase !== 'reserved' && phase !== 'escalated')
    return rejected('RESERVATION_WRONG_PHASE', `the reservation is ${phase}`, { phase });
  const debits = phase === 'reserved' ? reservation.debits : [];
  return {
    kind: 'recorded',
    outcome: { reservation_id, phase: 'released', debits },
    event: { type: 'BudgetReleased', body: { reservation_id, tenant, run_id, effect_key, debits, cause: 'command' } },
  };
}

function shown({ reservation_id, phase, debits }: Reservation): ReservationTold {
  return { reservation_id, phase, debits };
}
