import { describe, expect, it } from '@jest/globals';
import { PROPOSAL_ENDS, PROPOSAL_PHASE_AFTER, PROPOSAL_PHASES, proposalPhaseAfter } from './proposal.transitions.js';
import type { ProposalPhase } from './proposal.transitions.js';

function exits(phase: ProposalPhase): readonly ProposalPhase[] {
  return Object.values(PROPOSAL_PHASE_AFTER[phase]).filter((next) => next !== null);
}
function reachable(from: ProposalPhase): ReadonlySet<ProposalPhase> {
  const seen = new Set<ProposalPhase>([from]);
  for (const phase of seen) for (const next of exits(phase)) seen.add(next);
  return seen;
}

describe('the life of a proposed version', () => {
  it('reaches every phase', () => {
    expect([...reachable('absent')].sort()).toEqual([...PROPOSAL_PHASES].sort());
  });
  it('can end from every open phase', () => {
    for (const phase of PROPOSAL_PHASES)
      expect([...reachable(phase)].some((next) => PROPOSAL_ENDS.includes(next))).toBe(true);
  });
  it('ends registered or dropped and nowhere else', () => {
    expect(PROPOSAL_PHASES.filter((phase) => exits(phase).length === 0)).toEqual(PROPOSAL_ENDS);
  });
  it('is not dropped once it is registered', () => {
    expect(() => proposalPhaseAfter('registered', 'RegistrationDropped')).toThrow('proposal phases');
  });
});
