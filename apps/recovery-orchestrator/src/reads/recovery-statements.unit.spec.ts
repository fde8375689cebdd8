import { describe, expect, it } from '@jest/globals';
import { askedQuery, manualReasonsQuery, pacesQuery, recoveriesQuery } from './recovery-statements.js';
import type { Query } from '@recourse/service';

const REPORTS: readonly (readonly [name: string, read: (tenant: string | undefined) => Query])[] = [
  ['manual reasons', (tenant) => manualReasonsQuery({ tenant, capability: 'payments.issue_refund' }, 5)],
  ['recoveries', (tenant) => recoveriesQuery({ tenant, capability: 'payments.issue_refund' }, 5)],
  ['what is asked of workers', (tenant) => askedQuery({ tenant }, 1_000, 5)],
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
