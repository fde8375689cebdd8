import { describe, expect, it } from '@jest/globals';
import type { Contract } from '@recourse/contract';
import type { Facts } from '@recourse/example-drifted-refund';
import type { World } from '@recourse/example-little-services';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import { accountFor, heldUntil, since, unaccounted, wentEarly } from './account.js';
import { CAPABILITIES, planOf } from './calls.js';

const call = {
  step: 'charge',
  capability: 'payments.charge_card',
  args: { order_id: 'o', amount_minor: 1, currency: 'EUR' },
};
const request = sha256Hex(canonicalJson(call.args));
const charge = { charge_id: 'ch_1', order_id: 'o', status: 'captured' };
const effect = { seq: 4, at: 4_000, operation: 'payments.charge', thing: 'ch_1', key: 'fwd_1', request, requests: 1 };
const world: World = { things: { 'payments/ch_1': charge }, effects: [effect], notices: [] };
const mutation = {
  mutation_id: 'mut_1',
  capability: call.capability,
  execution_state: 'succeeded',
  recoverability: 'reversal_available',
  execution: { idempotency_key: 'fwd_1', result: { body: charge } },
  ref: {
    external_transaction_ref: 'ch_1',
    reversal_class: 'compensable',
    reversal_capability: 'payments.refund_charge',
    reversal_args: { body: { charge_id: 'ch_1' } },
    reversal_expires_at: 9,
  },
  terms: { recovery_approval_mode: 'human', residue: 'A fee.' },
};
// Only the reason it cannot be compensated is read of it.
const contract = {
  compensation_mode: { mode: 'not_supported', reason: 'What was read cannot be unread.' },
} as unknown as Contract;
const account = (changes: { readonly mutation?: Facts; readonly world?: World } = {}) =>
  accountFor({ at: 1, call, mutation, gate: 'policy', contract, world, ...changes });
const differences = (changes: { readonly mutation?: Facts; readonly world?: World }): readonly string[] =>
  account(changes).differences;

describe('the account of a call', () => {
  it('says how it is undone, until when, by whom, and what stays', () => {
    expect(account()).toMatchObject({
      undo: 'payments.refund_charge {"charge_id":"ch_1"}',
      undoableUntil: 9,
      recoveryApproval: 'human',
      residue: 'A fee.',
      status: 'succeeded, reversal_available',
      differences: [],
    });
  });
  it('says why nothing undoes it', () => {
    expect(
      account({
        mutation: { ...mutation, ref: { external_transaction_ref: 'ch_1', reversal_class: 'irreversible' }, terms: {} },
      }),
    ).toMatchObject({ undo: null, undoableUntil: null, residue: 'What was read cannot be unread.' });
  });

  it.each([
    ['an effect the service never had', { world: { ...world, effects: [] } }, 'the service has 0 effects of it'],
    [
      'an effect that took place twice',
      { world: { ...world, effects: [effect, { ...effect, seq: 5, key: 'k2' }] } },
      'the service has 2 effects of it',
    ],
    [
      'another key',
      { world: { ...world, effects: [{ ...effect, key: 'k2' }] } },
      'the service knows it under another key',
    ],
    [
      'another handle',
      { mutation: { ...mutation, ref: { ...mutation.ref, external_transaction_ref: 'ch_9' } } },
      "the ledger's handle is ch_9, the service's ch_1",
    ],
    [
      'another result',
      {
        mutation: {
          ...mutation,
          execution: { idempotency_key: 'fwd_1', result: { body: { ...charge, status: 'refunded' } } },
        },
      },
      'the result on record is not what the service holds',
    ],
    ['an end nobody knows', { mutation: { ...mutation, execution_state: 'uncertain' } }, 'the ledger says uncertain'],
    ['a second request', { world: { ...world, effects: [{ ...effect, requests: 2 }] } }, 'it was asked for 2 times'],
  ])('sees %s', (_, changes, said) => {
    expect(differences(changes)).toContain(said);
  });

  it('sees what went before its hold was over', () => {
    const held = (until: number) => ({ ...mutation, forward: { hold: { until, is_over: true } } });
    expect([heldUntil(mutation), heldUntil(held(4_000))]).toEqual([null, 4_000]);
    expect([
      wentEarly(call, held(4_000), world),
      wentEarly(call, held(4_001), world),
      wentEarly(call, mutation, world),
    ]).toEqual([false, true, true]);
  });

  it('sees a record that is not there, and an effect that nobody accounts for', () => {
    expect(differences({ mutation: {} })).toContain('the ledger has no record');
    expect(
      unaccounted([call], { ...world, effects: [effect, { ...effect, request: 'other', thing: 'ch_2' }] }),
    ).toEqual(['payments.charge ch_2']);
    expect(since(world, 4).effects).toEqual([]);
  });
});

describe('the twelve calls', () => {
  it('are twelve, of eleven tools, and two runs share no subject (B1)', () => {
    const { calls } = planOf('a');
    expect([calls.length, CAPABILITIES.length, new Set(calls.map(({ step }) => step)).size]).toEqual([12, 11, 12]);
    const subjects = (word: string): readonly string[] =>
      planOf(word).calls.map(({ capability, args }) => `${capability} ${canonicalJson(args)}`);
    expect(subjects('a').filter((one) => subjects('b').includes(one))).toEqual([]);
  });
});
