// Decides commands about ceilings, reservations and escalations. Amounts are minor units.
import { briefOf, EXPOSURE, isUnsaid, reservationId, weighted } from '@recourse/contract';
import type { BriefTerms } from '@recourse/contract';
import { deriveId, isAmong, isPerson } from '@recourse/kernel';
import type { BodyOf, CommandEnvelope, Money } from '@recourse/messages';
import { APPROVER_ROLE, LAST_RESORT_ROLE } from './budget.messages.js';
import type {
  Budget,
  BudgetAnswer,
  BudgetCommand,
  BudgetRecord,
  BudgetRejectionCode,
  Escalation,
  EscalationPolicy,
  Reservation,
} from './budget.messages.js';

/** The budgets a debit counts against; null where none was opened or used. */
export interface Scopes {
  readonly run: Budget | null;
  readonly tenant: Budget | null;
}

/** A ceiling that a debit would exceed. */
export interface Exceeded {
  readonly scope: 'run' | 'tenant';
  readonly usedMinor: number;
  readonly ceilingMinor: number;
}

/** Id of the question about a reservation. */
export function escalationIdOf(reservationId: string): string {
  return deriveId('esc', reservationId);
}

/**
 * Names the first ceiling a debit would exceed; null when it fits.
 *
 * Shape:  a scope without ceiling bounds nothing, but disclosures that no scope bounds have the ceiling 0 (A81). Equality passes (A75).
 */
export function exceededBy({ amount_minor: debitMinor, currency: unit }: Money, scopes: Scopes): Exceeded | null {
  const isUnbounded = (scopes.run?.ceiling_minor ?? null) === null && (scopes.tenant?.ceiling_minor ?? null) === null;
  if (unit === EXPOSURE && isUnbounded && debitMinor > 0)
    return { scope: 'run', usedMinor: scopes.run?.used_minor ?? 0, ceilingMinor: 0 };
  for (const scope of ['run', 'tenant'] as const) {
    const budget = scopes[scope];
    if (budget === null || budget.ceiling_minor === null) continue;
    if (budget.used_minor + debitMinor > budget.ceiling_minor)
      return { scope, usedMinor: budget.used_minor, ceilingMinor: budget.ceiling_minor };
  }
  return null;
}

/** Sets the ceiling of a scope; a ceiling once set is not set otherwise by asking again. */
export function decideOpen(command: BudgetCommand<'OpenBudget'>, budget: Budget | null): BudgetAnswer {
  const { envelope, scope, scope_id, currency, ceiling_minor } = command;
  const { tenant, principal: by, command_id } = envelope;
  if (scope === 'tenant' && scope_id !== tenant)
    return rejected('SCOPE_MISMATCH', 'the scope of a tenant budget is the tenant of the command');
  const unfit = unfitMoney(ceiling_minor, currency);
  if (unfit !== null) return unfit;
  const outcome = { tenant, scope, scope_id, currency, ceiling_minor };
  if (budget !== null && budget.ceiling_minor !== null) {
    return budget.ceiling_minor === ceiling_minor
      ? { kind: 'unchanged', phase: null, outcome }
      : rejected('BUDGET_CONFLICT', `its ceiling is ${budget.ceiling_minor}`);
  }
  return {
    kind: 'recorded',
    outcome,
    event: { type: 'BudgetOpened', body: { ...outcome, by, command_id } },
  };
}

