// What each record of the budgets log changes. Holds no rules; reads the record and rows of earlier records.
import { briefOf } from '@recourse/contract';
import { foldEach, together } from '@recourse/event-log';
import type { AcceptedRecord, Change, Folds, StateView } from '@recourse/event-log';
import { deriveId, InvariantViolation } from '@recourse/kernel';
import type { BodyOf, Debit, RecordTypeOf } from '@recourse/messages';
import { fallen, opened, proposed } from './rows/ceilings.js';
import { counted, moreRaised, raisedAfter } from './rows/counters.js';
import { escalationIdOf } from './rules/budget/budget.decider.js';
import { beyond, negated, plus } from './rules/budget/bounds.decisions.js';
import { budgets, debitedUnder, escalations, reservations, withOverruns } from './rows/kinds.js';
import { autonomyChanged, told } from './rows/autonomy.rows.js';
import { outcomeCounted, recoveryCosted } from './rows/outcome.rows.js';
import { standingAfter } from './rows/standing.rows.js';
import type { Escalation, Reservation } from './rules/budget/budget.messages.js';
import { HOLDING_PHASES, reservationPhaseAfter } from './rules/budget/budget.transitions.js';
import type { ReservationEvent } from './rules/budget/budget.transitions.js';

type Body<Type extends RecordTypeOf<'recourse.budgets'>> = BodyOf<'recourse.budgets', Type>;
type ReservationBody = Pick<Body<'BudgetReleased'>, 'reservation_id' | 'tenant' | 'run_id' | 'effect_key'>;
type At = Pick<AcceptedRecord, 'decidedAt'>;

/** What each record of the log changes. */
export const EVOLVE: Folds<'recourse.budgets'> = {
  BudgetOpened: opened,
  CeilingProposed: proposed,
  CeilingMoved: fallen,
  BudgetReserved: (body, state, record) =>
    moved(state, body, record, 'Reserved', {
      change: { ...asked(body), settle_by: body.settle_by },
      counting: { debits: body.debits, calls: 1 },
    }),
  BudgetOverdue: overdue,
  BudgetEscalated: (body, state, record) => [
    ...moved(state, body, record, 'Escalated', { change: asked(body) }),
    raised(body, 'ceiling', { ...body, contract_digest: hexOf(body.contract_digest) }),
  ],
  EscalationDecided: decided,
  BudgetSettled: settled,
  BudgetOverrun: overrun,
  BudgetReleased: (body, state, record) => [
    ...moved(state, body, record, 'Released', {
      counting: { debits: negated(body.debits), calls: isHeld(state, body) ? -1 : 0 },
    }),
    ...withdrawn(state, body.reservation_id),
  ],
  BudgetDebited: together(
    (body: Body<'BudgetDebited'>, state, record) => [
      ...moved(state, body, record, 'Debited', {
        change: done(body, reservations.find(state, body.reservation_id)),
        counting: { debits: body.debits, calls: 1 },
      }),
      ...withdrawn(state, body.reservation_id),
    ],
    recoveryCosted,
  ),
  BudgetRefunded: refunded,
  AutonomyChanged: autonomyChanged,
  SignalRefused: ({ told_id, content_hash }) => [told(told_id, content_hash)],
  OutcomeCounted: outcomeCounted,
};

function decided(body: Body<'EscalationDecided'>, state: StateView, record: At): readonly Change[] {
  const escalation = escalations.find(state, body.escalation_id);
  if (escalation === null)
    throw new InvariantViolation('an escalation is raised before it is decided', body.escalation_id);
  const { approved, by: decided_by, reason, settle_by, debits } = body;
  const phase = approved ? 'approved' : 'denied';
  return [
    ...consequencesOf(state, { body, escalation, record, counting: { debits, calls: 1 }, settle_by }),
    ...(escalation.about === 'overrun' && approved ? [withOverruns(state, body.tenant, body.run_id, -1)] : []),
    escalations.put({ ...escalation, phase, decided_by, reason }),
  ];
}

interface Word {
  readonly body: Body<'EscalationDecided'>;
  readonly escalation: Escalation;
  readonly record: At;
  readonly counting: { readonly debits: readonly Debit[]; readonly calls: number };
  readonly settle_by: number | null;
}

/** What a word does to the reservation it is about. */
function consequencesOf(
  state: StateView,
  { body, escalation: { about }, record, counting, settle_by }: Word,
): readonly Change[] {
  if (about === 'raise') return [];
  if (about === 'unsettled') return kept(state, body);
  const isGranted = about === 'ceiling' && body.approved;
  return moved(state, body, record, body.approved ? 'Approved' : 'Denied', {
    change: { settle_by, ...(isGranted ? { raised: body.raised } : {}) },
    ...(isGranted ? { counting } : {}),
  });
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
    agent_id: standing.agent_id,
    capability: standing.capability,
    contract_digest: standing.contract_digest,
    brief: standing.brief ?? briefOf(null, null),
  };
  return [reservations.put({ ...standing, settle_by: null }), raised(body, 'unsettled', asked)];
}

type Question = Pick<Body<'BudgetOverdue'>, 'owner' | 'deadline_at' | 'debits'> & ReservationBody;
type Asked = Required<
  Pick<Escalation, 'requested_by' | 'parties' | 'contract_digest' | 'brief' | 'agent_id' | 'capability'>
> &
  Partial<Pick<Escalation, 'exceeded'>>;

