import { describe, expect, it } from '@jest/globals';
import { parseContract } from '../body.js';
import { labelContract, mailContract, refundContract } from '../fixtures.testing.js';
import type { ContractJson } from '../fixtures.testing.js';
import type { Contract } from '../shape.js';
import { termsOf } from '../terms.js';
import { compatibilityReport } from './compatibility.js';
import { diffContracts, isWeakening } from './contract-diff.js';

function parsed(json: ContractJson): Contract {
  const read = parseContract(JSON.stringify(json));
  if (!read.ok) throw new Error(read.problems.map((each) => each.message).join('\n'));
  return read.contract;
}
const refund = parsed(refundContract());
const kinds = (from: ContractJson, to: ContractJson): readonly string[] =>
  diffContracts(parsed(from), parsed(to)).map(({ kind, path }) => `${kind} ${path}`);
const of = (field: string, change: ContractJson): ContractJson =>
  refundContract({ [field]: { ...(refundContract()[field] as ContractJson), ...change } });

const args = (schema: ContractJson): ContractJson => refundContract({ args_schema: { type: 'object', ...schema } });

const THEN = {
  capability: 'payments.close_order',
  args: { order_id: { from: 'args', path: '/order_id' } },
  verification: { ...(refundContract()['verification'] as object), max_attempts: 1 },
};

