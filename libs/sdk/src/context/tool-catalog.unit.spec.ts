import { describe, expect, it } from '@jest/globals';
import type { Contract } from '@recourse/contract';
import { recoverabilityNote, toolCatalog } from './tool-catalog.js';

const base: Contract = {
  name: 'mail.send_message',
  owner: 'mail',
  effect: 'Somebody gets a message.',
  impact: 'customer_visible',
  approval_mode: 'network',
  args_schema: { type: 'object' },
  result_schema: {},
};
const refund: Contract = {
  ...base,
  name: 'payments.issue_refund',
  reversal_class: 'compensable',
  compensation_capability: 'payments.reverse_refund',
  recovery_approval_mode: 'dual_control',
  reversal_window_ms: 3_600_000,
  expires_after_commit_ms: 1_800_000,
  window_closed_by: ['payout_sent'],
  residue: 'The customer has seen the refund.',
};

describe('the tool catalogue', () => {
  it('gives schema, class, recovery approval and expiry of each tool, by name', () => {
    expect(toolCatalog([refund, base])).toMatchObject([
      {
        name: 'mail.send_message',
        reversal_class: 'irreversible',
        recovery_approval_mode: 'human',
        expires_after_ms: null,
        undoability: 'not_undone',
      },
      {
        name: 'payments.issue_refund',
        args_schema: { type: 'object' },
        reversal_class: 'compensable',
        recovery_approval_mode: 'dual_control',
        expires_after_ms: 1_800_000,
        window_closed_by: ['payout_sent'],
      },
    ]);
  });

  it('expires with the tombstone that keeps what was deleted', () => {
    expect(toolCatalog([{ ...refund, techniques: { tombstone_ttl_ms: 60_000 } }])).toMatchObject([
      { expires_after_ms: 60_000 },
    ]);
  });

  it('has no class for what only reads', () => {
    expect(toolCatalog([{ ...base, impact: 'read', approval_mode: 'read_only' }])).toMatchObject([
      { reversal_class: null, undoability: 'nothing_to_undo' },
    ]);
  });

  it.each([
    [refund, 'compensable: compensated within 1800000 ms, recovery approval dual_control.'],
    [base, 'Cannot be undone.'],
    [
      { ...base, commit_hold_ms: 5_000, cancel_capability: 'mail.cancel_message' },
      'irreversible: cancelled before commit, recovery approval human. Held for 5000 ms before it happens.',
    ],
    [{ ...base, impact: 'read', approval_mode: 'read_only' } as const, 'Reads only.'],
  ])('says it in a line', (contract, line) => {
    expect(toolCatalog([contract]).map(recoverabilityNote)).toEqual([line]);
  });
});