/** A question about a reservation, open from now on. */
function raised(
  { reservation_id, tenant, run_id, effect_key, debits, owner, deadline_at }: Question,
  about: Escalation['about'],
  { exceeded = [], requested_by, parties, contract_digest, brief, agent_id, capability }: Asked,
): Change {
  return escalations.put({
    escalation_id: escalationIdOf(reservation_id),
    reservation_id,
    tenant,
    run_id,
    effect_key,
    about,
    proposal: null,
    agent_id,
    capability,
    brief,
    parties,
    contract_digest,
    exceeded,
    debits,
    requested_by,
    owner,
    deadline_at,
    is_overdue: false,
    phase: 'open',
    decided_by: null,
    reason: null,
  });
}

function settled(body: Body<'BudgetSettled'>, state: StateView, record: At): readonly Change[] {
  const held = reservations.find(state, body.reservation_id)?.debits ?? [];
  return [
    ...moved(state, body, record, 'Settled', {
      change: { debits: body.debits, expires_at: body.expires_at },
      counting: { debits: plus(body.debits, negated(held)), calls: 0 },
    }),
    ...withdrawn(state, body.reservation_id),
  ];
}

function overrun(body: Body<'BudgetOverrun'>, state: StateView, record: At): readonly Change[] {
  const standing = reservations.find(state, body.reservation_id);
  const isPart = standing?.phase === 'settled';
  const contract_digest = hexOf(body.contract_digest) ?? standing?.contract_digest ?? null;
  const change = {
    ...done(body, standing),
    brief: body.brief,
    contract_digest,
    debits: plus(isPart ? standing.debits : [], body.debits),
  };
  const escalation = escalations.find(state, escalationIdOf(body.reservation_id));
  return [
    ...moved(state, body, record, 'Overrun', {
      change,
      counting: { debits: body.debits, calls: isPart ? 0 : 1, isOverrun: true },
    }),
    withOverruns(state, body.tenant, body.run_id, 1),
    raised(body, 'overrun', {
      requested_by: escalation?.requested_by ?? null,
      parties: body.parties,
      agent_id: body.agent_id,
      capability: body.capability,
      exceeded: body.exceeded,
      contract_digest,
      brief: body.brief,
    }),
  ];
}

/** All of a run count at the same budgets. */
function refunded({ members, ...of }: Body<'BudgetRefunded'>, state: StateView, record: At): readonly Change[] {
  const refundedOne = ({ debits, ...member }: (typeof members)[number], rows: StateView): readonly Change[] =>
    moved(rows, { ...of, ...member }, record, 'Refunded', {
      change: { debits: beyond(reservations.find(rows, member.reservation_id)?.debits ?? [], debits) },
      counting: { debits: negated(debits), calls: 0, isRefund: true },
    });
  return foldEach(state, members, refundedOne, [budgets.listed]);
}

function withdrawn(state: StateView, reservationId: string): readonly Change[] {
  const escalation = escalations.find(state, escalationIdOf(reservationId));
  return escalation?.phase === 'open' ? [escalations.put({ ...escalation, phase: 'withdrawn' })] : [];
}

function isHeld(state: StateView, { reservation_id }: ReservationBody): boolean {
  return HOLDING_PHASES.includes(reservations.find(state, reservation_id)?.phase ?? 'absent');
}

interface Move {
  readonly change?: Partial<Reservation>;
  readonly counting?: { readonly debits: readonly Debit[]; readonly calls: number } & {
    readonly isOverrun?: boolean;
    readonly isRefund?: boolean;
  };
}

/** Moves a reservation on and counts what that adds at its accounts. */
function moved(
  state: StateView,
  body: ReservationBody,
  { decidedAt }: At,
  event: ReservationEvent,
  { change = {}, counting }: Move,
): readonly Change[] {
  const standing = reservations.find(state, body.reservation_id);
  const changed = { ...(standing ?? emptyReservation(body)), ...change };
  const next = {
    ...changed,
    counted_at: changed.counted_at ?? (counting === undefined ? null : decidedAt),
    phase: reservationPhaseAfter(standing?.phase ?? 'absent', event),
  };
  const raised = raisedAfter(next);
  const settle_by = next.phase === 'reserved' ? next.settle_by : null;
  return [
    reservations.put({ ...next, settle_by, ...(raised.length === 0 ? {} : { raised }) }),
    ...(standing === null ? [debitedUnder(next)] : []),
    ...standingAfter(state, standing, next),
    ...(counting === undefined
      ? []
      : counted(state, next, { ...counting, at: decidedAt, raised: moreRaised(standing?.raised ?? [], raised) })),
  ];
}

function asked(body: Body<'BudgetReserved'> | Body<'BudgetEscalated'>): Partial<Reservation> {
  const { capability, agent_id, subject_id, debits, parties, brief } = body;
  // Asked for anew, it is counted anew.
  return {
    capability,
    agent_id,
    subject_id,
    debits,
    parties,
    brief,
    counted_at: null,
    contract_digest: hexOf(body.contract_digest),
  };
}

/** What a record says of an effect that happened; it counts where it was reserved. */
function done(body: Body<'BudgetDebited'> | Body<'BudgetOverrun'>, standing: Reservation | null): Partial<Reservation> {
  const { debits, expires_at } = body;
  const { capability, agent_id, subject_id } = standing ?? body;
  return { capability, agent_id, subject_id, debits, expires_at };
}

function hexOf(digest: Buffer | null): string | null {
  return digest?.toString('hex') ?? null;
}

function emptyReservation({ reservation_id, tenant, run_id, effect_key }: ReservationBody): Reservation {
  // The same derivation as the ledger's, so that a cancellation finds a reservation nothing was executed under.
  const mutation_id = deriveId('mut', tenant, run_id, effect_key);
  return {
    reservation_id,
    mutation_id,
    tenant,
    run_id,
    effect_key,
    agent_id: null,
    capability: null,
    subject_id: null,
    debits: [],
    counted_at: null,
    expires_at: null,
    phase: 'absent',
    contract_digest: null,
    brief: null,
    settle_by: null,
  };
}
