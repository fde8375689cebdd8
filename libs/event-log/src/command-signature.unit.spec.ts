import { describe, it, expect } from '@jest/globals';
import { signCommand, unreadIn, verifyCommand } from './command-signature.js';

const KEY = Buffer.alloc(32, 7);
const COMMAND = {
  topic: 'recourse.recovery-commands',
  type: 'recourse.recoveries.ApproveStep',
  body: {
    envelope: { command_id: 'cmd_1', principal: 'dana', roles: ['approver'], signature: Buffer.alloc(0) },
    step_id: 's',
    action_digest: Buffer.alloc(32, 1),
  },
};

describe('a signed command', () => {
  it('verifies, with and without its signature in place', () => {
    const signature = signCommand(KEY, COMMAND);
    expect(verifyCommand(KEY, COMMAND, signature)).toBe(true);
    expect(
      verifyCommand(
        KEY,
        { ...COMMAND, body: { ...COMMAND.body, envelope: { ...COMMAND.body.envelope, signature } } },
        signature,
      ),
    ).toBe(true);
  });

  it.each([
    ['topic', { ...COMMAND, topic: 'recourse.budget-commands' }],
    ['type', { ...COMMAND, type: 'recourse.recoveries.DenyStep' }],
    [
      'principal',
      { ...COMMAND, body: { ...COMMAND.body, envelope: { ...COMMAND.body.envelope, principal: 'mallory' } } },
    ],
    ['digest', { ...COMMAND, body: { ...COMMAND.body, action_digest: Buffer.alloc(32, 2) } }],
    ['envelope', { ...COMMAND, body: { step_id: 's' } }],
  ])('does not verify with another %s', (_what, other) => {
    expect(verifyCommand(KEY, other, signCommand(KEY, COMMAND))).toBe(false);
  });

  it('does not verify under another key, cut short, or empty', () => {
    const signature = signCommand(KEY, COMMAND);
    expect(verifyCommand(Buffer.alloc(32, 8), COMMAND, signature)).toBe(false);
    expect(verifyCommand(KEY, COMMAND, signature.subarray(0, 31))).toBe(false);
    expect(verifyCommand(KEY, COMMAND, Buffer.alloc(0))).toBe(false);
  });

  it('does not let bytes pass for text', () => {
    const bytes = { ...COMMAND, body: { ...COMMAND.body, step_id: Buffer.from('s') } };
    expect(signCommand(KEY, bytes).equals(signCommand(KEY, COMMAND))).toBe(false);
  });
});

describe('what an edge of another build wrote', () => {
  const READ = {
    envelope: { principal: 'dana', accounts: [] },
    steps: [{ id: 's' }],
    digest: Buffer.alloc(2),
    reason: null,
  };

  it.each<[string, unknown, string | null]>([
    ['the same', READ, null],
    ['less', { envelope: { principal: 'dana' }, steps: [{ id: 's' }], digest: Buffer.alloc(2) }, null],
    ['more that says nothing', { ...READ, limit: null, others: [], terms: {} }, null],
    ['more', { ...READ, limit: 5 }, '/limit'],
    ['more, which is false', { ...READ, lasting: false }, '/lasting'],
    ['more of a member', { ...READ, envelope: { ...READ.envelope, purpose: 'audit' } }, '/envelope/purpose'],
    ['more of one of many', { ...READ, steps: [{ id: 's', limit: 5 }] }, '/steps/0/limit'],
    [
      'a symbol that is read as another',
      { ...READ, envelope: { ...READ.envelope, principal: 'later' } },
      '/envelope/principal',
    ],
    ['more, named as every object has it', { ...READ, constructor: 'x' }, '/constructor'],
    ['more octets', { ...READ, more: Buffer.alloc(1) }, '/more'],
  ])('%s', (_what, written, unread) => {
    expect(unreadIn(written, READ)).toBe(unread);
  });
});
