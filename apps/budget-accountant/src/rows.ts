// What each record of the budgets log changes. Holds no rules; reads the record and rows of earlier records.
import { briefOf } from '@recourse/contract';
import { foldEach } from '@recourse/event-log';
import type { Change, Folds, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { BodyOf, Debit, RecordTypeOf } from '@recourse/messages';
import { fallen, opened, proposed } from './rows/ceilings.js';
import { escalationIdOf } from './rules/budget/budget.decider.js';
import { isOfRung } from './rules/budget/approval.decisions.js';
import { beyond, isUncounted, negated, plus } from './rules/budget/bounds.decisions.js';
import { countedInstead } from './rows/counters.js';
import { budgets, escalations, isCompensation, reservations, withOverruns } from './rows/kinds.js';
import { autonomyChanged, told } from './rows/autonomy.rows.js';
import { outcomeCounted, recoveryCosted } from './rows/outcome.rows.js';
import { asked, done, hexOf, moved, noted } from './rows/reservation.rows.js';
import type { At, ReservationBody } from './rows/reservation.rows.js';
import type { BudgetRecord, Escalation } from './rules/budget/budget.messages.js';
import { DONE_PHASES, HOLDING_PHASES } from './rules/budget/budget.transitions.js';

type Body<Type extends RecordTypeOf<'recourse.budgets'>> = BodyOf<'recourse.budgets', Type>;

/** What each record of the log changes. */
export const EVOLVE: Folds<'recourse.budgets'> = {
  BudgetOpened: opened,
  CeilingProposed: proposed,
  CeilingMoved: fallen,
  BudgetReserved: (body, state, record) =>
    moved(state, body, record, {
      event: 'Reserved',
      change: { ...asked(body), settle_by: body.settle_by },
      counting: { debits: body.debits, calls: 1 },
    }),
  BudgetRetried: ({ attempt, forward_approval, ...body }, state, record) =>
    moved(state, body, record, { event: 'Retried', change: { attempt, forward_approval } }),
  BudgetOverdue: overdue,
  BudgetEscalated: (body, state, record) => [
    ...moved(state, body, record, { event: 'Escalated', change: asked(body) }),
    raised(body, 'ceiling', { ...body, contract_digest: hexOf(body.contract_digest) }),
  ],
  EscalationDecided: decided,
  BudgetSettled: settled,
  BudgetOverrun: overrun,
  BudgetReleased: (body, state, record) => [
    ...moved(state, body, record, {
      event: 'Released',
      counting: { debits: negated(body.debits), calls: isHeld(state, body) ? -1 : 0 },
    }),
    ...withdrawn(state, body.reservation_id),
  ],
  BudgetDebited: (body, state, record) => [
    ...moved(state, body, record, {
      event: 'Debited',
      change: done(body, reservations.find(state, body.reservation_id)),
      counting: { debits: body.debits, calls: 1 },
    }),
    ...withdrawn(state, body.reservation_id),
    ...(body.reverses_mutation_id === null ? [] : recoveryCosted(body)),
  ],
  BudgetRefunded: refunded,
  ForwardApprovalNoted: noted,
  AutonomyChanged: autonomyChanged,
  SignalRefused: ({ told_id, content_hash }) => [told(told_id, content_hash)],
  OutcomeCounted: outcomeCounted,
};

type DebtFold = (body: BudgetRecord['body'], state: StateView, record: At) => readonly Change[];

/** What a record of a debt changes that is decided and not accepted yet: its fold asks no more of its acceptance than when. */
export function changesOf({ type, body }: BudgetRecord, state: StateView, decidedAt: number): readonly Change[] {
  const fold = EVOLVE[type as keyof typeof EVOLVE] as DebtFold; // of its type
  return fold(body, state, { decidedAt });
}

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
  return moved(state, body, record, {
    event: body.approved ? 'Approved' : 'Denied',
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
  const standing = reservations.find(state, body.reservation_id);
  const { debits, expires_at, awaited, capability, subject_id, asked: before } = body;
  const done = capability === null ? {} : { capability, subject_id };
  const moves = (rows: StateView): readonly Change[] =>
    moved(rows, body, record, {
      event: 'Settled',
      change: { debits, expires_at, awaited, ...done, ...(before === null ? {} : { asked: before }) },
      counting: { debits: plus(debits, negated(standing?.debits ?? [])), calls: 0 },
    });
  // What was executed in its place is a call of its own, and what was reserved is none.
  const instead = (rows: StateView): readonly Change[] =>
    standing === null || capability === null ? [] : countedInstead(rows, standing, { ...standing, ...done });
  return [
    ...foldEach(state, [instead, moves], (step, rows) => step(rows)),
    ...withdrawn(state, body.reservation_id),
    ...(isCompensation(state, body.effect_key) ? recoveryCosted(body) : []),
  ];
}

function overrun(body: Body<'BudgetOverrun'>, state: StateView, record: At): readonly Change[] {
  const standing = reservations.find(state, body.reservation_id);
  const isPart = standing !== null && DONE_PHASES.includes(standing.phase);
  const contract_digest = hexOf(body.contract_digest) ?? standing?.contract_digest ?? null;
  const before = isPart ? standing.debits : [];
  const debits = plus(before, body.debits);
  const change = {
    ...done(body, standing),
    brief: body.brief,
    contract_digest,
    debits,
    ...(isOfRung(body.exceeded) ? { awaited: null } : {}),
  };
  const escalation = escalations.find(state, escalationIdOf(body.reservation_id));
  // What only had the key of a compensation took nothing back, and what was settled of it is no cost.
  const isPosing = isUncounted(body.exceeded);
  return [
    ...moved(state, body, record, {
      event: 'Overrun',
      change,
      counting: { debits: body.debits, calls: isPart ? 0 : 1, isOverrun: true },
    }),
    ...(isOpenOverrun(escalation) ? [] : [withOverruns(state, body.tenant, body.run_id, 1)]),
    raised(body, 'overrun', {
      requested_by: escalation?.requested_by ?? null,
      parties: body.parties,
      agent_id: body.agent_id,
      capability: body.capability,
      exceeded: body.exceeded,
      contract_digest,
      brief: body.brief,
    }),
    ...(isCompensation(state, body.effect_key)
      ? recoveryCosted({ ...body, debits: isPosing ? nothingOf(before) : debits })
      : []),
  ];
}

function nothingOf(debits: readonly Debit[]): readonly Debit[] {
  return debits.map((one) => ({ ...one, debit_minor: 0 }));
}

/** Is there an overrun of this effect already that no person has let stand? Its run is held up by it once. */
function isOpenOverrun(escalation: Escalation | null): boolean {
  return escalation?.about === 'overrun' && escalation.phase !== 'approved';
}

/** All of a run count at the same budgets. */
function refunded({ members, ...of }: Body<'BudgetRefunded'>, state: StateView, record: At): readonly Change[] {
  const refundedOne = ({ debits, ...member }: (typeof members)[number], rows: StateView): readonly Change[] =>
    moved(rows, { ...of, ...member }, record, {
      event: 'Refunded',
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
