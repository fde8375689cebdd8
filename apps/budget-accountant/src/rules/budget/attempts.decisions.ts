// Which attempt of an effect a reservation is for: attempts come one after another, and share its key. Pure.
//
// Invariants
//   T1. A later attempt goes on with what an earlier one holds or is asked about: it is counted once, and no word of a person is lost.
//   T2. Nothing of an earlier attempt takes away what a later one holds: neither its failure, however late it is heard, nor its giving back.
import { MARGIN_MS } from '@recourse/kernel';
import { rejected } from './budget.decider.js';
import type { BudgetAnswer, Reservation } from './budget.messages.js';

/** Who counts no attempts makes the first. */
const FIRST = 1;

/** Refuses what counts no attempt, as a wire may say it: null where nobody counts, or from 1. */
export function unfitAttempt(attempt: number | null): BudgetAnswer | null {
  if (attempt === null || (Number.isSafeInteger(attempt) && attempt >= FIRST)) return null;
  return rejected('ATTEMPT_INVALID', 'attempts are counted from 1');
}

/** The attempt that asks, where it comes after the one that holds this, or is asked about it; null for that one, and one before it. */
export function laterAttempt(attempt: number | null, reservation: Reservation): number | null {
  const asked = numberOf(attempt);
  return isHeld(reservation) && asked > numberOf(reservation.attempt) ? asked : null;
}

/** Is it given back by an attempt before the one that holds it? Whoever names none gives back whatever is held. */
export function isGivenBackLate(attempt: number | null, reservation: Reservation): boolean {
  return attempt !== null && isHeld(reservation) && attempt < numberOf(reservation.attempt);
}

function isHeld({ phase }: Reservation): boolean {
  return phase === 'reserved' || phase === 'escalated';
}

function numberOf(attempt: number | null | undefined): number {
  return attempt ?? FIRST;
}

/** When a call that had no effect began, as its producer says, and when the ledger recorded how it ended; epoch milliseconds. */
export interface Vain {
  readonly end: 'failed' | 'cancelled';
  readonly beganAt: number;
  readonly endedAt: number;
  /** Somebody else found out how it ended: no call is under way by then. */
  readonly isFoundOut: boolean;
}

/**
 * May the reservation be that of a later call than the one whose end is heard of? Then it stands.
 *
 * Shape:  the ledger may record a failure, and be heard, long after the next call was reserved. What was asked for anew, for another
 *         call, is therefore freed only by the end of a call that began after that for certain, a clock's tolerance later. In doubt it
 *         stands: whoever reserved it gives it back, or a person does once it is overdue.
 */
export function mayBeOfLater(reservation: Reservation | null, { end, beganAt, endedAt, isFoundOut }: Vain): boolean {
  const { phase, again, counted_at = null } = reservation ?? {};
  // People are asked about the next call already: it has not begun, so that none that failed is it.
  if (phase === 'escalated') return again !== undefined && end === 'failed';
  if (phase !== 'reserved' || counted_at === null) return false;
  const reservedAt = Math.max(counted_at, again ?? 0);
  if (again === undefined || end === 'cancelled') return reservedAt > endedAt + MARGIN_MS;
  return reservedAt + MARGIN_MS > (isFoundOut ? endedAt : beganAt);
}
