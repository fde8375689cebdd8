import { describe, expect, it } from '@jest/globals';
import { CONTRACT_ENDS, CONTRACT_PHASE_AFTER, CONTRACT_PHASES, contractPhaseAfter } from './contract.transitions.js';
import type { ContractPhase } from './contract.transitions.js';

function exits(phase: ContractPhase): readonly ContractPhase[] {
  return Object.values(CONTRACT_PHASE_AFTER[phase]).filter((next) => next !== null);
}
function reachable(from: ContractPhase): ReadonlySet<ContractPhase> {
  const seen = new Set<ContractPhase>([from]);
  for (const phase of seen) for (const next of exits(phase)) seen.add(next);
  return seen;
}

describe('the life of a contract version', () => {
  it('reaches every phase', () => {
    expect([...reachable('absent')].sort()).toEqual([...CONTRACT_PHASES].sort());
  });
  it('can end from every open phase', () => {
    for (const phase of CONTRACT_PHASES)
      expect([...reachable(phase)].some((next) => CONTRACT_ENDS.includes(next))).toBe(true);
  });
  it('ends retired and nowhere else', () => {
    expect(CONTRACT_PHASES.filter((phase) => exits(phase).length === 0)).toEqual(CONTRACT_ENDS);
  });
  it('has no second registration', () => {
    expect(() => contractPhaseAfter('standing', 'ContractRegistered')).toThrow('contract phases');
  });
});
