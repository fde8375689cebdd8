// Rows of the budgets log: what an accepted record changes. Holds no rules; reads the record and rows of earlier records.
import { EXPOSURE } from '@recourse/contract';
import type { AcceptedRecord, Change, Doc, KindSpec, StateView } from '@recourse/event-log';
import { deriveId, InvariantViolation } from '@recourse/kernel';
import type { BudgetScope, Money } from '@recourse/messages';
import { escalationIdOf } from '../domain/budget/budget.decider.js';
import type { Budget, BudgetEvent, Escalation, Reservation } from '../domain/budget/budget.messages.js';
import { reservationPhaseAfter } from '../domain/budget/budget.transitions.js';
import type { ReservationEvent } from '../domain/budget/budget.transitions.js';

type EventOf<Type extends BudgetEvent['type']> = Extract<BudgetEvent, { readonly type: Type }>['body'];
type ReservationBody = Exclude<BudgetEvent, { readonly type: 'BudgetOpened' }>['body'];

/** Kinds of rows; groups are ids, so that texts of any length address them. */
export const BUDGET_KINDS: readonly KindSpec[] = [
  {
    kind: 'budget',
    table: 'budgets',
    indexes: [['tenant', 'scope', 'scope_id']],
    columns: [
      text('tenant'),
      text('scope'),
      text('scope_id'),
      text('currency'),
      number('ceiling_minor'),
      number('used_minor'),
      flag('overrun'),
    ],
  },
  {
    kind: 'reservation',
    table: 'reservations',
    indexes: [['tenant', 'run_id'], ['phase']],
    columns: [
      text('reservation_id'),
      text('tenant'),
      text('run_id'),
      text('effect_key'),
      text('phase'),
      number('debit_minor'),
      text('currency'),
      text('mutation_id'),
    ],
  },
  {
    kind: 'escalation',
    table: 'escalations',
    indexes: [['tenant', 'phase', 'deadline_at']],
    columns: [
      text('escalation_id'),
      text('reservation_id'),
      text('tenant'),
      text('run_id'),
      text('about'),
      text('phase'),
      text('owner'),
      number('deadline_at'),
    ],
  },
  { kind: 'debited_mutation', table: 'debited_mutations', columns: [text('mutation_id'), text('reservation_id')] },
];

/** Group of the budget of a scope; its keys are currencies. */
export function budgetGroup(tenant: string, scope: BudgetScope, scopeId: string): string {
  return deriveId('bud', tenant, scope, scopeId);
}

// Rows of these kinds are written by evolve alone: they are what it put there.
export function readBudget(
  state: StateView,
  tenant: string,
  scope: BudgetScope,
  scopeId: string,
  currency: string,
): Budget | null {
  return (state.get('budget', budgetGroup(tenant, scope, scopeId), currency) as Budget | undefined) ?? null;
}

export function readReservation(state: StateView, id: string): Reservation | null {
  return (state.get('reservation', id, id) as Reservation | undefined) ?? null;
}
export function readEscalation(state: StateView, id: string): Escalation | null {
  return (state.get('escalation', id, id) as Escalation | undefined) ?? null;
}

/** Unit of every reservation that is none of disclosures, whatever its currency. */
export const MONEY = 'money';

/** Reservation a mutation was debited under in a unit; null when it was not. */
export function reservationOfMutation(state: StateView, mutationId: string, unit: string): Reservation | null {
  const index = state.get('debited_mutation', mutationId, unit === EXPOSURE ? EXPOSURE : mutationId);
  return index === undefined ? null : readReservation(state, String(index['reservation_id']));
}

/** Changes of an accepted record. */
export function evolveBudgets(state: StateView, record: AcceptedRecord): readonly Change[] {
  // The log's codec made the body from the schema of this type.
  const event = { type: record.type, body: record.body } as unknown as BudgetEvent;
  switch (event.type) {
    case 'BudgetOpened':
      return opened(state, event.body);
    case 'BudgetReserved':
      return moved(
        state,
        event.body,
        'Reserved',
        { ...asked(event.body), settle_by: event.body.settle_by },
        event.body.debit.amount_minor,
      );
    case 'BudgetOverdue':
      return overdue(state, event.body);
    case 'BudgetEscalated':
      return [...moved(state, event.body, 'Escalated', asked(event.body), 0), escalationPut(escalated(event.body))];
    case 'EscalationDecided':
      return decided(state, event.body);
    case 'BudgetSettled':
      return settled(state, event.body);
    case 'BudgetOverrun':
      return overrun(state, event.body);
    case 'BudgetReleased':
      return [
        ...moved(state, event.body, 'Released', {}, -event.body.debit.amount_minor),
        ...withdrawn(state, event.body.reservation_id),
      ];
    case 'BudgetRefunded':
      return moved(state, event.body, 'Refunded', {}, -event.body.debit.amount_minor);
    default:
      return [];
  }
}

