import { describe, expect, it } from '@jest/globals';
import { describeApproval } from './approvals.command.js';

const AT = 1_000;
const SEALED = 'ab'.repeat(28);
const shown = (body: string): string =>
  describeApproval({ approval_id: 'apr_1', args: { encoding: 'aes-256-gcm', body, sha256: 'cafe' } }, AT);

describe('a question of an agent in the terminal', () => {
  it('shows what is to be done where it was opened for the reader, and the hash where it stayed sealed', () => {
    expect(shown('{"amount":4200}')).toContain('{"amount":4200}');
    expect(shown(SEALED)).toContain('sealed, sha256 cafe');
    expect(shown(SEALED)).not.toContain(SEALED);
  });
});
