// What each record of the budgets log changes. Holds no rules; reads the record and rows of earlier records.
import { briefOf } from '@recourse/contract';
import { together } from '@recourse/event-log';
import type { Change, Folds, StateView } from '@recourse/event-log';
import { deriveId, InvariantViolation } from '@recourse/kernel';
import type { BodyOf, RecordTypeOf } from '@recourse/messages';
import { escalationIdOf } from './rules/budget/budget.decider.js';
import { autonomyChanged, told } from './rows/autonomy.rows.js';
import { outcomeCounted, recoveryCosted } from './rows/outcome.rows.js';
import { budgets, debitedUnder, escalations, reservations, standingBudget } from './rows/kinds.js';
import type { BudgetKey } from './rows/kinds.js';
import type { Escalation, Reservation } from './rules/budget/budget.messages.js';
import { reservationPhaseAfter } from './rules/budget/budget.transitions.js';
import type { ReservationEvent } from './rules/budget/budget.transitions.js';

type Body<Type extends RecordTypeOf<'recourse.budgets'>> = BodyOf<'recourse.budgets', Type>;
type ReservationBody = Pick<Body<'BudgetReleased'>, 'reservation_id' | 'tenant' | 'run_id' | 'effect_key' | 'debit'>;

/** What each record of the log changes. */
export const EVOLVE: Folds<'recourse.budgets'> = {
  BudgetOpened: opened,
  BudgetReserved: (body, state) =>
    moved(state, body, 'Reserved', { ...asked(body), settle_by: body.settle_by }, body.debit.amount_minor),
  BudgetOverdue: overdue,
  BudgetEscalated: (body, state) => [
    ...moved(state, body, 'Escalated', asked(body), 0),
    raised(body, 'ceiling', { ...body, contract_digest: hexOf(body.contract_digest) }),
  ],
  EscalationDecided: decided,
  BudgetSettled: settled,
  BudgetOverrun: overrun,
  BudgetReleased: (body, state) => [
    ...moved(state, body, 'Released', {}, -body.debit.amount_minor),
    ...withdrawn(state, body.reservation_id),
  ],
  BudgetDebited: together(
    (body, state) => [
      ...moved(state, body, 'Debited', debitOf(body), body.debit.amount_minor),
      ...withdrawn(state, body.reservation_id),
    ],
    recoveryCosted,
  ),
  BudgetRefunded: (body, state) => moved(state, body, 'Refunded', {}, -body.debit.amount_minor),
  AutonomyChanged: autonomyChanged,
  SignalRefused: ({ told_id, content_hash }) => [told(told_id, content_hash)],
  OutcomeCounted: outcomeCounted,
};

function opened(body: Body<'BudgetOpened'>, state: StateView): readonly Change[] {
  const { tenant, scope, scope_id, currency, ceiling_minor } = body;
  return [budgets.put({ ...standingBudget(state, { tenant, scope, scope_id, currency }), ceiling_minor })];
}

function decided(body: Body<'EscalationDecided'>, state: StateView): readonly Change[] {
  const escalation = escalations.find(state, body.escalation_id);
  if (escalation === null)
    throw new InvariantViolation('an escalation is raised before it is decided', body.escalation_id);
  const { approved, by: decided_by, reason, settle_by, debit } = body;
  const [phase, event, delta] = approved
    ? (['approved', 'Approved', debit.amount_minor] as const)
    : (['denied', 'Denied', 0] as const);
  return [
    ...(escalation.about === 'unsettled' ? kept(state, body) : moved(state, body, event, { settle_by }, delta)),
    escalations.put({ ...escalation, phase, decided_by, reason }),
  ];
}

/** A reservation that a person lets stand has a deadline again; one that is given back says so in a record of its own. */
function kept(state: StateView, body: Body<'EscalationDecided'>): readonly Change[] {
  const standing = reservations.find(state, body.reservation_id);
  return standing?.phase === 'reserved' ? [reservations.put({ ...standing, settle_by: body.settle_by })] : [];
}

/** Opens the question about a reservation nobody used, or passes an open one on. */
function overdue(body: Body<'BudgetOverdue'>, state: StateView): readonly Change[] {
  const { reservation_id, owner, deadline_at } = body;
  const escalation = escalations.find(state, escalationIdOf(reservation_id));
  if (escalation?.phase === 'open') return [escalations.put({ ...escalation, owner, deadline_at, is_overdue: true })];
  const standing = reservations.find(state, reservation_id);
  if (standing === null) throw new InvariantViolation('a reservation is made before it is overdue', reservation_id);
  const asked = {
    requested_by: escalation?.requested_by ?? null,
    parties: standing.parties ?? [],
    contract_digest: standing.contract_digest,
    brief: standing.brief ?? briefOf(null, null),
  };
  return [reservations.put({ ...standing, settle_by: null }), raised(body, 'unsettled', asked)];
}

type Question = Pick<Body<'BudgetOverdue'>, 'owner' | 'deadline_at'> & ReservationBody;
type Asked = Required<Pick<Escalation, 'requested_by' | 'parties' | 'contract_digest' | 'brief'>> &
  Partial<Pick<Escalation, 'exceeded'>>;