describe('a newer version', () => {
  const WEAKER: readonly (readonly [string, ContractJson, ContractJson, string])[] = [
    [
      'dual control becomes one person',
      refundContract({ recovery_approval_mode: 'dual_control' }),
      refundContract(),
      '/recovery_approval_mode',
    ],
    [
      'one person becomes nobody',
      labelContract(),
      { ...labelContract(), recovery_approval_mode: 'auto' },
      '/recovery_approval_mode',
    ],
    ['the window grows', refundContract(), refundContract({ reversal_window_ms: 7_200_000 }), '/reversal_window_ms'],
    [
      'the cap rises',
      refundContract(),
      of('blast_radius', { max_value_per_run: { amount_minor: 500_001, currency: 'INR' } }),
      '/blast_radius/max_value_per_run/amount_minor',
    ],
    [
      'a cap goes',
      refundContract(),
      of('blast_radius', { max_calls_per_run: undefined }),
      '/blast_radius/max_calls_per_run',
    ],
    ['calls reach further', refundContract(), of('blast_radius', { scope: 'tenant' }), '/blast_radius/scope'],
    ['a fact counts no more', refundContract(), of('stale_check', { volatile: ['/status'] }), '/stale_check/volatile'],
    [
      'a compensation costs less, and the debt with it',
      of('recovery_cost', { value: { amount_minor: 9, currency: 'INR' } }),
      of('recovery_cost', { value: { amount_minor: 8, currency: 'INR' } }),
      '/recovery_cost/value/amount_minor',
    ],
    [
      'a pattern lets names into closed arguments',
      args({ additionalProperties: false }),
      args({ additionalProperties: false, patternProperties: { '.*': {} } }),
      '/args_schema/patternProperties/.*',
    ],
    [
      'nothing is said of an argument that is still let in',
      args({ properties: { a: { maximum: 5 } } }),
      args({ properties: {} }),
      '/args_schema/properties/a',
    ],
    [
      'nothing is said of names that are still let in',
      args({ patternProperties: { '^n': { type: 'number' } } }),
      args({ patternProperties: {} }),
      '/args_schema/patternProperties/^n',
    ],
    ['the stale check goes', refundContract(), refundContract({ stale_check: undefined }), '/stale_check'],
    [
      'the success condition changes',
      refundContract(),
      of('verification', { success_condition: 'true' }),
      '/verification/success_condition',
    ],
    [
      'the forward approval falls',
      mailContract(),
      { ...mailContract(), forward_approval: 'policy' },
      '/forward_approval',
    ],
    [
      'the hold shrinks',
      { ...mailContract(), commit_hold_ms: 60_000, cancel_capability: 'mail.drop_message' },
      { ...mailContract(), commit_hold_ms: 1_000, cancel_capability: 'mail.drop_message' },
      '/commit_hold_ms',
    ],
    [
      'the handle is no longer required',
      refundContract(),
      refundContract({ requires_external_handle: false }),
      '/requires_external_handle',
    ],
    [
      'an argument comes from elsewhere',
      refundContract(),
      of('reversal_args', { reason: { from: 'constant', value: 'other' } }),
      '/reversal_args/reason',
    ],
    [
      'another action undoes it',
      refundContract(),
      refundContract({ compensation_capability: 'payments.charge_again' }),
      '/compensation_capability',
    ],
    ['the class claims more', mailContract(), { ...mailContract(), reversal_class: 'reversible' }, '/reversal_class'],
    ['the impact counts for less', refundContract(), refundContract({ impact: 'write' }), '/impact'],
    [
      'arguments may be larger',
      refundContract({ args_schema: { type: 'object', properties: { a: { maximum: 5 } } } }),
      refundContract({ args_schema: { type: 'object', properties: { a: { maximum: 6 } } } }),
      '/args_schema/properties/a/maximum',
    ],
    [
      'an argument is no longer required',
      refundContract({ args_schema: { type: 'object', required: ['a', 'b'] } }),
      refundContract({ args_schema: { type: 'object', required: ['a'] } }),
      '/args_schema/required',
    ],
    [
      'the way back is given up',
      refundContract({ compensation_mode: { mode: 'manual_runbook', reason: 'r', runbook: 'x' } }),
      refundContract({ compensation_mode: { mode: 'not_supported', reason: 'r', accepted_by: 'o' } }),
      '/compensation_mode/mode',
    ],
    [
      'the currency of a cap changes',
      refundContract(),
      of('blast_radius', { max_value_per_run: { amount_minor: 1, currency: 'EUR' } }),
      '/blast_radius/max_value_per_run/currency',
    ],
    [
      'an event no longer closes the window',
      refundContract(),
      refundContract({ window_closed_by: [] }),
      '/window_closed_by',
    ],
    ['the debt weighs less', refundContract({ debt_weight: 0.5 }), refundContract(), '/debt_weight'],
    ['it is tried more often unasked', refundContract(), refundContract({ max_attempts: 4 }), '/max_attempts'],
    ['more is called to undo it', refundContract(), refundContract({ reversal_then: [THEN] }), '/reversal_then'],
    [
      'an amount goes before that of the value',
      refundContract({ consequence: undefined }),
      refundContract({ consequence: { money: '0' } }),
      '/consequence/money',
    ],
    [
      'a value says another unit of the amount',
      refundContract({ value: undefined, consequence: { money: 'args.amount_minor' } }),
      refundContract({
        value: { amount: '/amount_minor', currency: '/currency' },
        consequence: { money: 'args.amount_minor' },
      }),
      '/value',
    ],
  ];

  it.each(WEAKER)('is weaker when %s, and says why', (_, from, to, path) => {
    const found = diffContracts(parsed(from), parsed(to));
    expect(found[0]).toMatchObject({ kind: 'weakening', path, reason: expect.stringMatching(/\w{2,} \w/) });
    expect(isWeakening(found)).toBe(true);
  });

  it.each(
    WEAKER.filter(
      ([, , , path]) =>
        ![
          '/reversal_class',
          '/compensation_capability',
          '/reversal_args/reason',
          '/verification/success_condition',
          '/blast_radius/max_value_per_run/currency',
          '/recovery_cost/value/amount_minor', // either way: a bound, and what the debt weighs
          '/args_schema/properties/a', // neutral: an argument is added
          '/reversal_then', // either way: something else is called
          '/consequence/money', // either way: money is counted otherwise
          '/value',
        ].includes(path),
    ),
  )('is stronger the other way round: %s', (_, from, to, path) => {
    expect(kinds(to, from)).toEqual(expect.arrayContaining([`strengthening ${path}`]));
    expect(isWeakening(diffContracts(parsed(to), parsed(from)))).toBe(false);
  });

  it('is neither when only its words, its owner and its result change', () => {
    const found = diffContracts(
      refund,
      parsed(
        refundContract({
          effect: 'e',
          owner: 'o',
          risk: 'r',
          residue: 's',
          result_schema: { type: 'object' },
          call_timeout_ms: 3_000,
        }),
      ),
    );
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['neutral']));
    expect(found).toHaveLength(6);
  });

  it('is no weaker when it says the amount of its value, or counts what it counted nothing of', () => {
    const itsOwn = { consequence: { money: ' args.amount_minor' } };
    const uncounted = refundContract({ value: undefined, consequence: undefined });
    expect(kinds(refundContract({ consequence: undefined }), refundContract(itsOwn))).toEqual([
      'neutral /consequence/money',
    ]);
    expect(kinds(refundContract(itsOwn), refundContract({ consequence: undefined }))).toEqual([
      'neutral /consequence/money',
    ]);
    expect(kinds(uncounted, refundContract({ consequence: { comms: '1' } }))).toEqual([
      'strengthening /value',
      'strengthening /consequence/comms',
    ]);
    const euros = { amount: '/amount_minor', currency: 'EUR' };
    expect(kinds(refundContract({ consequence: undefined }), refundContract({ value: euros, ...itsOwn }))).toEqual([
      'weakening /value',
      'weakening /consequence/money',
    ]);
  });

  it('does not differ in its version, nor from itself', () => {
    expect(diffContracts(refund, { ...refund, version: 9 })).toEqual([]);
  });

  it('takes annotations, and arguments that an open schema names, for no weakening', () => {
    const { properties, additionalProperties: isOpen } = refund.args_schema as {
      readonly properties: object;
      readonly additionalProperties: boolean;
    };
    const named = { title: 'Refund', properties: { ...properties, note: { type: 'string' } } };
    const open = of('args_schema', { additionalProperties: true });
    expect(isOpen).toBe(false);
    expect(kinds(open, of('args_schema', { ...named, additionalProperties: true }))).toEqual([
      'neutral /args_schema/properties/note',
    ]);
    expect(kinds(refundContract(), of('args_schema', named))).toEqual(['weakening /args_schema/properties/note']);
  });
});

