// The machine of an undo, as a table: opened until every effect is named, part by part.
import { InvariantViolation } from '@recourse/kernel';

export const UNDO_PHASES = ['opened', 'listed'] as const;
export type UndoPhase = (typeof UNDO_PHASES)[number];

export const UNDO_EVENTS = ['PartListed', 'Listed'] as const;
export type UndoEvent = (typeof UNDO_EVENTS)[number];

/** Phase after each event. `null` = history that cannot exist. */
export const UNDO_PHASE_AFTER = {
  opened: { PartListed: 'opened', Listed: 'listed' },
  listed: { PartListed: null, Listed: null },
} as const satisfies Record<UndoPhase, Record<UndoEvent, UndoPhase | null>>;

/** Phases nothing leads out of: what follows is the recovery's. */
export const UNDO_ENDS = ['listed'] as const satisfies readonly UndoPhase[];

/**
 * Moves an undo.
 *
 * Errors: InvariantViolation for an event its phase has no cell for.
 */
export function undoPhaseAfter(phase: UndoPhase, event: UndoEvent): UndoPhase {
  const next: UndoPhase | null = UNDO_PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('undo-phase', `${event} in ${phase}`);
  return next;
}
