import { describe, expect, it } from '@jest/globals';
import { InvariantViolation } from '@recourse/kernel';
import { UNDO_ENDS, UNDO_EVENTS, UNDO_PHASE_AFTER, UNDO_PHASES, undoPhaseAfter } from './undo.transitions.js';
import type { UndoPhase } from './undo.transitions.js';

const nextOf = (phase: UndoPhase): readonly (UndoPhase | null)[] => Object.values(UNDO_PHASE_AFTER[phase]);

describe('the phases of an undo', () => {
  it('are each reached, and each but the end is left', () => {
    const reached = new Set<UndoPhase | null>(['opened', ...UNDO_PHASES.flatMap(nextOf)]);
    for (const phase of UNDO_PHASES) expect(reached.has(phase)).toBe(true);
    const ends: readonly UndoPhase[] = UNDO_ENDS;
    for (const phase of UNDO_PHASES)
      expect(nextOf(phase).some((next) => next !== null && next !== phase)).toBe(!ends.includes(phase));
  });

  it('know every event', () => {
    for (const phase of UNDO_PHASES) expect(Object.keys(UNDO_PHASE_AFTER[phase])).toEqual([...UNDO_EVENTS]);
  });

  it('refuse a history that cannot exist', () => {
    expect(() => undoPhaseAfter('listed', 'PartListed')).toThrow(InvariantViolation);
  });
});
