// Any sequence of events: what the two machines can never do, and what they always can.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ExecutionState, RecoverabilityState } from '@recourse/messages';
import {
  EXECUTION_AFTER,
  EXECUTION_ENDS,
  EXECUTION_EVENTS,
  RECOVERABILITY_AFTER,
  RECOVERABILITY_ENDS,
  RECOVERABILITY_EVENTS,
} from './mutation.transitions.js';

const MOVES = fc.array(fc.constantFrom(...RECOVERABILITY_EVENTS), { maxLength: 24 });
const REPORTS = fc.array(fc.constantFrom(...EXECUTION_EVENTS), { maxLength: 12 });

/** States passed through, the first included. An event that does not apply changes nothing. */
function walk<State extends string, Event extends string>(
  table: Readonly<Record<State, Readonly<Record<Event, State | null>>>>,
  start: State,
  events: readonly Event[],
): readonly State[] {
  return events.reduce<readonly State[]>(
    (states, event) => [...states, table[states.at(-1) ?? start][event] ?? states.at(-1) ?? start],
    [start],
  );
}

function shortestWay<State extends string, Event extends string>(
  table: Readonly<Record<State, Readonly<Record<Event, State | null>>>>,
  from: State,
  ends: readonly State[],
): number | null {
  let [front, steps] = [new Set([from]), 0];
  const seen = new Set<State>(front);
  while (front.size > 0) {
    if ([...front].some((state) => ends.includes(state))) return steps;
    front = new Set(
      [...front].flatMap((state) =>
        Object.values<State | null>(table[state]).filter((next): next is State => next !== null && !seen.has(next)),
      ),
    );
    for (const state of front) seen.add(state);
    steps += 1;
  }
  return null;
}

describe('any sequence of events', () => {
  it('leaves recoverability in a state that can still end', () => {
    fc.assert(
      fc.property(MOVES, (events) => {
        const last = walk(RECOVERABILITY_AFTER, 'planned', events).at(-1) ?? 'planned';
        expect(shortestWay(RECOVERABILITY_AFTER, last, RECOVERABILITY_ENDS)).not.toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it('never leads from an expired window to a compensation, save one that was dispatched while it was open', () => {
    fc.assert(
      fc.property(MOVES, (events) => {
        const states = walk(RECOVERABILITY_AFTER, 'planned', events);
        states.forEach((state, at) => {
          if (state !== 'reversal_expired') return;
          // The orchestrator dispatches in open windows alone (P6): its record is what may still arrive. Nothing else leads there.
          const next = states[at + 1];
          if (next === 'compensating') expect(events[at]).toBe('compensation_started');
          expect(next).not.toBe('reversal_available');
          expect(next).not.toBe('compensated');
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('that closes a window and starts no compensation afterwards never ends compensated', () => {
    fc.assert(
      fc.property(MOVES, MOVES, (before, after) => {
        const expired = walk(RECOVERABILITY_AFTER, 'planned', before).at(-1);
        fc.pre(expired === 'reversal_available');
        const events = [
          'window_closed' as const,
          ...after.filter((event) => event !== 'compensation_started' && event !== 'compensation_verified'),
        ];
        const states: readonly RecoverabilityState[] = walk(RECOVERABILITY_AFTER, 'reversal_available', events);
        expect(states).not.toContain('compensating');
        expect(states).not.toContain('compensated');
      }),
      { numRuns: 500 },
    );
  });

  it('gives what took hold in spite of its cancel to a person, and cancels nothing that was committed', () => {
    fc.assert(
      fc.property(MOVES, (events) => {
        const states = walk(RECOVERABILITY_AFTER, 'planned', events);
        const cancelledAt = states.indexOf('cancelled');
        if (cancelledAt < 0) return;
        const after = states.slice(cancelledAt).find((state) => state !== 'cancelled');
        expect(['manual_resolution_required', undefined]).toContain(after);
        expect(states.slice(0, cancelledAt)).not.toContain('committed');
      }),
      { numRuns: 2_000 },
    );
  });

  it('of reports leaves the execution in a state that can still end, and an effect that is there stays there', () => {
    fc.assert(
      fc.property(REPORTS, (events) => {
        const states: readonly ExecutionState[] = walk(EXECUTION_AFTER, 'planned', events);
        expect(shortestWay(EXECUTION_AFTER, states.at(-1) ?? 'planned', EXECUTION_ENDS)).not.toBeNull();
        const there = states.indexOf('succeeded');
        if (there >= 0) expect(new Set(states.slice(there))).toEqual(new Set(['succeeded']));
      }),
      { numRuns: 2_000 },
    );
  });

  it('long enough comes through every state of both', () => {
    const reached = <State extends string>(runs: readonly (readonly State[])[]): readonly State[] =>
      [...new Set(runs.flat())].sort();
    const moves = fc.sample(fc.array(fc.constantFrom(...RECOVERABILITY_EVENTS), { minLength: 60, maxLength: 120 }), {
      numRuns: 600,
      seed: 7,
    });
    const reports = fc.sample(REPORTS, { numRuns: 300, seed: 7 });
    expect(reached(moves.map((events) => walk(RECOVERABILITY_AFTER, 'planned', events)))).toEqual(
      Object.keys(RECOVERABILITY_AFTER).sort(),
    );
    expect(reached(reports.map((events) => walk(EXECUTION_AFTER, 'planned', events)))).toEqual(
      Object.keys(EXECUTION_AFTER).sort(),
    );
  });
});
