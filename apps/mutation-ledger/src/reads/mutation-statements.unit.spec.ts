import { describe, expect, it } from '@jest/globals';
import {
  effectsQuery,
  exposureQuery,
  manualReasonsQuery,
  namedQuery,
  pageQuery,
  runQuery,
  stakeQuery,
} from './mutation-statements.js';
import type { Query } from '@recourse/service';

const CLOSING = { after: 1, until: 2 };
const READS: readonly (readonly [name: string, read: (tenant: string | undefined) => Query])[] = [
  ['a page in order of place', (tenant) => pageQuery({ filter: { tenant, run_id: 'r' }, order: 'place', limit: 5 })],
  [
    'a later page of one status',
    (tenant) => pageQuery({ filter: { tenant, status: 'uncertain' }, order: 'updated', after: [7, 'mut_1'], limit: 5 }),
  ],
  [
    'a page of what closes',
    (tenant) =>
      pageQuery({
        filter: { tenant, recoverability: 'reversal_available' },
        order: 'expiry',
        closing: CLOSING,
        after: [7, 'mut_1'],
        limit: 5,
      }),
  ],
  [
    'a later page of the newest',
    (tenant) => pageQuery({ filter: { tenant }, order: 'newest', after: [7, 'mut_1'], limit: 5 }),
  ],
  [
    'a page of effects',
    (tenant) => effectsQuery({ filter: { tenant, run_id: 'r' }, order: 'updated', after: [7, 'mut_1'], limit: 5 }),
  ],
  ['the money at stake', (tenant) => stakeQuery({ tenant }, CLOSING)],
  ['the exposure', (tenant) => exposureQuery({ tenant, capability: 'payments.issue_refund' }, 7, 5)],
  ['manual reasons', (tenant) => manualReasonsQuery({ tenant, capability: 'payments.issue_refund' }, 5)],
  ['a name', (tenant) => namedQuery('rb_1', tenant)],
  ['a run', (tenant) => runQuery('run-1', tenant)],
];

describe.each(READS)('the statement of %s', (_name, read) => {
  it('is narrowed to the tenant, which is a parameter', () => {
    const { text, values } = read('acme');
    const at = values.indexOf('acme') + 1;
    for (const branch of text.split(' UNION ALL ')) expect(branch).toContain(`tenant = $${String(at)}`);
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
});

describe('a page', () => {
  it('of effects and of what undid some is cut in each table, before the rows of both are put in order', () => {
    const { text } = effectsQuery({ filter: {}, order: 'updated', after: [7, 'mut_1'], limit: 5 });
    const branches = text.split(' UNION ALL ');
    expect(branches).toHaveLength(2);
    for (const branch of branches)
      expect(branch).toContain('WHERE (updated_at, row_key) > ($1, $2) ORDER BY updated_at, row_key LIMIT $3)');
  });

  it('begins behind the last row of the one before, in its own order', () => {
    const { text, values } = pageQuery({ filter: {}, order: 'updated', after: [7, 'mut_1'], limit: 5 });
    expect(text).toMatch(/WHERE \(updated_at, row_key\) > \(\$1, \$2\) ORDER BY updated_at, row_key LIMIT \$3$/);
    expect(values).toEqual([7, 'mut_1', 6]);
  });
});

describe('the statement of the newest', () => {
  it('begins behind the last row of the page before, backwards in time', () => {
    const { text, values } = pageQuery({ filter: { tenant: 'acme' }, order: 'newest', after: [7, 'mut_1'], limit: 5 });
    expect(text).toContain('(created_at, row_key) < ($2, $3) ORDER BY created_at DESC, row_key DESC LIMIT $4');
    expect(values).toEqual(['acme', 7, 'mut_1', 6]);
  });
});
