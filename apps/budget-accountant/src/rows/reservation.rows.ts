// Rows of reservations: how one moves on, and what it counts on the way. Holds no rules.
import { deriveId } from '@recourse/kernel';
import type { AcceptedRecord, Change, Fold, StateView } from '@recourse/event-log';
import type { BodyOf, Debit, RecordTypeOf } from '@recourse/messages';
import { failedAgain, isMetBy, usedAgain } from '../rules/budget/approval.decisions.js';
import type { Reservation } from '../rules/budget/budget.messages.js';
import { DONE_PHASES, reservationPhaseAfter } from '../rules/budget/budget.transitions.js';
import type { ReservationEvent } from '../rules/budget/budget.transitions.js';
import { counted, moreRaised, raisedAfter } from './counters.js';
import { approvals, debitedUnder, reservationOfMutation, reservations } from './kinds.js';
import { standingAfter } from './standing.rows.js';

type Body<Type extends RecordTypeOf<'recourse.budgets'>> = BodyOf<'recourse.budgets', Type>;
/** Which reservation a record is about. */
export type ReservationBody = Pick<Body<'BudgetReleased'>, 'reservation_id' | 'tenant' | 'run_id' | 'effect_key'>;
/** When a record was decided. */
export type At = Pick<AcceptedRecord, 'decidedAt'>;

interface Move {
  readonly event: ReservationEvent;
  readonly change?: Partial<Reservation>;
  readonly counting?: { readonly debits: readonly Debit[]; readonly calls: number } & {
    readonly isOverrun?: boolean;
    readonly isRefund?: boolean;
  };
}

/** Moves a reservation on and counts what that adds at its accounts. */
export function moved(
  state: StateView,
  body: ReservationBody,
  { decidedAt }: At,
  { event, change = {}, counting }: Move,
): readonly Change[] {
  const standing = reservations.find(state, body.reservation_id);
  const changed = { ...(standing ?? emptyReservation(body)), ...change };
  const next = {
    ...changed,
    counted_at: changed.counted_at ?? (counting !== undefined && counts(counting) ? decidedAt : null),
    phase: reservationPhaseAfter(standing?.phase ?? 'absent', event),
    ...(isAnother(standing, event) ? { again: decidedAt } : {}),
  };
  const raised = raisedAfter(next);
  const settle_by = next.phase === 'reserved' ? next.settle_by : null;
  return [
    reservations.put(plain({ ...next, settle_by, ...(raised.length === 0 ? {} : { raised }) })),
    ...(standing === null ? [debitedUnder(next)] : []),
    ...standingAfter(state, standing, next),
    ...(counting === undefined
      ? []
      : counted(state, next, { ...counting, at: decidedAt, raised: moreRaised(standing?.raised ?? [], raised) })),
  ];
}

/** What was given back and is asked for anew is another call's, and so is what a later attempt goes on with. */
function isAnother(standing: Reservation | null, event: ReservationEvent): boolean {
  return event === 'Retried' || (standing?.phase === 'released' && ASKED.includes(event));
}

const ASKED: readonly ReservationEvent[] = ['Reserved', 'Escalated'];

/** Giving back what was never counted counts nothing: what happens later is counted when it does. */
function counts({ debits, calls, isOverrun = false }: NonNullable<Move['counting']>): boolean {
  return debits.length > 0 || calls > 0 || isOverrun;
}

/** Without what nobody wants, waits for or counts: as rows were before that was asked. */
function plain({ forward_approval = null, awaited = null, attempt = null, ...reservation }: Reservation): Reservation {
  return {
    ...reservation,
    ...(forward_approval === null ? {} : { forward_approval }),
    ...(awaited === null ? {} : { awaited }),
    ...(attempt === null ? {} : { attempt }),
  };
}

/** What is asked for, in a row. */
export function asked(body: Body<'BudgetReserved'> | Body<'BudgetEscalated'>): Partial<Reservation> {
  const { capability, agent_id, subject_id, debits, parties, brief, forward_approval, attempt } = body;
  // Asked for anew, it is counted anew.
  return {
    capability,
    agent_id,
    subject_id,
    debits,
    parties,
    brief,
    forward_approval,
    attempt,
    awaited: null,
    counted_at: null,
    contract_digest: hexOf(body.contract_digest),
  };
}

/** What a record says of an effect that happened: it counts where it counts already, else with whoever did it, as what they did. */
export function done(
  body: Body<'BudgetDebited'> | Body<'BudgetOverrun'>,
  standing: Reservation | null,
): Partial<Reservation> {
  const { debits, expires_at } = body;
  const { capability, agent_id, subject_id } = isDone(standing) ? standing : body;
  return { capability, agent_id, subject_id, debits, expires_at };
}

function isDone(standing: Reservation | null): standing is Reservation {
  return standing !== null && DONE_PHASES.includes(standing.phase);
}

/** A digest as 64 hex digits. */
export function hexOf(digest: Buffer | null): string | null {
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

function attemptFailed(reservation: Reservation | null, failed: readonly number[] | null): readonly Change[] {
  return reservation === null || failed === null ? [] : [reservations.put(plain({ ...reservation, failed }))];
}

/** People, or a rule, agreed before an effect: whoever waits for that waits no more. Or an attempt failed, and used that up. */
export const noted: Fold<'recourse.budgets', 'ForwardApprovalNoted'> = (body, state) => {
  const reservation = reservationOfMutation(state, body.mutation_id);
  const { awaited = null, failed = [] } = reservation ?? {};
  if (body.failed_began_at !== null) return attemptFailed(reservation, failedAgain(failed, body.failed_began_at));
  const approval = usedAgain(approvals.find(state, body.approval_id), body);
  if (approval === null) return [];
  const isMet = awaited !== null && isMetBy(approval, awaited, failed);
  return [
    approvals.put(approval),
    ...(reservation !== null && isMet ? [reservations.put(plain({ ...reservation, awaited: null }))] : []),
  ];
};
