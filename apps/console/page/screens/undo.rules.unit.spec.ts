// What somebody who undoes a run is held to.
import { describe, expect, it } from '@jest/globals';
import { isSameUndo, previewOf, tenantsIn, undoCounts, undoHappens, undoOf, whoseOf, whyNoUndo } from './undo.rules.js';

const ITEM = {
  mutation_id: 'mut_1',
  capability: 'payments.issue_refund',
  outcome: 'can_be_undone',
  residue: null,
  closes_in_ms: 9_000,
};
const READ = {
  run_id: 'run_1',
  counts: { can_be_undone: 1, leaves_residue: 0 },
  approvals_needed: 0,
  items: [ITEM],
};

describe('an undo that somebody read', () => {
  it('says how much it compensates and who agrees', () => {
    expect(undoHappens({ ...READ, approvals_needed: 1 }).slice(0, 2)).toEqual([
      '1 effect is compensated, last first, each as its contract says.',
      'By their contracts somebody has to agree to 1 of them first; policies, and what is too risky, may ask for more.',
    ]);
  });

  it('counts one effect as one, and what there is none of not at all', () => {
    const counts = { can_be_undone: 0, leaves_residue: 1, nothing_to_undo: 1, under_way: 2 };
    expect(undoCounts({ counts }).map(([, count, words]) => `${String(count)} ${words}`)).toEqual([
      '1 can be undone and leaves something different',
      '1 has nothing to undo',
      '2 are under way already',
    ]);
  });

  it.each([
    ['can be undone', 'can_be_undone', true],
    ['leaves something', 'leaves_residue', true],
    ['only people can undo', 'cannot_be_undone', true],
    ['nobody knows yet', 'not_known_yet', true],
    ['is no more there', 'nothing_to_undo', false],
    ['is being undone', 'under_way', false],
  ])('is asked for where an effect %s: %s, %j', (_what, name, may) => {
    expect(whyNoUndo({ counts: { can_be_undone: 0, [name]: 1 } }) === null).toBe(may);
  });

  it.each([
    ['the run has a further effect', { ...READ, items: [{ ...ITEM, mutation_id: 'mut_2' }, ITEM] }],
    ['another effect is in its place', { ...READ, items: [{ ...ITEM, mutation_id: 'mut_2' }] }],
    ['an effect can be undone no more', { ...READ, items: [{ ...ITEM, outcome: 'cannot_be_undone' }] }],
    ['something stays of one', { ...READ, items: [{ ...ITEM, residue: 'a mail' }] }],
    ['somebody has to agree by now', { ...READ, approvals_needed: 1 }],
  ])('is another one once %s', (_why, now) => {
    expect(isSameUndo(READ, now)).toBe(false);
  });

  it('is the same while only time passes', () => {
    expect(isSameUndo(READ, { ...READ, items: [{ ...ITEM, closes_in_ms: 4_000 }] })).toBe(true);
  });
});

describe('the preview of an undo', () => {
  it('names a run that no path can hold in the query', () => {
    for (const run of ['.', '..'])
      expect(previewOf({ runId: run, tenant: null })).toEqual({ path: { run_id: 'in-query' }, query: { run_id: run } });
    for (const run of ['run_1', '...', 'a/b', '%2F'])
      expect(previewOf({ runId: run, tenant: null })).toEqual({ path: { run_id: run }, query: {} });
  });

  it('is of the tenant whose run is undone, and of no other that has a run of this name', () => {
    expect(previewOf({ runId: 'run_1', tenant: 'acme' })).toEqual({
      path: { run_id: 'run_1' },
      query: { tenant: 'acme' },
    });
    expect(previewOf({ runId: '..', tenant: 'acme' }).query).toEqual({ tenant: 'acme', run_id: '..' });
  });
});

it('an undo of one effect is previewed and asked for that alone, and one of a run for all of it', () => {
  const one = { runId: '..', tenant: 'acme', mutationId: 'mut_1' };
  expect(previewOf(one).query).toEqual({ tenant: 'acme', run_id: '..', mutation_id: 'mut_1' });
  expect(undoOf(one, 'why')).toEqual({ run_id: '..', tenant: 'acme', mutation_ids: ['mut_1'], reason: 'why' });
  expect(undoOf({ runId: 'run_1', tenant: null }, 'why')).toEqual({ run_id: 'run_1', reason: 'why' });
});

describe('a run of a name that several tenants have', () => {
  const rows = ['globex', 'acme', 'globex'].map((tenant) => ({ tenant }));

  it('is undone for nobody before somebody says whose is meant', () => {
    expect(tenantsIn(rows)).toEqual(['acme', 'globex']);
    expect(whoseOf(tenantsIn(rows), undefined, true)).toBeUndefined();
    expect(whoseOf(tenantsIn(rows), 'acme', true)).toBe('acme');
  });

  it('is that of the only tenant there is, and nobody’s while nothing was read', () => {
    expect(whoseOf(['acme'], undefined, false)).toBe('acme');
    expect(whoseOf([], undefined, false)).toBeUndefined();
    expect(whoseOf([], undefined, true)).toBeNull();
  });
});
