import { describe, expect, it } from '@jest/globals';
import { describeApproval } from './approvals.command.js';

const AT = 1_000;
const SEALED = 'ab'.repeat(28);
const shown = (body: string): string =>
  describeApproval({ approval_id: 'apr_1', args: { encoding: 'aes-256-gcm', body, sha256: 'cafe' } }, AT);

describe('a question of an agent in the terminal', () => {
  it('shows what is to be done where it was opened for the reader, and the hash where it stayed sealed', () => {
    expect(shown('{"amount":4200}')).toContain('{"amount":4200}');
    expect(shown(SEALED)).toContain('erased, nobody opens it any more, sha256 cafe');
    expect(shown(SEALED)).not.toContain(SEALED);
  });

  it('says which names read alike', () => {
    const text = describeApproval({ approval_id: 'apr_1', lookalikes: [['1nes', 'ines']] }, AT);
    expect(text).toContain('different people, whose names read alike: 1nes, ines');
  });

  it('names the routine rule that let it go, and what was counted against its caps', () => {
    const text = describeApproval(
      {
        approval_id: 'apr_1',
        approvals: [{ by: 'policy:notices@3', at: 0, reason: 'status lines are routine' }],
        required_approvals: 1,
        routine: {
          bundle: 'notices',
          version: 3,
          rule: 'status',
          registered_by: 'ravi',
          counted: [{ scope: 'agent', name: 'status-agent', count: 4, share: 20, cap: 40, window_ms: 86_400_000 }],
        },
      },
      AT,
    );
    expect(text).toMatch(/approved by +policy:notices@3 at 1970/);
    expect(text).toMatch(/let go by rule +notices@3\/status, registered by ravi/);
    expect(text).toMatch(/counted +agent status-agent: 4 of 20 in /);
  });

  it('says of every rule about it why that did not let it go', () => {
    const refusal = { rule: 'notices@3/status', code: 'CAP_REACHED', detail: '20 of 20 in 24 h for agent a' };
    const text = describeApproval({ approval_id: 'apr_1', routine: null, not_routine: [refusal] }, AT);
    expect(text).toMatch(/not let go by +notices@3\/status: CAP_REACHED: 20 of 20 in 24 h for agent a/);
    expect(text).not.toContain('let go by rule');
  });
});
