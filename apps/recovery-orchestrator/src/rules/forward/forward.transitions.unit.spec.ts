import { describe, expect, it } from '@jest/globals';
import { FORWARD_PHASES } from './forward.messages.js';
import type { ForwardPhase } from './forward.messages.js';
import { FORWARD_PHASE_AFTER, FORWARD_RESTS, forwardPhaseAfter } from './forward.transitions.js';

const nextOf = (phase: ForwardPhase): readonly ForwardPhase[] =>
  Object.values(FORWARD_PHASE_AFTER[phase]).filter((next) => next !== null);
function reachable(from: ForwardPhase): ReadonlySet<ForwardPhase> {
  const seen = new Set<ForwardPhase>([from]);
  for (const phase of seen) for (const next of nextOf(phase)) seen.add(next);
  return seen;
}

describe('the phases of a forward approval', () => {
  it('are all reached', () => {
    expect([...reachable('absent')].sort()).toEqual([...FORWARD_PHASES].sort());
  });
  it('can all come to rest', () => {
    for (const phase of FORWARD_PHASES)
      expect([...reachable(phase)].some((next) => (FORWARD_RESTS as readonly ForwardPhase[]).includes(next))).toBe(
        true,
      );
  });
  it('rest where nobody has to do anything', () => {
    expect([...FORWARD_RESTS]).toEqual(['denied', 'used', 'expired']);
  });
  it('lead to use only through an approval, once', () => {
    expect(FORWARD_PHASES.filter((phase) => nextOf(phase).includes('used'))).toEqual(['approved']);
    expect(() => forwardPhaseAfter('used', 'Used')).toThrow('forward-phase');
  });
  it('are void by asking anew, until it is used or denied', () => {
    expect(FORWARD_PHASES.filter((phase) => FORWARD_PHASE_AFTER[phase].Requested === 'awaiting')).toEqual(
      FORWARD_PHASES.filter((phase) => phase !== 'denied'),
    );
  });
  it('never lead out of a denial', () => {
    expect(nextOf('denied')).toEqual([]);
  });
});
