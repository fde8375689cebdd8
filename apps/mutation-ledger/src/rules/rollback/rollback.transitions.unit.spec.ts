import { describe, expect, it } from '@jest/globals';
import {
  ROLLBACK_ENDS,
  ROLLBACK_EVENTS,
  ROLLBACK_PHASE_AFTER,
  ROLLBACK_PHASES,
  rollbackPhaseAfter,
} from './rollback.transitions.js';
import type { RollbackPhase } from './rollback.transitions.js';

function reachedFrom(start: RollbackPhase): ReadonlySet<RollbackPhase> {
  const seen = new Set([start]);
  for (const phase of seen)
    for (const next of Object.values(ROLLBACK_PHASE_AFTER[phase])) if (next !== null) seen.add(next);
  return seen;
}

describe('the machine of a rollback', () => {
  it('reaches every phase from held', () => {
    expect([...reachedFrom('held')].sort()).toEqual([...ROLLBACK_PHASES].sort());
  });

  it('can reach an end from every open phase', () => {
    for (const phase of ROLLBACK_PHASES) expect(ROLLBACK_ENDS.some((end) => reachedFrom(phase).has(end))).toBe(true);
  });

  it('has exactly the ends that are named', () => {
    expect(
      ROLLBACK_PHASES.filter((phase) => ROLLBACK_EVENTS.every((event) => ROLLBACK_PHASE_AFTER[phase][event] === null)),
    ).toEqual([...ROLLBACK_ENDS]);
  });

  it('refuses history that cannot exist', () => {
    expect(() => rollbackPhaseAfter('marked', 'Held')).toThrow('rollback-phase');
  });
});
