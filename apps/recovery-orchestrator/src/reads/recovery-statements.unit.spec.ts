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
    const used = new Set([...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
    expect([...used].sort()).toEqual(values.map((_, n) => n + 1));
  });

  it('reads all tenants only where none is named', () => {
    expect(read(undefined).text).not.toContain('tenant =');
  });

  it('is narrowed wherever it reads the table, so that no branch of it escapes the tenant', () => {
    const reads = read('acme').text.split(' FROM "').slice(1);
    expect(reads).not.toEqual([]);
    // Up to its grouping or its order, whichever comes first.
    expect(reads.filter((one) => !/\btenant = \$\d/u.test(one.split(/ (?:GROUP|ORDER) BY /u)[0] ?? ''))).toEqual([]);
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
  const where = { tenant: 'acme', phase: ['manual', 'denied'], run_id: undefined };
  const place = 'log_partition, group_key, row_key';

  it('takes the soonest of each phase by an order that an index has, what has no time last, and sorts no more', () => {
    const { text, values } = timedQuery({ kind: 'step', where, limit: 5 });
    for (const phase of ['$2', '$3']) {
      const waits = `tenant = $1 AND phase = ${phase}`;
      expect(text).toContain(`${waits} AND deadline_at IS NOT NULL ORDER BY deadline_at, ${place} LIMIT $4`);
      expect(text).toContain(`${waits} AND deadline_at IS NULL ORDER BY ${place} LIMIT $4`);
    }
    expect(text).toContain(`ORDER BY at, ${place} LIMIT $4`);
    expect(values).toEqual(['acme', 'manual', 'denied', 6]);
  });

  it('goes on behind the last row of a page: among those that have a time, and behind all of them among the others', () => {
    const timed = timedQuery({ kind: 'step', where, after: [7, 2, 'run-1', 'step_1'], limit: 5 });
    expect(timed.text).toContain(`deadline_at IS NOT NULL AND (deadline_at, ${place}) > ($4, $5, $6, $7) ORDER BY`);
    expect(timed.text).toContain(`deadline_at IS NULL ORDER BY`);
    expect(timed.values).toEqual(['acme', 'manual', 'denied', 7, 2, 'run-1', 'step_1', 6]);
    const after = [Number.MAX_SAFE_INTEGER, 2, 'run-1', 'step_1'] as const;
    const rest = timedQuery({ kind: 'step', where, after, limit: 5 });
    expect(rest.text).not.toContain('IS NOT NULL');
    expect(rest.text).toContain(`deadline_at IS NULL AND (${place}) > ($4, $5, $6) ORDER BY`);
    expect(rest.values).toEqual(['acme', 'manual', 'denied', 2, 'run-1', 'step_1', 6]);
  });
});