/** A question about a reservation, open from now on. */
function raised(
  { reservation_id, tenant, run_id, effect_key, debit, owner, deadline_at }: Question,
  about: Escalation['about'],
  { exceeded = null, requested_by, parties, contract_digest, brief }: Asked,
): Change {
  return escalations.put({
    escalation_id: escalationIdOf(reservation_id),
    reservation_id,
    tenant,
    run_id,
    effect_key,
    about,
    brief,
    parties,
    contract_digest,
    exceeded,
    ...debitOf({ debit }),
    requested_by,
    owner,
    deadline_at,
    is_overdue: false,
    phase: 'open',
    decided_by: null,
    reason: null,
  });
}

function settled(body: Body<'BudgetSettled'>, state: StateView): readonly Change[] {
  const held = reservations.find(state, body.reservation_id)?.debit_minor ?? 0;
  return [
    ...moved(state, body, 'Settled', { debit_minor: body.debit.amount_minor }, body.debit.amount_minor - held),
    ...withdrawn(state, body.reservation_id),
  ];
}

function overrun(body: Body<'BudgetOverrun'>, state: StateView): readonly Change[] {
  const standing = reservations.find(state, body.reservation_id);
  const kept = standing?.phase === 'settled' && standing.currency === body.debit.currency ? standing.debit_minor : 0;
  const contract_digest = hexOf(body.contract_digest) ?? standing?.contract_digest ?? null;
  const change = {
    brief: body.brief,
    contract_digest,
    debit_minor: kept + body.debit.amount_minor,
    currency: body.debit.currency,
  };
  const escalation = escalations.find(state, escalationIdOf(body.reservation_id));
  return [
    ...moved(state, body, 'Overrun', change, body.debit.amount_minor),
    raised(body, 'overrun', {
      requested_by: escalation?.requested_by ?? null,
      parties: body.parties,
      contract_digest,
      brief: body.brief,
    }),
  ];
}

function withdrawn(state: StateView, reservationId: string): readonly Change[] {
  const escalation = escalations.find(state, escalationIdOf(reservationId));
  return escalation?.phase === 'open' ? [escalations.put({ ...escalation, phase: 'withdrawn' })] : [];
}

/** Moves a reservation on and counts `deltaMinor` at its run and its tenant. */
function moved(
  state: StateView,
  body: ReservationBody,
  event: ReservationEvent,
  change: Partial<Reservation>,
  deltaMinor: number,
): readonly Change[] {
  const standing = reservations.find(state, body.reservation_id);
  const next = {
    ...(standing ?? emptyReservation(body)),
    ...change,
    phase: reservationPhaseAfter(standing?.phase ?? 'absent', event),
  };
  return [
    reservations.put(next.phase === 'reserved' ? next : { ...next, settle_by: null }),
    ...(standing === null ? [debitedUnder(next)] : []),
    ...(deltaMinor === 0 && event !== 'Overrun' ? [] : counted(state, body, deltaMinor, event === 'Overrun')),
  ];
}

/** Counts at the run and its tenant. */
function counted(
  state: StateView,
  { tenant, run_id, debit: { currency } }: ReservationBody,
  deltaMinor: number,
  isOverrun: boolean,
): readonly Change[] {
  const keys: readonly BudgetKey[] = [
    { tenant, scope: 'run', scope_id: run_id, currency },
    { tenant, scope: 'tenant', scope_id: tenant, currency },
  ];
  return keys.map((key) => {
    const budget = standingBudget(state, key);
    // Rows hold safe integers: overruns that add up beyond them stay at the largest.
    const used = Math.min(budget.used_minor + deltaMinor, Number.MAX_SAFE_INTEGER);
    return budgets.put({ ...budget, used_minor: used, overrun: budget.overrun || isOverrun });
  });
}

function asked(body: Body<'BudgetReserved'> | Body<'BudgetEscalated'>): Partial<Reservation> {
  return {
    capability: body.capability,
    value_minor: body.value?.amount_minor ?? null,
    ...debitOf(body),
    parties: body.parties,
    contract_digest: hexOf(body.contract_digest),
    brief: body.brief,
  };
}

function hexOf(digest: Buffer | null): string | null {
  return digest?.toString('hex') ?? null;
}

function debitOf({ debit }: Pick<ReservationBody, 'debit'>): Pick<Reservation, 'debit_minor' | 'currency'> {
  return { debit_minor: debit.amount_minor, currency: debit.currency };
}

function emptyReservation({ reservation_id, tenant, run_id, effect_key, debit }: ReservationBody): Reservation {
  // The same derivation as the ledger's, so that a cancellation finds a reservation nothing was executed under.
  const mutation_id = deriveId('mut', tenant, run_id, effect_key);
  return {
    reservation_id,
    mutation_id,
    tenant,
    run_id,
    effect_key,
    capability: null,
    value_minor: null,
    debit_minor: 0,
    currency: debit.currency,
    phase: 'absent',
    contract_digest: null,
    brief: null,
    settle_by: null,
  };
}
