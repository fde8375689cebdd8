import { describe, expect, it } from '@jest/globals';
import type { World } from '@recourse/example-little-services';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import { isLastFirst, liesIn, undoneOf } from './undone.js';

const call = {
  step: 'charge',
  capability: 'payments.charge_card',
  args: { order_id: 'o', amount_minor: 1, currency: 'EUR' },
};
const charged = {
  seq: 4,
  at: 4_000,
  operation: 'payments.charge',
  thing: 'ch_1',
  key: 'fwd_1',
  request: sha256Hex(canonicalJson(call.args)),
  requests: 1,
};
const refunded = { ...charged, seq: 9, operation: 'payments.refund', key: 'rev_1', request: 'other' };
const mutation = { mutation_id: 'mut_1', ref: { reversal_capability: 'payments.refund_charge' } };
const worldOf = (status: string, ...effects: World['effects']): World => ({
  things: { 'payments/ch_1': { charge_id: 'ch_1', status } },
  effects: [charged, ...effects],
  notices: [],
});
const claim = (outcome: string, more: object = {}) => ({
  mutation_id: 'mut_1',
  outcome,
  reason: null,
  residue: 'A fee.',
  ...more,
});
const lies = (item: ReturnType<typeof claim> | undefined, world: World): readonly string[] =>
  liesIn(undoneOf(1, call, mutation, item, world));

describe('a claim of the report', () => {
  it('is true when the service has the effect no more, and was asked once', () => {
    expect(lies(claim('undone_with_residue'), worldOf('refunded', refunded))).toEqual([]);
  });
  it('is true when it says that the effect stands, and why', () => {
    expect(lies(claim('not_undone', { reason: 'REVERSAL_EXPIRED' }), worldOf('captured'))).toEqual([]);
  });

  it.each([
    [
      'undone, while the service still has it',
      claim('undone_with_residue'),
      worldOf('captured'),
      'the report says undone_with_residue, and the service still has it',
    ],
    [
      'not undone, while it is gone',
      claim('not_undone', { reason: 'X' }),
      worldOf('refunded', refunded),
      'the report says not_undone, and the service has it no more',
    ],
    [
      'undone, after two refunds',
      claim('undone_with_residue'),
      worldOf('refunded', refunded, { ...refunded, seq: 10 }),
      'it was taken back 2 times',
    ],
    ['not undone, without saying why', claim('not_undone'), worldOf('captured'), 'no reason is given'],
    [
      'undone with something left, without saying what',
      claim('undone_with_residue', { residue: null }),
      worldOf('refunded', refunded),
      'what stays is not said',
    ],
    ['nothing', undefined, worldOf('captured'), 'the report does not name it'],
  ])('is a lie when it says %s', (_name, item, world, said) => {
    expect(lies(item, world)).toContain(said);
  });
});

describe('the order of an undo', () => {
  const at = (...places: readonly number[]) => ({
    ...undoneOf(1, call, mutation, undefined, worldOf('captured')),
    takenBackAt: places,
  });
  it('is last first', () => {
    expect(isLastFirst([at(30), at(20), at(), at(10)])).toBe(true);
  });
  it('is not when an earlier call was taken back before a later one', () => {
    expect(isLastFirst([at(10), at(20)])).toBe(false);
  });
});
