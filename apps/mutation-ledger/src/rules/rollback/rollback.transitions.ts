// The machine of a rollback, as a table: held until a person decides where it is not admitted by itself; once admitted, marked in
// the same decision, or opened until its commit is recorded, by a person when that takes too long. A commit that a fall reaches
// beyond its bound is a person's from the start.
import { InvariantViolation } from '@recourse/kernel';

export const ROLLBACK_PHASES = ['held', 'opened', 'escalated', 'rejected', 'beyond', 'reviewed', 'marked'] as const;
export type RollbackPhase = (typeof ROLLBACK_PHASES)[number];

export const ROLLBACK_EVENTS = ['Held', 'Opened', 'Rejected', 'Escalated', 'Beyond', 'Reviewed', 'Marked'] as const;
export type RollbackEvent = (typeof ROLLBACK_EVENTS)[number];

/**
 * Phase after each event. `null` = history that cannot exist.
 *
 * A rollback that a person was given is still marked when its commit is recorded after all, unless they rejected it. A held one stays held when its time
 * is over: nobody but a person lets it through. Another event may say again what a person rejected, and is judged anew. The same
 * holds for what stands beyond the bound of a fall, or was reviewed there: a trigger of its own rolls it back.
 */
export const ROLLBACK_PHASE_AFTER = {
  held: {
    Held: 'held',
    Opened: 'opened',
    Rejected: 'rejected',
    Escalated: 'held',
    Beyond: 'held',
    Reviewed: null,
    Marked: 'marked',
  },
  opened: {
    Held: null,
    Opened: null,
    Rejected: null,
    Escalated: 'escalated',
    Beyond: null,
    Reviewed: null,
    Marked: 'marked',
  },
  escalated: {
    Held: null,
    Opened: null,
    Rejected: 'rejected',
    Escalated: null,
    Beyond: null,
    Reviewed: null,
    Marked: 'marked',
  },
  rejected: {
    Held: 'held',
    Opened: 'opened',
    Rejected: null,
    Escalated: null,
    Beyond: 'beyond',
    Reviewed: null,
    Marked: 'marked',
  },
  beyond: {
    Held: 'held',
    Opened: 'opened',
    Rejected: null,
    Escalated: 'beyond',
    Beyond: null,
    Reviewed: 'reviewed',
    Marked: 'marked',
  },
  reviewed: {
    Held: 'held',
    Opened: 'opened',
    Rejected: null,
    Escalated: null,
    Beyond: 'beyond',
    Reviewed: null,
    Marked: 'marked',
  },
  marked: { Held: null, Opened: null, Rejected: null, Escalated: null, Beyond: null, Reviewed: null, Marked: null },
} as const satisfies Record<RollbackPhase, Record<RollbackEvent, RollbackPhase | null>>;

/** Phases nothing leads out of: what follows is the step's. */
export const ROLLBACK_ENDS = ['marked'] as const satisfies readonly RollbackPhase[];

/**
 * Moves a rollback.
 *
 * Errors: InvariantViolation for an event its phase has no cell for.
 */
export function rollbackPhaseAfter(phase: RollbackPhase, event: RollbackEvent): RollbackPhase {
  const next: RollbackPhase | null = ROLLBACK_PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('rollback-phase', `${event} in ${phase}`);
  return next;
}
