import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bindReversal } from './binding.js';
import { contractBody, contractDigest, parseContract } from './body.js';
import { weightOf } from './class.js';
import { boundFacts, evaluateCondition } from './condition.js';
import { exampleContract, refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import { PayloadUnreadable, plainPayload, readPayload } from './payload.js';
import type { Contract } from './shape.js';
import { termsOf } from './terms.js';
import { debitsOf, subjectOf, valueOf, weighted } from './consequence.js';
import {
  contractByDigest,
  contractByName,
  contractOfOpen,
  contractsOfCalled,
  contractView,
  editorsOf,
} from './view.js';

function parsed(json: ContractJson): Contract {
  const read = parseContract(JSON.stringify(json));
  if (!read.ok) throw new Error(read.problems.map((each) => each.message).join('\n'));
  return read.contract;
}
const refund = parsed(refundContract());
const args = { order_id: 'order/4711', amount_minor: 500_000, currency: 'INR' };
const facts = { args, result: { refund_id: 'r1' }, priorValue: null, externalRef: 'psp_1' };

it('reads no JSON that is nested too deep, in a payload or a contract', () => {
  const deep = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000));
  const payload = { ...plainPayload(1), body: deep, sha256: createHash('sha256').update(deep).digest() };
  expect(() => readPayload(payload)).toThrow(expect.objectContaining({ code: 'PAYLOAD_NOT_JSON' }));
  const body = JSON.stringify(refundContract()).replace('{', `{"x":${'{"x":'.repeat(5_000)}1${'}'.repeat(5_000)},`);
  expect(parseContract(body)).toMatchObject({ ok: false, problems: [{ code: 'CONTRACT_NOT_JSON' }] });
});

describe('binding a reversal', () => {
  it('takes each argument from where the contract says', () => {
    expect(bindReversal(refund, facts)).toEqual({
      kind: 'bound',
      args: { refund_id: 'psp_1', amount_minor: 500_000, currency: 'INR', reason: 'agent_effect_compensation' },
      then: [],
    });
  });

  it.each([null, ''])('is incomplete without the handle it requires (%j)', (externalRef) => {
    expect(bindReversal(refund, { ...facts, externalRef })).toEqual({
      kind: 'incomplete',
      missing: ['external_transaction_ref'],
    });
  });

  it('is incomplete without the prior value it requires, even when no argument reads it', () => {
    expect(bindReversal(parsed(refundContract({ requires_prior_value_capture: true })), facts)).toEqual({
      kind: 'incomplete',
      missing: ['prior_value'],
    });
  });

  it('names the argument that was not there', () => {
    expect(bindReversal(refund, { ...facts, args: { currency: 'INR' } })).toEqual({
      kind: 'incomplete',
      missing: ['args/amount_minor'],
    });
  });

  it('takes an argument from an earlier compensation once there is one, and is incomplete before', () => {
    const contract = parsed(
      refundContract({ reversal_args: { fee: { from: 'step', capability: 'travel.book_trip', path: '/fee' } } }),
    );
    expect(bindReversal(contract, facts)).toEqual({
      kind: 'incomplete',
      missing: ['steps.travel.book_trip.result/fee'],
    });
    expect(bindReversal(contract, { ...facts, steps: { 'travel.book_trip': { fee: 7 } } })).toEqual({
      kind: 'bound',
      args: { fee: 7 },
      then: [],
    });
    expect(bindReversal(contract, { ...facts, steps: { 'travel.book_trip': {} } })).toMatchObject({
      kind: 'incomplete',
    });
  });

  it('binds every call of a reversal, and leaves to its worker what an earlier one gives', () => {
    const sale = { args: { drawer: 'd-1', article: 'a' }, result: {}, priorValue: null, externalRef: 's-1' };
    const contract = parsed(exampleContract('till.ring_sale'));
    expect(bindReversal(contract, sale)).toMatchObject({
      kind: 'bound',
      args: { sale: 's-1' },
      then: [
        {
          capability: 'till.reset_drawer',
          args: plainPayload({ drawer: 'd-1' }),
          taken: [{ name: 'receipt', call: 1, path: '/void_receipt' }],
          verify_capability: 'till.get_drawer',
        },
      ],
    });
    const lacking = { ...sale, args: { article: 'a' } };
    expect(bindReversal(contract, lacking)).toEqual({ kind: 'incomplete', missing: ['args/drawer'] });
  });

  it('binds nothing where nothing undoes it', () => {
    expect(bindReversal(parsed(exampleContract('payments.reverse_refund')), facts)).toEqual({ kind: 'none' });
    const runbook = { mode: 'manual_runbook', reason: 'by hand' };
    expect(bindReversal(parsed(refundContract({ compensation_mode: runbook })), facts)).toEqual({ kind: 'none' });
  });
});

