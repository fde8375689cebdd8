import { describe, expect, it } from '@jest/globals';
import { ENTRY_PHASE_AFTER, ENTRY_PHASES, ENTRY_RESTS, entryPhaseAfter } from './entry.transitions.js';
import type { EntryPhase } from './entry.transitions.js';

function reachable(from: EntryPhase): ReadonlySet<EntryPhase> {
  const seen = new Set<EntryPhase>([from]);
  for (const phase of seen)
    for (const next of Object.values(ENTRY_PHASE_AFTER[phase])) if (next !== null) seen.add(next);
  return seen;
}

describe('the life of an entry', () => {
  it('reaches every phase', () => {
    expect([...reachable('absent')].sort()).toEqual([...ENTRY_PHASES].sort());
  });
  it('can be brought to rest from everywhere', () => {
    for (const phase of ENTRY_PHASES)
      expect([...reachable(phase)].some((next) => ENTRY_RESTS.includes(next))).toBe(true);
  });
  it('never is over: a retired name is used again', () => {
    expect(entryPhaseAfter('retired', 'EntryRegistered')).toBe('standing');
  });
  it('is not retired twice', () => {
    expect(() => entryPhaseAfter('retired', 'EntryRetired')).toThrow('entry phases');
  });
});
