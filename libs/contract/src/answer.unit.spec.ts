import { describe, expect, it } from '@jest/globals';
import { adviceOn } from './advice.js';
import { answerFor, answerText } from './answer.js';
import { parseContract } from './body.js';
import { exampleContract, labelContract, mailContract, refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import type { Contract } from './shape.js';

function parsed(json: ContractJson): Contract {
  const read = parseContract(JSON.stringify(json));
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('\n'));
  return read.contract;
}

describe('the answer on a capability', () => {
  const cases: readonly (readonly [string, ContractJson, string, Readonly<Record<string, string>>])[] = [
    [
      'that only reads',
      exampleContract('payments.get_refund'),
      'nothing_to_undo',
      { by_when: 'never', by_whom: 'nobody' },
    ],
    [
      'with an inverse',
      labelContract(),
      'restored',
      {
        by_when: 'within 1 min',
        by_whom: 'after one person has approved, or two where nobody is known to answer for the agent',
        verified_how: 'crm.get_label observes',
        with_which_residue: 'none',
      },
    ],
    [
      'with a compensation',
      refundContract({ recovery_approval_mode: 'dual_control' }),
      'compensated',
      {
        can_it_be_undone: 'to an equivalent state',
        by_whom: 'two different people',
        at_what_cost: '2500 minor units of INR',
      },
    ],
    [
      'with a runbook',
      refundContract({ compensation_mode: { mode: 'manual_runbook', reason: 'r', runbook: 'runbooks/refund.md' } }),
      'by_hand',
      {
        can_it_be_undone: 'runbooks/refund.md',
        by_whom: 'people of payments-team',
        verified_how: 'a person records the evidence',
      },
    ],
    [
      'that is held',
      exampleContract('mail.send_message'),
      'cancelled_before_commit',
      { by_when: 'within the hold of 2 min', can_it_be_undone: 'only before it is committed' },
    ],
    [
      'that nothing undoes',
      exampleContract('bank.send_wire'),
      'not_undone',
      { can_it_be_undone: 'no:', by_when: 'never', by_whom: 'accepted by treasury-team', at_what_cost: 'not bounded' },
    ],
    [
      'of a draft that says no more than its class',
      { ...mailContract(), compensation_mode: undefined },
      'not_undone',
      { can_it_be_undone: 'no', by_whom: 'ask comms' },
    ],
  ];

  it.each(cases)('%s answers all six questions (A103)', (_, json, undoability, parts) => {
    const answer = answerFor(parsed(json));
    expect(answer.undoability).toBe(undoability);
    for (const [field, part] of Object.entries(parts)) expect(answer[field as keyof typeof answer]).toContain(part);
  });

  it.each(cases)(
    '%s fits on one screen and never says undone of what is only compensated (A19)',
    (_, json, undoability) => {
      const text = answerText(answerFor(parsed(json)));
      expect(text.split('\n').length).toBeLessThanOrEqual(24);
      if (undoability === 'compensated') expect(text).not.toMatch(/\byes\b|restores/);
    },
  );

  it('takes the shorter of two windows', () => {
    expect(answerFor(parsed(refundContract({ expires_after_commit_ms: 60_000 }))).window_ms).toBe(60_000);
  });
});

describe('advice', () => {
  const codes = (json: ContractJson): readonly string[] => adviceOn(parsed(json)).map(({ code }) => code);
  it('is nothing to what only reads', () => {
    expect(codes(exampleContract('payments.get_refund'))).toEqual([]);
  });
  it('raises an overwrite that is compensable by its prior value', () => {
    expect(codes(refundContract({ overwrites: true }))).toContain('RAISE_BY_PRIOR_VALUE');
  });
  it('leaves out a rung that is taken', () => {
    expect(codes(exampleContract('mail.send_message'))).not.toContain('RAISE_BY_HOLD');
  });
  it('says what goes to people without need', () => {
    expect(
      codes(
        refundContract({
          reconcile_capability: undefined,
          compensation_mode: undefined,
          idempotency: { mechanism: 'm', key_lifetime_ms: 10 },
          blast_radius: undefined,
        }),
      ),
    ).toEqual(['BOUND_BY_CAPS', 'UNCERTAIN_GOES_TO_PEOPLE', 'KEY_SHORTER_THAN_WINDOW']);
  });
});
