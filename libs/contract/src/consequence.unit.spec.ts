import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { parseContract } from './body.js';
import { atLeast, consequenceOf, debitsOf } from './consequence.js';
import { refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import type { Contract } from './shape.js';

const PLAIN = { content_type: 'application/json' };
const MARKED = { content_type: 'application/json; sensitivity=personal' };
function contract(more: ContractJson): Contract {
  const read = parseContract(JSON.stringify(refundContract(more)));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.contract;
}
const call = (args: Json, result: Json = null) => ({
  args,
  argsPayload: PLAIN,
  result,
  resultPayload: result === null ? null : PLAIN,
});
const args = { amount_minor: 4_200, currency: 'INR', to: ['a', 'b'] };

describe('the consequence of a call', () => {
  it('has what each dimension says, in its own minor units', () => {
    const of = contract({
      consequence: {
        money: 'args.amount_minor',
        comms: 'args.to.size()',
        commitments: '1',
        exposure: '3',
        regulatory: '1',
      },
    });
    expect(consequenceOf(of, call(args)).values).toEqual([
      { amount_minor: 4_200, currency: 'INR' },
      { amount_minor: 2_000, currency: 'comms' },
      { amount_minor: 1_000, currency: 'commitments' },
      { amount_minor: 1, currency: 'regulatory' },
      { amount_minor: 3, currency: 'exposure' },
    ]);
  });

  it.each([
    ['what is not there', 'args.nothing'],
    ['a negative amount', '-1'],
    ['a text', "'many'"],
    ['no number', '0.0 / 0.0'],
    ['more than can be counted', '9007199254740993'],
    ['more than can be counted in minor units', '9007199254741'],
    ['as many as an integer holds', '9007199254740991'],
  ])('is unread, and never nothing, where it says %s', (_what, comms) => {
    const read = consequenceOf(contract({ consequence: { comms } }), call(args));
    expect(read.unread).toEqual(['comms']);
    expect(read.values.map(({ currency }) => currency)).toEqual(['INR']);
    expect(atLeast(read)).toContainEqual({ amount_minor: 1_000, currency: 'comms' });
  });

  it.each(['args.nothing', '-1', "'many'"])(
    'is an unread disclosure, and never none, where its contract says %s',
    (exposure) => {
      const read = consequenceOf(contract({ consequence: { exposure } }), call(args));
      expect(read.unread).toEqual(['exposure']);
      expect(atLeast(read)).toContainEqual({ amount_minor: 1, currency: 'exposure' });
      expect(atLeast(consequenceOf(contract({ consequence: { exposure: '0' } }), call(args)))).toContainEqual({
        amount_minor: 0,
        currency: 'exposure',
      });
    },
  );

  it.each([['4200'], [4_200.5], [-1], [2 ** 53], [null]])(
    'is unread money, and never none, where the amount it names is %j',
    (amount) => {
      expect(
        consequenceOf(contract({ consequence: undefined }), call({ ...args, amount_minor: amount })),
      ).toMatchObject({
        values: [],
        unread: ['money'],
      });
    },
  );

  it('is unread before the call where only its answer tells, and read after it', () => {
    const of = contract({ consequence: { exposure: 'result.records.size()' } });
    expect(consequenceOf(of, call(args)).unread).toEqual(['exposure']);
    expect(consequenceOf(of, call(args, { records: [1, 2] })).values).toContainEqual({
      amount_minor: 2,
      currency: 'exposure',
    });
  });

  it('counts a disclosure from marks on arguments and on the answer, and none by default (A81)', () => {
    const of = contract({ approval_mode: 'network', consequence: undefined });
    const units = (argsPayload: typeof PLAIN, resultPayload: typeof PLAIN) =>
      consequenceOf(of, { args, argsPayload, result: {}, resultPayload }).values.map(({ currency }) => currency);
    expect([units(PLAIN, PLAIN), units(MARKED, PLAIN), units(PLAIN, MARKED)]).toEqual([
      ['INR'],
      ['INR', 'exposure'],
      ['INR', 'exposure'],
    ]);
  });

  it('weighs in full what nothing takes back, whatever the class', () => {
    const values = ['exposure', 'regulatory', 'comms'].map((currency) => ({ amount_minor: 10, currency }));
    expect(debitsOf(contract({}), 'compensable', values).map(({ debit_minor }) => debit_minor)).toEqual([10, 10, 1]);
  });
});