describe('the terms of a contract', () => {
  it('name the adapter of the reversal and the shorter window', () => {
    const terms = termsOf(parsed(refundContract({ expires_after_commit_ms: 1_000 })), Buffer.alloc(32, 7));
    expect(terms).toMatchObject({
      adapter: 'payments',
      reversal_capability: 'payments.reverse_refund',
      reversal_window_ms: 1_000,
      verify_max_attempts: 3,
      recovery_approval_mode: 'human',
    });
  });

  it('need a person when nothing is said', () => {
    expect(
      termsOf(parsed(refundContract({ recovery_approval_mode: undefined })), Buffer.alloc(32)).recovery_approval_mode,
    ).toBe('human');
  });
});

describe('debt', () => {
  it('weighs by class', () => {
    expect(
      [refund, parsed(exampleContract('payments.reverse_refund')), parsed(exampleContract('payments.get_refund'))].map(
        weightOf,
      ),
    ).toEqual([0.1, 1, 0]);
    expect(weightOf(parsed(refundContract({ debt_weight: 0.25 })))).toBe(0.25);
  });

  it('is read from the arguments and rounded up', () => {
    expect(valueOf(refund, args)).toEqual({ amount_minor: 500_000, currency: 'INR' });
    expect(debitsOf(refund, 'compensable', [{ amount_minor: 100_001, currency: 'INR' }])).toEqual([
      { currency: 'INR', value_minor: 100_001, debit_minor: 10_001 },
    ]);
    expect(subjectOf(refund, args)).toBe('order/4711');
  });

  it.each([
    [30, 3],
    [31, 4],
    [10, 1],
    [0, 0],
    [99_999, 10_000],
  ])('at weight 0.1 of %i is %i', (amount, debit) => {
    expect(weighted({ amount_minor: amount, currency: 'INR' }, 0.1).amount_minor).toBe(debit);
  });

  it('is the least whole number not below weight times value', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        fc.integer({ min: 0, max: 1_000 }),
        (amount, mills) => {
          const debit = BigInt(weighted({ amount_minor: amount, currency: 'INR' }, mills / 1_000).amount_minor);
          const exact = BigInt(amount) * BigInt(mills);
          expect(debit * 1_000n >= exact && (debit - 1n) * 1_000n < exact).toBe(true);
        },
      ),
    );
  });

  it.each([-1, 1.5, '5', undefined])('has no value when the amount is %j', (amount_minor) => {
    expect(valueOf(refund, JSON.parse(JSON.stringify({ ...args, amount_minor })) as typeof args)).toBeNull();
  });
});

describe('a condition', () => {
  const bound = boundFacts({ reversalArgs: { amount_minor: 5 }, externalRef: 'psp_1' });

  it.each([
    ['observed.status == "reversed"', { status: 'reversed' }, true],
    ['observed.status == "reversed"', { status: 'issued' }, false],
    ['observed.amount_minor == bound.args.amount_minor && observed.amount_minor + 1 == 6', { amount_minor: 5 }, true],
    ['bound.args.amount_minor == 5 && bound.external_ref == observed.ref', { ref: 'psp_1' }, true],
  ])('%s judges %j as %s', (expression, observed, holds) => {
    expect(evaluateCondition(expression, { observed, bound })).toEqual({ ok: true, holds });
  });

  it.each(['observed.status == "reversed"', 'observed', '1', 'observed.status ==', 'nobody.x == 1'])(
    'fails closed: %s',
    (expression) => {
      expect(evaluateCondition(expression, { observed: {}, bound }).ok).toBe(false);
    },
  );
});

describe('a payload', () => {
  it('comes back as it went in', () => {
    expect(readPayload(plainPayload({ b: 1, a: ['ü'] }))).toEqual({ b: 1, a: ['ü'] });
  });

  it.each([
    ['PAYLOAD_SEALED', { encoding: 'sealed', key_id: 'k' }],
    ['PAYLOAD_HASH_MISMATCH', { body: Buffer.from('{}') }],
  ] as const)('is refused as %s', (code, change) => {
    const codeOf = (): unknown => {
      try {
        return readPayload({ ...plainPayload({ a: 1 }), ...change });
      } catch (error) {
        return error instanceof PayloadUnreadable ? error.code : error;
      }
    };
    expect(codeOf()).toBe(code);
  });
});

