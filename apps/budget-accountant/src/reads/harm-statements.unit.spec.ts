import { describe, expect, it } from '@jest/globals';
import type { Query } from '@recourse/service';
import {
  closingQuery,
  closingTotalsQuery,
  effectCountsQuery,
  OPEN_ESCALATIONS_QUERY,
  STANDING_TOTALS_QUERY,
  standingDebtQuery,
  usersQuery,
} from './harm-statements.js';

const USERS = { run_id: 'run-1', currency: 'INR', measure: 'debt', since: 7, isOverrun: true } as const;
const READS: readonly (readonly [name: string, read: (tenant: string) => Query])[] = [
  ['what stands', (tenant) => standingDebtQuery({ by: 'agent', tenant, capability: 'c' }, 7)],
  ['how many there are', (tenant) => effectCountsQuery({ by: 'capability', tenant, agent_id: ['a', 'agent:a'] }, 7)],
  ['what closes', (tenant) => closingQuery({ by: 'tenant', tenant }, 7, 5)],
  ['what uses a bound', (tenant) => usersQuery(tenant, USERS, 5)],
];

describe.each(READS)('the statement of %s', (_name, read) => {
  it('is narrowed to the tenant in every branch, which is a parameter', () => {
    const { text, values } = read('acme');
    const reads = text.match(/FROM "[^"]+"\."[^"]+"/gu) ?? [];
    const own = values.flatMap((value, at) => (value === 'acme' ? [`tenant = $${String(at + 1)}`] : []));
    const narrowed = own.map((condition) => text.split(new RegExp(`${condition.replace('$', '\\$')}\\b`)).length - 1);
    expect(narrowed.reduce((all, one) => all + one, 0)).toBe(reads.length);
    expect(text).not.toContain('acme');
  });

  it('has a value for each parameter and none besides', () => {
    const { text, values } = read('acme');
    const used = new Set([...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
    expect([...used].sort((a, b) => a - b)).toEqual(values.map((_, n) => n + 1));
  });
});

describe('the statement of what holds a run up', () => {
  it('finds the overruns that nobody let stand, also those that a person denied', () => {
    expect(usersQuery('acme', USERS, 5).text).toContain("e.about = 'overrun' AND e.phase <> 'approved'");
  });
});

describe('the statements behind the gauges', () => {
  it('read running sums and open questions, and no reservation', () => {
    const statements = [STANDING_TOTALS_QUERY, closingTotalsQuery(7), OPEN_ESCALATIONS_QUERY];
    expect(statements.flatMap(({ text }) => text.match(/FROM "[^"]+"\."[^"]+"/gu) ?? [])).toEqual([
      'FROM "budgets"."debt_totals"',
      'FROM "budgets"."debt_closings"',
      'FROM "budgets"."escalations"',
    ]);
  });
});
