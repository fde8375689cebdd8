import { describe, expect, it } from '@jest/globals';
import { STEP_EVENTS, STEP_PHASES } from './step.messages.js';
import type { StepEvent, StepPhase } from './step.messages.js';
import { PHASE_AFTER, PHASE_OPENED_BY, phaseAfter, PHASES_AT_REST } from './step.transitions.js';

/** Events that only the ledger's news bring about: they also move what is at rest. */
const NEWS_OF_LEDGER = [
  'AdvancedToWait',
  'AdvancedForPeople',
  'AdvancedToGo',
  'AdvancedToNothing',
  'AdvancedWithPerson',
] as const satisfies readonly StepEvent[];

/** Say what was done and why a step is a person's, also of one that became theirs with the record before them. */
const GIVEN = ['Escalated', 'Unsettled', 'Uncertain'] as const satisfies readonly StepEvent[];

/** Events that only a person at the end of automation brings about; a look a person asked for may show that it was compensated. */
const BY_PERSON_AT_REST = [
  'FactNoted',
  'BoundWithPerson',
  'Resolved',
  'ReopenedForPeople',
  'ReopenedToGo',
  'LookSent',
  'Compensated',
] as const satisfies readonly StepEvent[];

function nextOf(phase: StepPhase): readonly StepPhase[] {
  return STEP_EVENTS.map((event): StepPhase | null => PHASE_AFTER[phase][event]).filter((next) => next !== null);
}

function reachableFrom(starts: readonly StepPhase[]): ReadonlySet<StepPhase> {
  const seen = new Set<StepPhase>(starts);
  for (const phase of seen) for (const next of nextOf(phase)) seen.add(next);
  return seen;
}

describe('the phases of a step', () => {
  it('are all reachable from a decision', () => {
    expect([...reachableFrom(Object.values(PHASE_OPENED_BY))].sort()).toEqual([...STEP_PHASES].sort());
  });

  it('can all come to rest', () => {
    const ends: readonly StepPhase[] = PHASES_AT_REST;
    for (const phase of STEP_PHASES) expect([...reachableFrom([phase])].some((next) => ends.includes(next))).toBe(true);
  });

  it('end in exactly the ones named', () => {
    const others: readonly StepEvent[] = [...NEWS_OF_LEDGER, ...BY_PERSON_AT_REST, ...GIVEN];
    const own = STEP_EVENTS.filter((event) => !others.includes(event));
    expect(STEP_PHASES.filter((phase) => own.every((event) => PHASE_AFTER[phase][event] === null))).toEqual([
      ...PHASES_AT_REST,
    ]);
    for (const event of GIVEN) expect(PHASE_AFTER.manual[event]).toBe('manual');
  });

  it("are decided anew by the ledger's news only where nothing was dispatched, and stay a person's where they are", () => {
    const moved = STEP_PHASES.filter((phase) => NEWS_OF_LEDGER.some((event) => PHASE_AFTER[phase][event] !== null));
    expect(moved).toEqual(['held', 'looking', 'not_needed', 'manual']);
    expect(NEWS_OF_LEDGER.map((event) => PHASE_AFTER.manual[event])).toEqual([null, null, null, null, 'manual']);
  });

  it('never let a dispatched step be abandoned (L11)', () => {
    expect(PHASE_AFTER.dispatched.Escalated).toBeNull();
    expect(() => phaseAfter('dispatched', 'Escalated')).toThrow('step-phase');
  });

  it('reach compensated only through a dispatch, be it one before a halt, or one that a person had looked into', () => {
    const sources = STEP_PHASES.filter((phase) => nextOf(phase).includes('compensated'));
    expect(sources).toEqual([
      'awaiting_approval',
      'waiting',
      'halted',
      'observing',
      'dispatched',
      'uncertain',
      'retrying',
      'manual',
    ]);
  });
});
