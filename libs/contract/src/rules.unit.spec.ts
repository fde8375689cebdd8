import { describe, expect, it } from '@jest/globals';
import { contractBody, contractDigest, parseContract } from './body.js';
import type { ContractProblemCode } from './problems.js';
import { CONTRACT_REMEDIES } from './problems.js';
import { exampleContract, refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import { reviewContract } from './rules.js';

const EVERYTHING = { has: () => true };
const label: ContractJson = {
  name: 'crm.set_label', owner: 'crm', effect: 'Sets a label.', impact: 'write', approval_mode: 'network', reversal_class: 'reversible', overwrites: true,
  args_schema: { type: 'object', properties: { id: { type: 'string' }, label: { type: 'string' } } }, result_schema: { type: 'object' },
  inverse_capability: 'crm.restore_label', requires_prior_value_capture: true, reversal_window_ms: 1_000,
  reversal_args: { id: { from: 'args', path: '/id' }, label: { from: 'prior_value' } },
  verification: { verify_capability: 'crm.get_label', success_condition: 'observed.label == bound.args.label', max_attempts: 1 },
  idempotency: { mechanism: 'by value' },
};
const mail: ContractJson = {
  name: 'mail.send_message', owner: 'comms', effect: 'Sends a message.', impact: 'customer_visible', approval_mode: 'network', reversal_class: 'irreversible',
  args_schema: { type: 'object' }, result_schema: { type: 'object' }, idempotency: { mechanism: 'none' }, forward_approval: 'human',
};

function problems(contract: ContractJson, known: { has(name: string): boolean } = EVERYTHING) {
  const review = reviewContract(JSON.stringify(contract), known);
  return review.ok ? [] : review.problems;
}
function found(contract: ContractJson): readonly (readonly [string, string | undefined])[] {
  return problems(contract).map(({ code, path }) => [code, path] as const);
}
function without(contract: ContractJson, ...fields: readonly string[]): ContractJson {
  return Object.fromEntries(Object.entries(contract).filter(([field]) => !fields.includes(field)));
}
const verification = refundContract()['verification'] as ContractJson;

describe('a contract that is well', () => {
  it.each(['payments.issue_refund', 'payments.reverse_refund', 'payments.get_refund'])('%s registers', (name) => {
    expect(problems(exampleContract(name))).toEqual([]);
  });

  it.each([['an overwrite with its prior value', label], ['an irreversible effect behind a person', mail]])('%s registers', (_, contract) => {
    expect(problems(contract)).toEqual([]);
  });

  it('has the digest of its canonical JSON, whatever order its fields were written in', () => {
    const read = parseContract(JSON.stringify(Object.fromEntries(Object.entries(refundContract()).reverse())));
    const other = parseContract(JSON.stringify(refundContract(), null, 2));
    if (!read.ok || !other.ok) throw new Error('both parse');
    expect(contractDigest(contractBody(read.contract))).toEqual(contractDigest(contractBody(other.contract)));
  });
});

describe('the refusal of a contract', () => {
  const one: readonly (readonly [string, ContractJson, ContractProblemCode, string])[] = [
    ['an overwrite as reversible without prior value (A9)', { ...label, requires_prior_value_capture: undefined, reversal_args: { id: { from: 'args', path: '/id' } } }, 'OVERWRITE_WITHOUT_PRIOR_VALUE', '/requires_prior_value_capture'],
    ['a compensable payment without handle (A11)', refundContract({ requires_external_handle: undefined, reversal_args: { amount: { from: 'args', path: '/amount_minor' } } }), 'FINANCIAL_WITHOUT_EXTERNAL_HANDLE', '/requires_external_handle'],
    ['side effects without class (A22)', without(mail, 'reversal_class'), 'REVERSAL_CLASS_MISSING', '/reversal_class'],
    ['a compensation nobody observes (A27)', refundContract({ verification: undefined }), 'VERIFICATION_MISSING', '/verification'],
    ['a verification that never tries (A27)', refundContract({ verification: { ...verification, max_attempts: 0 } }), 'VERIFICATION_INVALID', '/verification/max_attempts'],
    ['a verification by the acting capability (A27)', refundContract({ verification: { ...verification, verify_capability: 'payments.issue_refund' } }), 'VERIFICATION_BY_ACTOR', '/verification/verify_capability'],
    ['a verification by the compensating capability (A27)', refundContract({ verification: { ...verification, verify_capability: 'payments.reverse_refund' } }), 'VERIFICATION_BY_ACTOR', '/verification/verify_capability'],
    ['an ungated irreversible effect (A100)', without(mail, 'forward_approval'), 'IRREVERSIBLE_UNGATED', '/forward_approval'],
    ['an irreversible effect gated by policy alone (A100)', { ...mail, forward_approval: 'policy' }, 'IRREVERSIBLE_UNGATED', '/forward_approval'],
    ['automatic recovery of money', refundContract({ recovery_approval_mode: 'auto', compensation_mode: undefined }), 'AUTO_RECOVERY_FORBIDDEN', '/recovery_approval_mode'],
    ['a compensation without residue (A12)', refundContract({ residue: undefined }), 'RESIDUE_MISSING', '/residue'],
    ['a compensation without cost bound (A5)', refundContract({ recovery_cost: undefined }), 'RECOVERY_COST_MISSING', '/recovery_cost'],
    ['a compensation without window', refundContract({ reversal_window_ms: undefined }), 'REVERSAL_WINDOW_MISSING', '/reversal_window_ms'],
    ['a condition that does not compile', refundContract({ verification: { ...verification, success_condition: 'observed.status ==' } }), 'CEL_INVALID', '/verification/success_condition'],
    ['a condition over a name there is not', refundContract({ verification: { ...verification, success_condition: 'result.status == "x"' } }), 'CEL_INVALID', '/verification/success_condition'],
    ['a condition that calls a function there is not', refundContract({ verification: { ...verification, success_condition: 'fetch(observed.url)' } }), 'CEL_INVALID', '/verification/success_condition'],
    ['a reversal argument its schema lacks', refundContract({ reversal_args: { refund_id: { from: 'result', path: '/id' } } }), 'REVERSAL_ARG_UNREADABLE', '/reversal_args/refund_id/path'],
    ['a capability that is not adapter.verb_noun', { ...mail, name: 'sendMail' }, 'CAPABILITY_NAME_INVALID', '/name'],
    ['an unknown field', { ...mail, reversable: true }, 'CONTRACT_FIELD_UNKNOWN', '/reversable'],
    ['an unknown field inside', refundContract({ verification: { ...verification, retries: 2 } }), 'CONTRACT_FIELD_UNKNOWN', '/verification/retries'],
    ['no result schema (A21)', without(mail, 'result_schema'), 'SCHEMA_MISSING', '/result_schema'],
    ['a value that args_schema lacks', refundContract({ value: { amount: '/total', currency: 'INR' } }), 'VALUE_UNREADABLE', '/value/amount'],
    ['a hold nothing cancels', { ...mail, commit_hold_ms: 10 }, 'HOLD_WITHOUT_CANCEL', '/cancel_capability'],
    ['a tombstone shorter than the window', refundContract({ techniques: { tombstone_ttl_ms: 10 } }), 'TOMBSTONE_SHORTER_THAN_WINDOW', '/techniques/tombstone_ttl_ms'],
  ];

  it.each(one)('names %s', (_, contract, code, path) => {
    expect(found(contract)).toEqual([[code, path]]);
  });

  it('lists everything at once, of shape and of meaning', () => {
    const codes = found(refundContract({ name: 'refund', colour: 'red', residue: undefined, recovery_approval_mode: 'auto', requires_external_handle: undefined })).map(([code]) => code);
    expect(codes).toEqual(expect.arrayContaining([
      'CAPABILITY_NAME_INVALID', 'CONTRACT_FIELD_UNKNOWN', 'RESIDUE_MISSING', 'AUTO_RECOVERY_FORBIDDEN', 'FINANCIAL_WITHOUT_EXTERNAL_HANDLE', 'REVERSAL_ARG_UNREADABLE',
      'COMPENSATION_MODE_CONTRADICTORY',
    ]));
  });

  it('names capabilities without a contract of their own', () => {
    const known = { has: (name: string) => name === 'payments.get_refund' };
    expect(problems(refundContract(), known).map(({ code, path }) => [code, path])).toEqual([['CAPABILITY_UNKNOWN', '/compensation_capability']]);
  });

  it('carries its remedy', () => {
    for (const each of problems({ name: 'x' })) {
      expect(each.message.endsWith(CONTRACT_REMEDIES[each.code])).toBe(true);
      expect(each.facts?.['remedy']).toBe(CONTRACT_REMEDIES[each.code]);
    }
  });

  it.each(['', '[]', 'null', '{"a":'])('of %j says that it is not JSON', (body) => {
    const review = reviewContract(body, EVERYTHING);
    expect(review.ok ? [] : review.problems.map((each) => each.code)).toEqual(['CONTRACT_NOT_JSON']);
  });

  it('keeps texts out that no database stores', () => {
    expect(found({ ...mail, effect: 'a\0b' }).map(([code]) => code)).toEqual(['CONTRACT_TEXT_NOT_STORABLE']);
    expect(found({ ...mail, args_schema: { title: '\\u0000 spelled out' } })).toEqual([]);
  });
});
