import { describe, expect, it } from '@jest/globals';
import { harmOf } from './harm.decisions.js';
import { usedBoundsOf, usersOf } from './uses.decisions.js';

const OF = { tenant: 'acme', agent_id: 'agent-7', capability: null };
const standing = (currency: string, open_minor: number) => ({
  ...OF,
  currency,
  reserved_minor: 0,
  open_minor,
  beyond_minor: 0,
  moved_minor: 0,
  recovery_minor: 0,
  closes_first_at: null,
});
const counted = (open: number, happened: number, undone: number, contract_digest: string | null = 'aa') => ({
  ...OF,
  contract_digest,
  open,
  happened,
  undone,
});
const COST = () => ({ amount_minor: 300, currency: 'INR' });

describe('expected harm', () => {
  it('is what is open, times what recovery costs, times the part that was taken back so far (A4)', () => {
    expect(harmOf([standing('INR', 50)], [counted(3, 7, 1)], COST)).toMatchObject([
      { currency: 'INR', open_minor: 50, recovery_at_most_minor: 900, recovery_expected_minor: 129 },
    ]);
  });

  it('judges the part over all contracts of a group, and sums what each declares', () => {
    const costs = (digest: string) => ({ amount_minor: digest === 'aa' ? 300 : 50, currency: 'INR' });
    const counts = [counted(1, 1, 0, 'aa'), counted(2, 3, 2, 'bb'), counted(5, 4, 2, null)];
    expect(harmOf([standing('INR', 1)], counts, costs)).toMatchObject([
      { recovery_at_most_minor: 400, recovery_expected_minor: 200 },
    ]);
  });

  it('is null where no contract bounds it: null is never zero', () => {
    for (const counts of [[], [counted(3, 7, 1, null)], [counted(0, 7, 1)]])
      expect(harmOf([standing('INR', 50)], counts, COST)).toMatchObject([
        { recovery_at_most_minor: null, recovery_expected_minor: null },
      ]);
    expect(harmOf([standing('INR', 50)], [counted(3, 7, 1)], () => null)).toMatchObject([
      { recovery_at_most_minor: null },
    ]);
  });

  it('names a recovery that costs in another unit than what stands, and the most debt first', () => {
    const rows = harmOf([standing('comms', 50), standing('EUR', 70)], [counted(1, 2, 1)], COST);
    expect(rows.map(({ currency, recovery_at_most_minor }) => [currency, recovery_at_most_minor])).toEqual([
      ['EUR', null],
      ['comms', null],
      ['INR', 300],
    ]);
  });
});

describe('what uses a bound', () => {
  const bound = { scope: 'run', scope_id: 'run-1', measure: 'debt', currency: 'INR', window: 'life' };
  const excess = (more: object) => ({ ...bound, used_minor: 1, asked_minor: 1, ceiling_minor: 1, ...more });
  const NOW = 5 * 86_400_000 + 7_200_001;

  it('is looked for where something is used, and of a ceiling that would be raised', () => {
    const exceeded = [excess({}), excess({ used_minor: 0 }), excess({ measure: 'scope' })];
    expect(usedBoundsOf({ exceeded, proposal: null })).toEqual([exceeded[0]]);
  });

  it.each([
    ['a run', {}, { run_id: 'run-1', measure: 'debt', since: 0 }],
    [
      'an agent, however its name is spelt, in a day',
      { scope: 'agent', scope_id: 'a', window: 'day' },
      { agent_id: ['a', 'A'], since: 5 * 86_400_000 },
    ],
    ['the platform in an hour', { scope: 'platform', window: 'hour' }, { since: NOW - 1, isOverrun: false }],
    [
      'a capability, in its run alone',
      { scope: 'capability', scope_id: 'c', measure: 'calls', currency: '' },
      { capability: 'c', run_id: 'run-9', currency: null },
    ],
    ['overruns', { measure: 'overrun', currency: '' }, { run_id: 'run-1', isOverrun: true, currency: null }],
  ])('of %s is found', (_name, more, expected) => {
    expect(usersOf({ ...bound, ...more }, { runId: 'run-9', agents: ['a', 'A'], now: NOW })).toMatchObject(expected);
  });
});