/** What a reservation is decided on, beside the command. */
export interface ReserveFacts {
  readonly reservation: Reservation | null;
  readonly scopes: Scopes;
  /** Weight of the capability's value in the debt. */
  readonly weight: number;
  /** Terms of its contract; null without one. */
  readonly terms: BriefTerms | null;
  readonly policy: EscalationPolicy;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Reserves a debit, or escalates it to a person when it would exceed a ceiling. */
export function decideReserve(command: BudgetCommand<'ReserveBudget'>, facts: ReserveFacts): BudgetAnswer {
  const unfit = unfitMoney(command.value.amount_minor, command.value.currency);
  if (unfit !== null) return unfit;
  const { reservation } = facts;
  if (reservation !== null && reservation.phase !== 'released') return reservedBefore(command, reservation);
  // What is disclosed stays disclosed, whatever the class.
  const debit = weighted(command.value, command.value.currency === EXPOSURE ? 1 : facts.weight);
  const used = Math.max(facts.scopes.run?.used_minor ?? 0, facts.scopes.tenant?.used_minor ?? 0);
  if (!Number.isSafeInteger(used + debit.amount_minor)) return rejected('AMOUNT_INVALID', 'the sum cannot be counted');
  return reserved(command, facts, debit);
}

function reserved(
  command: BudgetCommand<'ReserveBudget'>,
  { scopes, terms, policy, now }: ReserveFacts,
  debit: Money,
): BudgetAnswer {
  const { envelope, run_id, effect_key, capability, value, agent_id, initiator, objective } = command;
  const { tenant, principal, command_id } = envelope;
  const parties = partiesOf(principal, agent_id, initiator);
  const id = reservationId(tenant, run_id, effect_key, value.currency);
  const brief = briefOf(objective, terms);
  const base = { reservation_id: id, tenant, run_id, effect_key, brief, capability, value, debit, command_id, parties };
  const exceeded = exceededBy(debit, scopes);
  if (exceeded === null)
    return {
      kind: 'recorded',
      outcome: { reservation_id: id, phase: 'reserved', debit },
      event: { type: 'BudgetReserved', body: { ...base, settle_by: now + policy.settleWithinMs } },
    };
  return isUnsaid(objective)
    ? rejected(
        'OBJECTIVE_MISSING',
        `it exceeds the ceiling of its ${exceeded.scope}: nobody is asked without an objective`,
      )
    : escalated(base, exceeded, { ...policy, requestedBy: principal }, now);
}

/** Asks a person. */
function escalated(
  base: Omit<BodyOf<'recourse.budgets', 'BudgetReserved'>, 'settle_by'>,
  exceeded: Exceeded,
  { owner, deadlineMs, requestedBy }: EscalationPolicy & { readonly requestedBy: string },
  now: number,
): BudgetAnswer {
  const { reservation_id: id, debit } = base;
  const escalation = {
    escalation_id: escalationIdOf(id),
    exceeded: exceeded.scope,
    used_minor: exceeded.usedMinor,
    ceiling_minor: exceeded.ceilingMinor,
  };
  return {
    kind: 'recorded',
    outcome: { reservation_id: id, phase: 'escalated', debit, ...escalation },
    event: {
      type: 'BudgetEscalated',
      body: {
        ...base,
        ...escalation,
        requested_by: requestedBy,
        owner,
        deadline_at: now + deadlineMs,
      },
    },
  };
}

function reservedBefore(command: BudgetCommand<'ReserveBudget'>, reservation: Reservation): BudgetAnswer {
  const { phase } = reservation;
  const sameValue =
    reservation.value_minor === command.value.amount_minor && reservation.currency === command.value.currency;
  if (reservation.capability !== null && (reservation.capability !== command.capability || !sameValue)) {
    return rejected('RESERVATION_CONFLICT', 'this effect was reserved with another capability or value');
  }
  if (phase === 'denied') return rejected('RESERVATION_DENIED', 'a person denied this reservation');
  const asked = phase === 'escalated' ? { escalation_id: escalationIdOf(reservation.reservation_id) } : {};
  return { kind: 'unchanged', phase, outcome: { ...shown(reservation), ...asked } };
}

/** Gives back what is reserved for an effect, its money and what it would disclose; an escalation that nobody decided is withdrawn. */
export function decideRelease(asker: CommandEnvelope, held: readonly Reservation[]): BudgetAnswer {
  const isTheirs = held.every(({ parties = [] }) => isAmong(parties, asker));
  if (!isTheirs && !asker.roles.includes(LAST_RESORT_ROLE))
    return rejected('RESERVATION_OF_ANOTHER', 'a reservation is given back by whoever made it, or by an administrator');
  const answers = held.map(givenBack);
  const [first, second] = answers.filter((answer) => answer.kind === 'recorded');
  if (first === undefined) return answers[0] ?? rejected('RESERVATION_UNKNOWN', 'nothing was reserved for this effect');
  return second === undefined ? first : { ...first, also: second.event };
}

function givenBack(reservation: Reservation): BudgetAnswer {
  const { phase } = reservation;
  if (phase === 'released') return { kind: 'unchanged', phase, outcome: shown(reservation) };
  if (phase !== 'reserved' && phase !== 'escalated')
    return rejected('RESERVATION_WRONG_PHASE', `the reservation is ${phase}`, { phase });
  const debit = { amount_minor: phase === 'reserved' ? reservation.debit_minor : 0, currency: reservation.currency };
  const { reservation_id, tenant, run_id, effect_key } = reservation;
  return {
    kind: 'recorded',
    outcome: { reservation_id, phase: 'released', debit },
    event: { type: 'BudgetReleased', body: { reservation_id, tenant, run_id, effect_key, debit, cause: 'command' } },
  };
}

/** What a word on an escalation is decided on, beside the command. */
export interface DecideFacts {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly policy: EscalationPolicy;
  /** Who answers for an agent, by its charter; null where it has none. */
  readonly ownerOf: (agent: string) => string | null;
}

/** Different people and agents of a debit. */
export function partiesOf(...parties: readonly (string | null)[]): readonly string[] {
  return [...new Set(parties.filter((one) => one !== null))];
}

/** Who does not decide an escalation: its parties, and who answers for the agents among them (P5). */
function barredFrom(
  { requested_by, parties = [] }: Pick<Escalation, 'requested_by' | 'parties'>,
  ownerOf: DecideFacts['ownerOf'],
): readonly string[] {
  const own = partiesOf(requested_by, ...parties);
  return partiesOf(...own, ...own.map(ownerOf));
}

/** Why a person's word on an escalation does not count. */
function refusalOf(
  { envelope: asker, approved }: BudgetCommand<'DecideEscalation'>,
  escalation: Escalation,
  ownerOf: DecideFacts['ownerOf'],
): BudgetAnswer | null {
  if (escalation.tenant !== asker.tenant) return rejected('ESCALATION_UNKNOWN', 'there is no such escalation');
  if (isAmong(barredFrom(escalation, ownerOf), asker))
    return rejected(
      'SELF_APPROVAL',
      'nobody decides what they asked for, what is done on their behalf, or what their agent spends',
    );
  return !approved || isPerson(asker.principal)
    ? null
    : rejected('APPROVER_NOT_A_PERSON', 'only a person lets more be spent: no agent, no service account, no role');
}

/**
 * Takes a person's word on an escalation.
 *
 * Shape:  a ceiling: approved is debited once. An overrun: nothing more is debited. A reservation nobody used: approved, it
 *         stands for another while; denied, it is given back.
 */
export function decideEscalation(
  command: BudgetCommand<'DecideEscalation'>,
  escalation: Escalation | null,
  { now, policy, ownerOf }: DecideFacts,
): BudgetAnswer {
  const { envelope: asker, approved, reason } = command;
  const roles = escalation?.is_overdue === true ? [APPROVER_ROLE, LAST_RESORT_ROLE] : [APPROVER_ROLE];
  if (!roles.some((role) => asker.roles.includes(role)))
    return rejected('ROLE_REQUIRED', 'escalations are decided by an approver');
  if (escalation === null) return rejected('ESCALATION_UNKNOWN', 'there is no such escalation');
  const refusal = refusalOf(command, escalation, ownerOf);
  if (refusal !== null) return refusal;
  const { escalation_id, reservation_id, tenant, run_id, effect_key, currency, about, phase } = escalation;
  const outcome = { escalation_id, reservation_id, approved };
  if (phase !== 'open') {
    const same = phase === (approved ? 'approved' : 'denied') && escalation.decided_by === asker.principal;
    return same
      ? { kind: 'unchanged', phase: null, outcome }
      : rejected('ESCALATION_DECIDED', `it is ${phase}`, { phase });
  }
  const of = { reservation_id, tenant, run_id, effect_key };
  const debit = (amount_minor: number) => ({ amount_minor, currency });
  const event: BudgetRecord = {
    type: 'EscalationDecided',
    body: {
      ...of,
      escalation_id,
      approved,
      debit: debit(about === 'ceiling' ? escalation.debit_minor : 0),
      by: asker.principal,
      reason,
      command_id: asker.command_id,
      settle_by: approved && about !== 'overrun' ? now + policy.settleWithinMs : null,
    },
  };
  if (approved || about !== 'unsettled') return { kind: 'recorded', outcome, event };
  const freed = { ...of, debit: debit(escalation.debit_minor), cause: 'denied' } as const;
  return { kind: 'recorded', outcome, event, also: { type: 'BudgetReleased', body: freed } };
}

function shown({ reservation_id, phase, debit_minor, currency }: Reservation): Readonly<Record<string, unknown>> {
  return { reservation_id, phase, debit: { amount_minor: debit_minor, currency } };
}

/** A currency, or the unit of disclosures. */
export function isUnit(text: string): boolean {
  return text === EXPOSURE || /^[A-Z]{3}$/.test(text);
}

function unfitMoney(amountMinor: number, currency: string): BudgetAnswer | null {
  if (!Number.isSafeInteger(amountMinor) || amountMinor < 0)
    return rejected('AMOUNT_INVALID', 'amounts are whole numbers of minor units from 0');
  return isUnit(currency)
    ? null
    : rejected('CURRENCY_INVALID', `a currency is three capital letters; disclosures are counted in ${EXPOSURE}`);
}

function rejected(code: BudgetRejectionCode, message: string, facts?: Readonly<Record<string, string>>): BudgetAnswer {
  return { kind: 'rejected', rejection: facts === undefined ? { code, message } : { code, message, facts } };
}
