import { describe, expect, it } from '@jest/globals';
import { EXECUTION_STATE_VALUES, RECOVERABILITY_EVENT_VALUES, RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import {
  EXECUTION_AFTER,
  EXECUTION_ENDS,
  EXECUTION_EVENTS,
  RECOVERABILITY_AFTER,
  RECOVERABILITY_ENDS,
  RECOVERABILITY_EVENTS,
} from './mutation.transitions.js';

type Table = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

const MACHINES: readonly {
  readonly name: string;
  readonly table: Table;
  readonly states: readonly string[];
  readonly events: readonly string[];
  readonly ends: readonly string[];
}[] = [
  {
    name: 'execution',
    table: EXECUTION_AFTER,
    states: EXECUTION_STATE_VALUES,
    events: EXECUTION_EVENTS,
    ends: EXECUTION_ENDS,
  },
  {
    name: 'recoverability',
    table: RECOVERABILITY_AFTER,
    states: RECOVERABILITY_STATE_VALUES,
    events: RECOVERABILITY_EVENTS,
    ends: RECOVERABILITY_ENDS,
  },
];

function reachedFrom(table: Table, start: string): ReadonlySet<string> {
  const seen = new Set([start]);
  for (const state of seen) for (const next of Object.values(table[state] ?? {})) if (next !== null) seen.add(next);
  return seen;
}

describe.each(MACHINES)('the $name machine', ({ table, states, events, ends }) => {
  it('has a cell for every state and event', () => {
    expect(Object.keys(table).sort()).toEqual([...states].sort());
    for (const row of Object.values(table)) expect(Object.keys(row).sort()).toEqual([...events].sort());
  });

  it('reaches every state from planned', () => {
    expect([...reachedFrom(table, 'planned')].sort()).toEqual([...states].sort());
  });

  it('can reach an end from every open state', () => {
    for (const state of states) expect(ends.some((end) => reachedFrom(table, state).has(end))).toBe(true);
  });

  it('has exactly the ends that are named', () => {
    expect(states.filter((state) => Object.values(table[state] ?? {}).every((next) => next === null)).sort()).toEqual(
      [...ends].sort(),
    );
  });
});

describe('the recoverability machine', () => {
  it('knows every event the log records', () => {
    expect(RECOVERABILITY_EVENTS).toEqual(expect.arrayContaining([...RECOVERABILITY_EVENT_VALUES]));
  });

  it('is compensated through a verified observation alone', () => {
    const leads = Object.values(RECOVERABILITY_AFTER).flatMap((row) =>
      Object.entries(row)
        .filter(([, next]) => next === 'compensated')
        .map(([event]) => event),
    );
    expect(new Set(leads)).toEqual(new Set(['compensation_verified']));
  });

  it('offers a reversal only from a commit whose handle was bound', () => {
    const leads = Object.entries(RECOVERABILITY_AFTER).flatMap(([state, row]) =>
      Object.entries(row)
        .filter(([, next]) => next === 'reversal_available')
        .map(([event]) => `${state} × ${event}`),
    );
    expect(leads).toEqual(['committed × handle_bound']);
  });
});
