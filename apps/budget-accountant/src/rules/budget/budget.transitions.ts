// The life of a reservation: asked for, held or escalated, used, given back.
import { InvariantViolation } from '@recourse/kernel';

export const RESERVATION_PHASES = [
  'absent',
  'reserved',
  'escalated',
  'denied',
  'settled',
  'overrun',
  'released',
  'refunded',
] as const;
export type ReservationPhase = (typeof RESERVATION_PHASES)[number];

/** What can happen to a reservation; a decided escalation is two events. */
export const RESERVATION_EVENTS = [
  'Reserved',
  'Escalated',
  'Retried',
  'Approved',
  'Denied',
  'Settled',
  'Debited',
  'Overrun',
  'Released',
  'Refunded',
] as const;
export type ReservationEvent = (typeof RESERVATION_EVENTS)[number];

/** Phases whose debit counts as used. */
export const HOLDING_PHASES: readonly ReservationPhase[] = ['reserved', 'settled', 'overrun'];

/** Phases of what was executed and counted. */
export const DONE_PHASES: readonly ReservationPhase[] = ['settled', 'overrun', 'refunded'];

/** Phases that no event leaves. */
export const RESERVATION_ENDS: readonly ReservationPhase[] = ['refunded'];

/**
 * Phase after each event; `null` is history that cannot exist.
 *
 * A compensation that nobody reserved is debited within the ceilings: whoever agreed to the recovery agreed to it. A person's
 * word about an overrun changes no phase: what was executed stays debited. That nobody was asked before an effect is found out
 * afterwards: also where it was an overrun, or was taken back. A given-back reservation may be
 * asked for anew, since effect keys outlive retries; a later attempt goes on with one that stands.
 */
export const RESERVATION_PHASE_AFTER = {
  absent: {
    Reserved: 'reserved',
    Escalated: 'escalated',
    Retried: null,
    Approved: null,
    Denied: null,
    Settled: null,
    Debited: 'settled',
    Overrun: 'overrun',
    Released: null,
    Refunded: null,
  },
  reserved: {
    Reserved: null,
    Escalated: null,
    Retried: 'reserved',
    Approved: null,
    Denied: null,
    Settled: 'settled',
    Debited: null,
    Overrun: null,
    Released: 'released',
    Refunded: null,
  },
  escalated: {
    Reserved: null,
    Escalated: null,
    Retried: 'escalated',
    Approved: 'reserved',
    Denied: 'denied',
    Settled: null,
    Debited: 'settled',
    Overrun: 'overrun',
    Released: 'released',
    Refunded: null,
  },
  denied: {
    Reserved: null,
    Escalated: null,
    Retried: null,
    Approved: null,
    Denied: null,
    Settled: null,
    Debited: 'settled',
    Overrun: 'overrun',
    Released: null,
    Refunded: null,
  },
  settled: {
    Reserved: null,
    Escalated: null,
    Retried: null,
    Approved: null,
    Denied: null,
    Settled: null,
    Debited: null,
    Overrun: 'overrun',
    Released: null,
    Refunded: 'refunded',
  },
  overrun: {
    Reserved: null,
    Escalated: null,
    Retried: null,
    Approved: 'overrun',
    Denied: 'overrun',
    Settled: null,
    Debited: null,
    Overrun: 'overrun',
    Released: null,
    Refunded: 'refunded',
  },
  released: {
    Reserved: 'reserved',
    Escalated: 'escalated',
    Retried: null,
    Approved: null,
    Denied: null,
    Settled: null,
    Debited: 'settled',
    Overrun: 'overrun',
    Released: null,
    Refunded: null,
  },
  refunded: {
    Reserved: null,
    Escalated: null,
    Retried: null,
    Approved: 'refunded',
    Denied: 'refunded',
    Settled: null,
    Debited: null,
    Overrun: 'refunded',
    Released: null,
    Refunded: null,
  },
} as const satisfies Record<ReservationPhase, Record<ReservationEvent, ReservationPhase | null>>;

/** Moves a reservation on. Errors: InvariantViolation for history that cannot exist. */
export function reservationPhaseAfter(phase: ReservationPhase, event: ReservationEvent): ReservationPhase {
  const next = RESERVATION_PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('reservation phases', `${event} in ${phase}`);
  return next;
}