function opened(state: StateView, body: EventOf<'BudgetOpened'>): readonly Change[] {
  const { tenant, scope, scope_id, currency, ceiling_minor } = body;
  const standing =
    readBudget(state, tenant, scope, scope_id, currency) ?? emptyBudget(tenant, scope, scope_id, currency);
  return [budgetPut({ ...standing, ceiling_minor })];
}

function decided(state: StateView, body: EventOf<'EscalationDecided'>): readonly Change[] {
  const escalation = readEscalation(state, body.escalation_id);
  if (escalation === null)
    throw new InvariantViolation('an escalation is raised before it is decided', body.escalation_id);
  const outcome = body.approved ? 'approved' : 'denied';
  return [
    ...(escalation.about === 'unsettled'
      ? kept(state, body)
      : moved(
          state,
          body,
          body.approved ? 'Approved' : 'Denied',
          { settle_by: body.settle_by },
          body.approved ? body.debit.amount_minor : 0,
        )),
    escalationPut({ ...escalation, phase: outcome, decided_by: body.by, reason: body.reason }),
  ];
}

/** A reservation that a person lets stand has a deadline again; one that is given back says so in a record of its own. */
function kept(state: StateView, body: EventOf<'EscalationDecided'>): readonly Change[] {
  const standing = readReservation(state, body.reservation_id);
  return standing?.phase === 'reserved' ? [reservationPut({ ...standing, settle_by: body.settle_by })] : [];
}

/** Opens the question about a reservation nobody used, or passes an open one on. */
function overdue(state: StateView, body: EventOf<'BudgetOverdue'>): readonly Change[] {
  const { reservation_id, owner, deadline_at } = body;
  const escalation = readEscalation(state, escalationIdOf(reservation_id));
  if (escalation?.phase === 'open') return [escalationPut({ ...escalation, owner, deadline_at, is_overdue: true })];
  const standing = readReservation(state, reservation_id);
  if (standing === null) throw new InvariantViolation('a reservation is made before it is overdue', reservation_id);
  return [reservationPut({ ...standing, settle_by: null }), escalationPut(unsettled(body, escalation))];
}

function unsettled(
  { escalation_id, reservation_id, tenant, run_id, effect_key, debit, owner, deadline_at }: EventOf<'BudgetOverdue'>,
  before: Escalation | null,
): Escalation {
  return {
    escalation_id,
    reservation_id,
    tenant,
    run_id,
    effect_key,
    about: 'unsettled',
    exceeded: null,
    debit_minor: debit.amount_minor,
    currency: debit.currency,
    requested_by: before?.requested_by ?? null,
    owner,
    deadline_at,
    is_overdue: false,
    phase: 'open',
    decided_by: null,
    reason: null,
  };
}

function settled(state: StateView, body: EventOf<'BudgetSettled'>): readonly Change[] {
  const held = readReservation(state, body.reservation_id)?.debit_minor ?? 0;
  return [
    ...moved(state, body, 'Settled', { debit_minor: body.debit.amount_minor }, body.debit.amount_minor - held),
    ...withdrawn(state, body.reservation_id),
  ];
}

function overrun(state: StateView, body: EventOf<'BudgetOverrun'>): readonly Change[] {
  const standing = readReservation(state, body.reservation_id);
  const kept = standing?.phase === 'settled' && standing.currency === body.debit.currency ? standing.debit_minor : 0;
  const change = { debit_minor: kept + body.debit.amount_minor, currency: body.debit.currency };
  const escalation = readEscalation(state, escalationIdOf(body.reservation_id));
  return [
    ...moved(state, body, 'Overrun', change, body.debit.amount_minor),
    escalationPut({
      escalation_id: escalationIdOf(body.reservation_id),
      reservation_id: body.reservation_id,
      tenant: body.tenant,
      run_id: body.run_id,
      effect_key: body.effect_key,
      about: 'overrun',
      exceeded: null,
      debit_minor: body.debit.amount_minor,
      currency: body.debit.currency,
      requested_by: escalation?.requested_by ?? null,
      owner: body.owner,
      deadline_at: body.deadline_at,
      is_overdue: false,
      phase: 'open',
      decided_by: null,
      reason: null,
    }),
  ];
}

