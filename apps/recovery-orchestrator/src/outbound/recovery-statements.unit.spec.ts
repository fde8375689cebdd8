import { describe, expect, it } from '@jest/globals';
import {
  manualReasonsQuery,
  pacesQuery,
  recoveriesQuery,
  rollbacksQuery,
  sourcesQuery,
  trendsQuery,
} from './recovery-statements.js';
import type { Query } from '@recourse/service';

const REPORTS: readonly (readonly [name: string, read: (tenant: string | undefined) => Query])[] = [
  ['manual reasons', (tenant) => manualReasonsQuery({ tenant, capability: 'payments.issue_refund' }, 5)],
  ['recoveries', (tenant) => recoveriesQuery({ tenant, capability: 'payments.issue_refund' }, 5)],
  ['recoveries of every tool', (tenant) => recoveriesQuery({ tenant }, 5)],
  ['triggers of a day', (tenant) => trendsQuery({ tenant }, 1e12, 5)],
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
  it('of sources has the tenant in both branches (Q1)', () => {
    const { text, values } = sourcesQuery({ tenant: 'acme', source: 'warehouse' }, 5);
    expect(text.match(/WHERE tenant = \$1 AND source = \$2/gu)).toHaveLength(2);
    expect([text.split(' FROM "').length, values]).toEqual([3, ['acme', 'warehouse', 6]]);
    expect(sourcesQuery({}, 5).text).not.toContain('tenant =');
  });

  it('of rollbacks counts commits without an effect beside steps, each once and of the tenant', () => {
    const { text, values } = rollbacksQuery('source', { tenant: 'acme' }, 5);
    expect(text.match(/WHERE tenant = \$1/gu)).toHaveLength(2);
    expect(text).toContain('NOT EXISTS');
    expect([text.includes('acme'), values]).toEqual([false, ['acme', 6]]);
    expect(rollbacksQuery('source', {}, 5).text).not.toContain('tenant = $');
  });

  it('of rates counts who waits of the tenant whose rate it is', () => {
    const { text, values } = pacesQuery({ tenant: 'acme' }, 77, 5);
    expect(text).toContain('w.tenant = p.tenant');
    expect(text).toContain('next_at > $1 AND tenant = $2');
    expect(values).toEqual([77, 'acme', 6]);
  });

  it.each([
    ['agent', 'agent_id'],
    ['policy', 'policy'],
    ['source', 'source'],
  ] as const)('of rollbacks groups them by %s (E48)', (by, column) => {
    expect(rollbacksQuery(by, {}, 5).text).toContain(`SELECT tenant, ${column} AS name`);
  });
});
