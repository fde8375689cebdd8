import { describe, expect, it } from '@jest/globals';
import {
  HOLDING_PHASES,
  RESERVATION_ENDS,
  RESERVATION_PHASE_AFTER,
  RESERVATION_PHASES,
  reservationPhaseAfter,
} from './budget.transitions.js';
import type { ReservationPhase } from './budget.transitions.js';

/** Phases that wait for somebody: the agent, or a person. */
const OPEN_PHASES: readonly ReservationPhase[] = ['reserved', 'escalated'];

function exits(phase: ReservationPhase): readonly ReservationPhase[] {
  return Object.values(RESERVATION_PHASE_AFTER[phase]).filter((next) => next !== null);
}
function reachable(from: ReservationPhase): ReadonlySet<ReservationPhase> {
  const seen = new Set<ReservationPhase>([from]);
  for (const phase of seen) for (const next of exits(phase)) seen.add(next);
  return seen;
}

describe('the life of a reservation', () => {
  it('reaches every phase', () => {
    expect([...reachable('absent')].sort()).toEqual([...RESERVATION_PHASES].sort());
  });
  it('comes to rest and can end from every open phase', () => {
    for (const phase of OPEN_PHASES) {
      expect(exits(phase).some((next) => !OPEN_PHASES.includes(next))).toBe(true);
      expect([...reachable(phase)].some((next) => RESERVATION_ENDS.includes(next))).toBe(true);
    }
  });
  it('ends refunded and nowhere else', () => {
    expect(RESERVATION_PHASES.filter((phase) => exits(phase).every((next) => next === phase))).toEqual(
      RESERVATION_ENDS,
    );
  });
  it('is refunded only from what holds a debit', () => {
    for (const phase of RESERVATION_PHASES)
      if (RESERVATION_PHASE_AFTER[phase].Refunded !== null) expect(HOLDING_PHASES).toContain(phase);
  });
  it('is not settled twice', () => {
    expect(() => reservationPhaseAfter('settled', 'Settled')).toThrow('reservation phases');
  });
});
