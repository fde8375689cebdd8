import { describe, expect, it } from '@jest/globals';
import { rollbacksQuery, sourcesQuery } from './rollback-statements.js';
import type { Query } from '@recourse/service';

const REPORTS: readonly (readonly [name: string, read: (tenant: string | undefined) => Query])[] = [
  ['rollbacks', (tenant) => rollbacksQuery('agent', { tenant }, 5)],
  ['sources', (tenant) => sourcesQuery({ tenant, source: 'warehouse' }, 5)],
];

describe.each(REPORTS)('the statement of %s', (_name, read) => {
  it('is narrowed to the tenant, which is a parameter', () => {
    const { text, values } = read('acme');
    expect(text).toContain(`tenant = $${String(values.indexOf('acme') + 1)}`);
    expect(text).not.toContain('acme');
  });

  it('has a value for each parameter and none besides', () => {
    const { text, values } = read('acme');
    expect([...new Set([...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))].sort()).toEqual(
      values.map((_, n) => n + 1),
    );
  });

  it('reads all tenants only where none is named', () => {
    expect(read(undefined).text).not.toContain('tenant = $');
  });
});

describe('a statement over two tables', () => {
  it('of sources has the tenant in both branches (Q1)', () => {
    const { text, values } = sourcesQuery({ tenant: 'acme', source: 'warehouse' }, 5);
    expect(text.match(/WHERE tenant = \$1 AND source = \$2/gu)).toHaveLength(2);
    expect([text.split(' FROM "').length, values]).toEqual([3, ['acme', 'warehouse', 6]]);
  });

  it('of rollbacks looks at how those of the tenant ended, and at those without an effect too', () => {
    const { text, values } = rollbacksQuery('source', { tenant: 'acme' }, 5);
    expect(text).toContain('LEFT JOIN');
    expect(text).toContain('m.tenant = r.tenant');
    expect(values).toEqual(['acme', 6]);
  });

  it.each([
    ['agent', 'agent_id'],
    ['policy', 'policy'],
    ['source', 'source'],
  ] as const)('of rollbacks groups them by %s (E48)', (by, column) => {
    expect(rollbacksQuery(by, {}, 5).text).toContain(`SELECT tenant, ${column} AS name`);
  });
});
