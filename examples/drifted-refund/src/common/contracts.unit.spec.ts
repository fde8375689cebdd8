import { describe, expect, it } from '@jest/globals';
import { bindReversal, checkContract, contractBody, parseContract, termsOf } from '@recourse/contract';
import { CONTRACTS, ISSUE_REFUND, REFUND_CAP_MINOR } from './contracts.js';

describe('the contracts of the example', () => {
  it('register in their order, without a problem', () => {
    const known = new Set<string>();
    for (const contract of CONTRACTS) {
      expect(parseContract(contractBody(contract))).toMatchObject({ ok: true });
      expect(checkContract(contract, known)).toEqual([]);
      known.add(contract.name);
    }
  });

  it("bind the reversal of a refund to the provider's handle", () => {
    const contract = CONTRACTS.find(({ name }) => name === ISSUE_REFUND) ?? fail();
    const facts = {
      args: { order: '4711', amount_minor: REFUND_CAP_MINOR, currency: 'INR' },
      result: null,
      priorValue: null,
      externalRef: 'rf_1',
    };
    expect(bindReversal(contract, facts)).toEqual({ kind: 'bound', args: { refund_id: 'rf_1' }, then: [] });
    expect(termsOf(contract, Buffer.alloc(32))).toMatchObject({
      adapter: 'payments',
      recovery_approval_mode: 'human',
      reversal_capability: 'payments.reverse_refund',
    });
  });

  it('let a refund of up to ₹5,000 pass by policy, and ask a person before it is taken back within half an hour (A85, A86)', () => {
    const contract = CONTRACTS.find(({ name }) => name === ISSUE_REFUND) ?? fail();
    expect(contract).toMatchObject({
      reversal_class: 'compensable',
      compensation_capability: 'payments.reverse_refund',
      recovery_approval_mode: 'human',
      forward_approval: 'policy',
      reversal_window_ms: 1_800_000,
      requires_external_handle: true,
      blast_radius: { max_value_per_run: { amount_minor: 500_000, currency: 'INR' } },
      args_schema: { properties: { amount_minor: { maximum: 500_000 } } },
    });
  });
});

function fail(): never {
  throw new Error('no such contract');
}
