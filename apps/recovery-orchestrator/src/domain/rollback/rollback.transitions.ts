// The machine of a rollback, as a table: asked of the ledger until the commit is marked, by a person when that takes too long.
import { InvariantViolation } from '@recourse/kernel';

export const ROLLBACK_PHASES = ['opened', 'escalated', 'marked'] as const;
export type RollbackPhase = (typeof ROLLBACK_PHASES)[number];

export const ROLLBACK_EVENTS = ['Escalated', 'Marked'] as const;
export type RollbackEvent = (typeof ROLLBACK_EVENTS)[number];

/**
 * Phase after each event. `null` = history that cannot exist.
 *
 * A rollback that a person was given is still marked when its commit is recorded after all.
 */
export const ROLLBACK_PHASE_AFTER = {
  opened:    { Escalated: 'escalated', Marked: 'marked' },
  escalated: { Escalated: null,        Marked: 'marked' },
  marked:    { Escalated: null,        Marked: null },
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