describe('the view of contracts', () => {
  const entries = new Map<string, Readonly<Record<string, unknown>>>();
  const apply = (type: string, body: Readonly<Record<string, unknown>>) => {
    for (const [key, doc] of contractView.fold({ type, body, decidedAt: 0 }, (name) => entries.get(name)))
      if (doc === null) entries.delete(key);
      else entries.set(key, doc);
  };
  const bodyOf = (version: number) => contractBody({ ...refund, version });
  const record = (version: number) => ({
    name: refund.name,
    version,
    tenant: '*',
    digest: contractDigest(bodyOf(version)),
    body: bodyOf(version),
  });

  it('finds the latest by name and every version by digest, retired ones by digest alone', () => {
    apply('ContractRegistered', record(1));
    apply('ContractRegistered', record(2));
    expect(contractByName(entries, 'acme', refund.name)?.contract.version).toBe(2);
    expect(contractByDigest(entries, record(1).digest)).toMatchObject({ retired: false, contract: { version: 1 } });
    apply('ContractRetired', record(1));
    expect(contractByName(entries, 'acme', refund.name)?.contract.version).toBe(2);
    apply('ContractRetired', record(2));
    expect(contractByName(entries, 'acme', refund.name)).toBeUndefined();
    expect(contractByDigest(entries, record(2).digest)).toMatchObject({ retired: true, contract: { version: 2 } });
    expect(contractByDigest(entries, Buffer.alloc(32))).toBeUndefined();
  });

  it('finds the newest of its owner for what is open, retired or not, and of another as long as it stands', () => {
    const name = 'payments.issue_open';
    const said = (version: number, more: object, tenant = '*') => {
      const body = contractBody({ ...refund, name, version, ...more });
      return { name, version, tenant, digest: contractDigest(body), body };
    };
    const [first, stricter] = [said(1, {}), said(2, { reversal_window_ms: 60_000 })];
    const own = said(1, { tenant: 'acme', recovery_approval_mode: 'dual_control' }, 'acme');
    const open = (tenant: string, executed = first) =>
      contractOfOpen(entries, tenant, { contract_name: name, contract_digest: executed.digest })?.digest;
    const called = (tenant: string) => contractsOfCalled(entries, tenant, name).map(({ version }) => version);
    expect([open('acme'), called('acme')]).toEqual([undefined, []]);
    for (const one of [first, stricter]) apply('ContractRegistered', one);
    apply('ContractRetired', stricter);
    expect([open('acme'), open('*')]).toEqual([stricter.digest, stricter.digest]);
    expect(contractByName(entries, 'acme', name)).toBeUndefined();
    apply('ContractRegistered', own);
    expect([open('acme'), open('acme', own), open('globex')]).toEqual([stricter.digest, own.digest, stricter.digest]);
    apply('ContractRegistered', said(3, {}));
    expect([open('acme'), open('acme', own)]).toEqual([own.digest, own.digest]);
    apply('ContractRetired', own);
    expect([open('acme'), open('acme', own), called('acme')]).toEqual([said(3, {}).digest, own.digest, [1, 3]]);
    expect(contractByName(entries, 'acme', name)?.contract.version).toBe(3);
  });

  it('reads what stands, however large it is', () => {
    const result_schema = { type: 'object', description: 'x'.repeat(70_000) };
    const body = contractBody({ ...refund, name: 'payments.issue_large', result_schema });
    const digest = contractDigest(body);
    apply('ContractRegistered', { ...record(1), name: 'payments.issue_large', digest, body });
    expect(contractByName(entries, 'acme', 'payments.issue_large')?.contract.result_schema).toEqual(result_schema);
    expect(contractByDigest(entries, digest)?.contract.result_schema).toEqual(result_schema);
  });

  it('knows who wrote and confirmed a version, and who the newest one of its capability, retired or not', () => {
    apply('ContractRegistered', { ...record(3), registered_by: 'rosa', confirmed_by: 'remo' });
    expect(editorsOf(entries, 'acme', record(3).digest)).toEqual(['rosa', 'remo', 'rosa', 'remo']);
    apply('ContractRegistered', { ...record(4), registered_by: 'nora', confirmed_by: null });
    expect(editorsOf(entries, 'acme', record(3).digest)).toEqual(['rosa', 'remo', 'nora']);
    apply('ContractRetired', record(4));
    apply('ContractRetired', record(3));
    expect(editorsOf(entries, 'acme', record(3).digest)).toEqual(['rosa', 'remo', 'nora']);
    expect(editorsOf(entries, 'acme', Buffer.alloc(32))).toEqual([]);
  });
});