describe('a number that a version does not say', () => {
  /** Differences to the version without it, older and newer; values in order: below, at and above what counts then. */
  const around = (with_: (value: number | undefined) => Contract, values: readonly number[]) =>
    values.map((value) =>
      [diffContracts(with_(undefined), with_(value)), diffContracts(with_(value), with_(undefined))].map((found) =>
        found.map(({ kind }) => kind).join(),
      ),
    );
  const terms = (contract: Contract) => termsOf(contract, Buffer.alloc(32));
  const MORE = ['weakening', 'strengthening'];
  const LESS = ['strengthening', 'weakening'];

  it('is weighed as what the terms of a mutation take it for: as many attempts', () => {
    const with_ = (value: number | undefined): Contract => ({ ...refund, max_attempts: value });
    const { max_attempts: count } = terms(with_(undefined));
    expect(around(with_, [1, count - 1, count, count + 1])).toEqual([LESS, LESS, ['', ''], MORE]);
  });

  it('is weighed as what the terms of a mutation take it for: no bound of the window', () => {
    for (const field of ['reversal_window_ms', 'expires_after_commit_ms'] as const) {
      const with_ = (value: number | undefined): Contract => ({
        ...refund,
        reversal_window_ms: undefined,
        [field]: value,
      });
      expect(terms(with_(undefined)).reversal_window_ms).toBeNull();
      expect(around(with_, [1, Number.MAX_SAFE_INTEGER])).toEqual([LESS, LESS]);
    }
  });

  it('is weighed as what the terms of a mutation take it for: no hold', () => {
    const with_ = (value: number | undefined): Contract => ({ ...refund, commit_hold_ms: value });
    expect(terms(with_(undefined)).hold).toBeNull();
    expect(around(with_, [0, 1])).toEqual([['', ''], LESS]);
  });

  it('is weighed as what the terms of a mutation take it for: no word that a key is known', () => {
    const with_ = (value: number | undefined): Contract => ({
      ...refund,
      idempotency: { mechanism: 'm', key_lifetime_ms: value },
    });
    expect(terms(with_(undefined)).key_lifetime_ms).toBeNull();
    expect(around(with_, [1])).toEqual([MORE]);
  });
});