function withdrawn(state: StateView, reservationId: string): readonly Change[] {
  const escalation = readEscalation(state, escalationIdOf(reservationId));
  return escalation?.phase === 'open' ? [escalationPut({ ...escalation, phase: 'withdrawn' })] : [];
}

/** Moves a reservation on and counts `deltaMinor` at its run and its tenant. */
function moved(
  state: StateView,
  body: ReservationBody,
  event: ReservationEvent,
  change: Partial<Reservation>,
  deltaMinor: number,
): readonly Change[] {
  const standing = readReservation(state, body.reservation_id);
  const next = {
    ...(standing ?? emptyReservation(body)),
    ...change,
    phase: reservationPhaseAfter(standing?.phase ?? 'absent', event),
  };
  return [
    reservationPut(next.phase === 'reserved' ? next : { ...next, settle_by: null }),
    ...(standing === null ? [debitedPut(next)] : []),
    ...(deltaMinor === 0 && event !== 'Overrun'
      ? []
      : counted(state, body, body.debit, deltaMinor, event === 'Overrun')),
  ];
}

function counted(
  state: StateView,
  { tenant, run_id }: ReservationBody,
  { currency }: Money,
  deltaMinor: number,
  isOverrun: boolean,
): readonly Change[] {
  return (
    [
      ['run', run_id],
      ['tenant', tenant],
    ] as const
  ).map(([scope, scopeId]) => {
    const budget = readBudget(state, tenant, scope, scopeId, currency) ?? emptyBudget(tenant, scope, scopeId, currency);
    // Rows hold safe integers: overruns that add up beyond them stay at the largest.
    const used = Math.min(budget.used_minor + deltaMinor, Number.MAX_SAFE_INTEGER);
    return budgetPut({ ...budget, used_minor: used, overrun: budget.overrun || isOverrun });
  });
}

function asked(body: EventOf<'BudgetReserved'> | EventOf<'BudgetEscalated'>): Partial<Reservation> {
  return {
    capability: body.capability,
    value_minor: body.value?.amount_minor ?? null,
    debit_minor: body.debit.amount_minor,
    currency: body.debit.currency,
  };
}

function escalated(body: EventOf<'BudgetEscalated'>): Escalation {
  const {
    escalation_id,
    reservation_id,
    tenant,
    run_id,
    effect_key,
    exceeded,
    requested_by,
    owner,
    deadline_at,
    debit,
  } = body;
  return {
    escalation_id,
    reservation_id,
    tenant,
    run_id,
    effect_key,
    about: 'ceiling',
    exceeded,
    debit_minor: debit.amount_minor,
    currency: debit.currency,
    requested_by,
    owner,
    deadline_at,
    is_overdue: false,
    phase: 'open',
    decided_by: null,
    reason: null,
  };
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
    settle_by: null,
  };
}

function emptyBudget(tenant: string, scope: BudgetScope, scope_id: string, currency: string): Budget {
  return { tenant, scope, scope_id, currency, ceiling_minor: null, used_minor: 0, overrun: false };
}

function budgetPut(budget: Budget): Change {
  return put('budget', budgetGroup(budget.tenant, budget.scope, budget.scope_id), budget, budget.currency);
}
function debitedPut({ mutation_id, reservation_id, currency }: Reservation): Change {
  return put(
    'debited_mutation',
    mutation_id,
    { mutation_id, reservation_id },
    currency === EXPOSURE ? EXPOSURE : mutation_id,
  );
}
function reservationPut(reservation: Reservation): Change {
  return put('reservation', reservation.reservation_id, reservation, reservation.reservation_id, reservation.settle_by);
}

/** An open question has a timer until it stands with its last owner. */
function escalationPut(escalation: Escalation): Change {
  const dueAt = escalation.phase === 'open' && !escalation.is_overdue ? escalation.deadline_at : null;
  return put('escalation', escalation.escalation_id, escalation, escalation.escalation_id, dueAt);
}

function put(kind: string, group: string, doc: object, key = group, dueAt: number | null = null): Change {
  return { op: 'put', row: { kind, group, key, dueAt, doc: doc as Doc } };
}

function text(name: string): KindSpec['columns'][number] {
  return { name, type: 'text', of: (row) => (row.doc[name] as string | null | undefined) ?? null };
}
function number(name: string): KindSpec['columns'][number] {
  return { name, type: 'bigint', of: (row) => (row.doc[name] as number | null | undefined) ?? null };
}
function flag(name: string): KindSpec['columns'][number] {
  return { name, type: 'boolean', of: (row) => row.doc[name] === true };
}
