import { describe, expect, it } from '@jest/globals';
import { askedQuery, manualReasonsQuery, pacesQuery, recoveriesQuery, timedQuery } from './recovery-statements.js';
import type { Query } from '@recourse/service';

const REPORTS: readonly (readonly [name: string, read: (tenant: string | undefined) => Query])[] = [
  ['manual reasons', (tenant) => manualReasonsQuery({ tenant, capability: 'payments.issue_refund' }, 5)],
  ['recoveries', (tenant) => recoveriesQuery({ tenant, capability: 'payments.issue_refund' }, 5)],
  ['what is asked of workers', (tenant) => askedQuery({ tenant }, 1_000, 5)],
  ['what waits by time', (tenant) => timedQuery({ kind: 'step', where: { tenant, phase: ['manual'] }, limit: 5 })],
  [
    'a later page of it',
    (tenant) => timedQuery({ kind: 'forward', where: { tenant, run_id: 'r' }, after: [7, 0, 'g', 'k'], limit: 5 }),
  ],
  ['recoveries of every tool', (tenant) => recoveriesQuery({ tenant }, 5)],
];

describe.each(REPORTS)('the statement of %s', (_name, read) => {
  it('is narrowed to the tenant, which is a parameter', () => {
    const { text, values } = read('acme');
    expect(text).toContain(`tenant = $${String(values.indexOf('acme') + 1)}`);
    expect(text).not.toContain('acme');
  });

  it('has a value for each parameter and none besides', () => {
    const { text, values } = read('acme');
    expect([...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)).sort()).toEqual(values.map((_, n) => n + 1));
  });

  it('reads all tenants only where none is named', () => {
    expect(read(undefined).text).not.toContain('tenant =');
  });

  it('reads the table once, so that no branch of it escapes the tenant', () => {
    expect(read('acme').text.split(' FROM "').length).toBe(2);
  });
});

describe('a statement over two tables', () => {
  it('of rates counts who waits of the tenant whose rate it is', () => {
    const { text, values } = pacesQuery({ tenant: 'acme' }, 77, 5);
    expect(text).toContain('w.tenant = p.tenant');
    expect(text).toContain('next_at > $1 AND tenant = $2');
    expect(values).toEqual([77, 'acme', 6]);
  });
});

describe('the statement of what waits by time', () => {
  it('takes the soonest of all partitions, what has no time last, and goes on behind the last row of a page', () => {
    const at = 'coalesce(deadline_at, 9007199254740991), log_partition, group_key, row_key';
    const where = { tenant: 'acme', phase: ['manual', 'denied'], run_id: undefined };
    const { text, values } = timedQuery({ kind: 'step', where, after: [7, 2, 'run-1', 'step_1'], limit: 5 });
    expect(text).toContain(
      `WHERE tenant = $1 AND phase = ANY($2) AND (${at}) > ($3, $4, $5, $6) ORDER BY ${at} LIMIT $7`,
    );
    expect(values).toEqual(['acme', ['manual', 'denied'], 7, 2, 'run-1', 'step_1', 6]);
  });
});