describe('mutations open under an older version', () => {
  const codes = (newer: Contract, open = 3): readonly string[] =>
    compatibilityReport([{ contract: refund, open }], newer).flatMap(({ notes }) => notes.map(({ code }) => code));

  it('are nothing to report when there are none', () => {
    expect(compatibilityReport([{ contract: refund, open: 0 }], refund)).toEqual([]);
  });
  it('are served just as well by a version with the same reversal', () => {
    expect(compatibilityReport([{ contract: refund, open: 3 }], { ...refund, effect: 'e' })).toEqual([
      { version: 1, open: 3, closes_within_ms: 3_600_000, notes: [] },
    ]);
  });
  it.each([
    ['keep their reversal', { compensation_capability: 'payments.charge_again' }, ['REVERSAL_KEPT']],
    ['keep their adapter', { compensation_capability: 'ledger.reverse_refund' }, ['ADAPTER_KEPT', 'REVERSAL_KEPT']],
    [
      'have no successor',
      { reversal_class: 'irreversible', compensation_capability: undefined, forward_approval: 'human' },
      ['NOT_UNDONE_ANY_MORE', 'REVERSAL_KEPT'],
    ],
    ['are bound by more people', { recovery_approval_mode: 'dual_control' }, ['APPROVAL_RAISED']],
    ['keep their window', { reversal_window_ms: 7_200_000 }, ['WINDOW_NOT_LENGTHENED']],
    ['are bound by a shorter window', { reversal_window_ms: 60_000 }, ['WINDOW_SHORTENED']],
    ['need nothing as long as their observers still answer', { reconcile_capability: 'payments.find_refund' }, []],
  ])('%s', (_, change, expected) => {
    expect(codes(parsed(refundContract(change)))).toEqual(expected);
  });

  it('are told what binds them: what is stricter does as well, and what is looser does not', () => {
    const told = (change: ContractJson): readonly string[] =>
      compatibilityReport([{ contract: refund, open: 3 }], parsed(refundContract(change))).flatMap(({ notes }) =>
        notes.map(({ message }) => message),
      );
    const binding = expect.stringContaining('open is bound by it as well');
    const forNew = expect.stringContaining('for new executions alone');
    expect(told({ recovery_approval_mode: 'dual_control' })).toEqual([binding]);
    expect(told({ reversal_window_ms: 60_000 })).toEqual([binding]);
    expect(told({ recovery_approval_mode: 'dual_control', reversal_window_ms: 60_000 })).not.toContainEqual(forNew);
    expect(told({ reversal_window_ms: 7_200_000 })).toEqual([forNew]);
  });

  it('are undone by machines only as long as the newer version lets them', () => {
    const [shorter] = compatibilityReport(
      [{ contract: refund, open: 3 }],
      parsed(refundContract({ reversal_window_ms: 60_000 })),
    );
    expect(shorter?.closes_within_ms).toBe(60_000);
  });
});

describe('the types that a schema of arguments takes', () => {
  const of = (type: unknown): ContractJson =>
    refundContract({ args_schema: { type: 'object', properties: { a: { type } } } });

  it.each([
    ['integer', ['integer'], null],
    [['string', 'null'], ['null', 'string'], null],
    ['number', 'integer', 'strengthening'],
    [['string', 'null'], 'string', 'strengthening'],
    ['integer', 'number', 'weakening'],
    ['integer', ['integer', 'string'], 'weakening'],
  ] as const)('from %j to %j: %s', (from, to, kind) => {
    const found = diffContracts(parsed(of(from)), parsed(of(to))).map((each) => each.kind);
    expect(found).toEqual(kind === null ? [] : [kind]);
  });
});
