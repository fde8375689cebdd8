// What a contract says of an effect in words that people and machines act on (C1, C2, C5, C6, C8).
import { describe, expect, it } from '@jest/globals';
import { parseContract } from './body.js';
import { labelContract, mailContract, refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import { reviewContract } from './rules.js';
import type { Contract } from './shape.js';
import { termsOf } from './terms.js';

const mail = mailContract();
const read = (contract: ContractJson): Contract => {
  const parsed = parseContract(JSON.stringify(contract));
  if (!parsed.ok) throw new Error('the fixture parses');
  return parsed.contract;
};
function found(contract: ContractJson): readonly string[] {
  const review = reviewContract(JSON.stringify(contract), { has: () => true });
  return review.ok ? [] : review.problems.map(({ code, path }) => `${code} ${path ?? ''}`);
}

describe('the business effect (C1)', () => {
  it.each([
    [undefined, 'CONTRACT_FIELD_MISSING /effect'],
    ['', 'CONTRACT_FIELD_INVALID /effect'],
    [' \n', 'CONTRACT_FIELD_INVALID /effect'],
  ])('of %j is refused', (effect, problem) => {
    expect(found({ ...mail, effect })).toEqual([problem]);
  });

  it('is carried along with every mutation', () => {
    expect(termsOf(read({ ...mail, effect: 'A customer reads a letter.' }), Buffer.alloc(32)).effect).toBe(
      'A customer reads a letter.',
    );
  });
});

describe('the impact (C2)', () => {
  it.each(['read', 'write', 'customer_visible', 'financial', 'destructive', 'security_sensitive'])(
    'may be %s',
    (impact) => {
      expect(found({ ...mail, impact })).not.toContain('CONTRACT_FIELD_INVALID /impact');
    },
  );

  it.each([
    [undefined, 'CONTRACT_FIELD_INVALID /impact'],
    ['low', 'CONTRACT_FIELD_INVALID /impact'],
  ])('of %j is refused', (impact, problem) => {
    expect(found({ ...mail, impact })).toEqual([problem]);
  });
});

describe('what repairs or neutralises (C5)', () => {
  it.each([
    ['compensable', refundContract(), 'compensation_capability'],
    ['reversible', labelContract(), 'inverse_capability'],
  ] as const)('is named by every %s effect', (_, contract, field) => {
    expect(found(contract)).toEqual([]);
    expect(found({ ...contract, [field]: undefined })).toEqual([`REVERSAL_CAPABILITY_MISSING /${field}`]);
  });

  it('is absent only where somebody accepted that nothing does', () => {
    const accepted = { mode: 'not_supported', reason: 'r', accepted_by: 'head of support' };
    expect(found({ ...mail, compensation_mode: accepted })).toEqual([]);
    expect(found(refundContract({ compensation_mode: accepted }))).toEqual([
      'COMPENSATION_MODE_CONTRADICTORY /compensation_mode/mode',
    ]);
  });
});

describe('people before an effect and people before its compensation (C6)', () => {
  const pairs = ['policy', 'human', 'dual_control'].flatMap((forward_approval) =>
    ['human', 'dual_control'].map((recovery) => [forward_approval, recovery] as const),
  );

  it.each(pairs)('are two fields: %s before, %s for the way back', (forward_approval, recovery_approval_mode) => {
    const contract = refundContract({ forward_approval, recovery_approval_mode });
    expect(found(contract)).toEqual([]);
    expect(termsOf(read(contract), Buffer.alloc(32)).recovery_approval_mode).toBe(recovery_approval_mode);
    expect(read(contract).forward_approval).toBe(forward_approval);
  });
});

describe('the reason of a compensation mode (C8)', () => {
  const modes = ['automatic', 'approval_required', 'manual_runbook', 'not_supported'];
  it.each(modes)('is required for %s', (mode) => {
    expect(found({ ...mail, compensation_mode: { mode } })).toContain(
      'CONTRACT_FIELD_MISSING /compensation_mode/reason',
    );
    expect(found({ ...mail, compensation_mode: { mode, reason: '  ' } })).toContain(
      'CONTRACT_FIELD_INVALID /compensation_mode/reason',
    );
  });
});

describe('how it is compensated (C7, C14)', () => {
  it.each([
    [
      { mode: 'manual_runbook', reason: 'By telephone.', runbook: 'runbooks/mail.md' },
      { runbook: 'runbooks/mail.md', accepted_by: null },
    ],
    [
      { mode: 'not_supported', reason: 'Read is read.', accepted_by: 'head of support' },
      { runbook: null, accepted_by: 'head of support' },
    ],
  ])('is carried along with every mutation: %j', (compensation_mode, more) => {
    expect(found({ ...mail, compensation_mode })).toEqual([]);
    const { mode, reason } = compensation_mode;
    expect(termsOf(read({ ...mail, compensation_mode }), Buffer.alloc(32)).compensation).toEqual({
      mode,
      reason,
      ...more,
    });
  });
});

describe('risk and reversal (D3)', () => {
  it('are declared apart: neither is read from the other, neither needs the other', () => {
    const contract = refundContract({ risk: 'Money goes to the wrong account.' });
    expect(found(contract)).toEqual([]);
    expect(found({ ...contract, risk: undefined })).toEqual([]);
    const { risk, ...rest } = termsOf(read(contract), Buffer.alloc(32));
    expect(risk).toBe('Money goes to the wrong account.');
    expect(termsOf(read({ ...contract, risk: undefined }), Buffer.alloc(32))).toEqual({ ...rest, risk: null });
    expect(found({ ...mail, risk: 'The letter is read by somebody else.' })).toEqual([]);
  });
});
