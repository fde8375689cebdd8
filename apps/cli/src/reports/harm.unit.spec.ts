import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const OF = { tenant: 'acme', agent_id: 'agent-7', capability: null, currency: 'INR' };
const HARM = {
  ...OF,
  reserved_minor: 500,
  open_minor: 3_000,
  beyond_minor: 0,
  moved_minor: 30_000,
  recovery_minor: 70,
  closes_first_at: 60_000,
  recovery_at_most_minor: 1_000,
  recovery_expected_minor: null,
};
const CLOSING = {
  ...OF,
  currency: 'comms',
  within_hour_minor: 1_000,
  within_day_minor: 3_000,
  within_hour: 1,
  within_day: 3,
  closes_first_at: 60_000,
};
const USER = {
  mutation_id: 'mut_1',
  undoes: null,
  reservation_id: 'res_1',
  run_id: 'run-1',
  agent_id: 'agent-7',
  capability: 'payments.issue_refund',
  phase: 'settled',
  amount_minor: 5_000,
  expires_at: null,
};
const BOUND = { scope: 'run', scope_id: 'run-1', measure: 'debt', currency: 'INR', window: 'day', more: true };
const desks = () =>
  desk(
    table({
      '/v1/reports/harm': { as_of: 1, items: [HARM], more: false },
      '/v1/reports/forecast': { as_of: 1, items: [CLOSING], more: false },
      '/v1/escalations/esc_1': { escalation_id: 'esc_1', phase: 'open' },
      '/v1/escalations/esc_1/uses': {
        as_of: 1,
        items: [
          { ...BOUND, used_by: [USER, { ...USER, mutation_id: null, undoes: 'mut_0' }] },
          { ...BOUND, used_by: [] },
        ],
      },
    }),
  );

describe('budgets', () => {
  it('top shows where most debt stands, with what recovery cost and is expected to (A4)', async () => {
    const { call, asked, out } = desks();
    expect(await call('budgets', 'top', '--by', 'capability', '--agent', 'agent-7', '--limit', '5')).toBe(0);
    expect(asked[0]?.path).toBe('/v1/reports/harm?by=capability&agent_id=agent-7&limit=5');
    const [head, row] = out().split('\n');
    expect(head).toMatch(/RESERVED +OPEN +BEYOND +MOVED +FIRST CLOSES +RECOVERY COST +AT MOST +EXPECTED$/);
    expect(row).toMatch(
      /^acme +agent-7 +- +5\.00 INR +30\.00 INR +0\.00 INR +300\.00 INR +1970\S+ \S+ +0\.70 INR +10\.00 INR +-$/,
    );
  });

  it('forecast shows what nothing takes back after the next hour, and after the next day (A4)', async () => {
    const { call, asked, out } = desks();
    expect(await call('budgets', 'forecast')).toBe(0);
    expect(asked[0]?.path).toBe('/v1/reports/forecast?by=agent&limit=200');
    expect(out().split('\n')[1]).toMatch(/^acme +agent-7 +- +1 comms +1 +3 comms +3 +1970/);
  });

  it('refuse what sums are not made by', async () => {
    const { call, asked } = desks();
    expect(await call('budgets', 'top', '--by', 'mood')).toBe(64);
    expect(asked).toEqual([]);
  });

  it('show of an escalation by which mutations each bound is used, and whether there are others', async () => {
    const { call, out } = desks();
    expect(await call('budgets', 'show', 'esc_1')).toBe(0);
    expect(out()).toMatch(
      /debt of run run-1 per day:\nUSED BY .*\nmut_1 +run-1 +agent-7 +payments\.issue_refund +50\.00 INR +- +settled\ncompensation of mut_0 .*\nand others/,
    );
    expect(out()).toContain('debt of run run-1 per day: used by nothing that still stands');
  });
});
