import { describe, expect, it } from '@jest/globals';
import { RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import { answerForMutation, mutationAnswerText, peopleNeeded } from './answer-mutation.js';
import type { MutationStanding } from './answer-mutation.js';
import { parseContract } from './body.js';
import { mailContract, refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import type { Contract } from './shape.js';

function parsed(json: ContractJson): Contract {
  const read = parseContract(JSON.stringify(json));
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('\n'));
  return read.contract;
}
const standing: MutationStanding = {
  mutation_id: 'mut_1',
  capability: 'payments.issue_refund',
  execution_state: 'succeeded',
  recoverability: 'reversal_available',
  reason: null,
  agent_id: 'agent-7',
  initiator: 'asha',
  committed_at: 0,
  reversal_expires_at: 3_600_000,
};
const answer = (
  more: Partial<MutationStanding> = {},
  contract: Contract | null = parsed(refundContract()),
  now = 1_800_000,
) => answerForMutation(contract, { ...standing, ...more }, now);

describe('the answer on a mutation', () => {
  it('inside its window says until when, and who has to agree', () => {
    expect(answer()).toMatchObject({
      is_undoable_now: true,
      closes_in_ms: 1_800_000,
      people_needed: 1,
      by_when: expect.stringContaining('by 1970-01-01T01:00:00.000Z, 30 min from now'),
      by_whom: expect.stringContaining('neither agent-7 nor asha'),
    });
  });

  it.each([
    ['a shorter window', { reversal_window_ms: 2_000_000 }, { closes_in_ms: 200_000, people_needed: 1 }],
    ['more people', { recovery_approval_mode: 'dual_control' }, { closes_in_ms: 1_800_000, people_needed: 2 }],
    ['a window that is over', { reversal_window_ms: 60_000 }, { is_undoable_now: false, people_needed: null }],
    [
      'no way back',
      { reversal_class: 'irreversible', compensation_capability: undefined, forward_approval: 'human' },
      { is_undoable_now: false, can_it_be_undone: 'by hand only: version 1 of its contract leaves it to people' },
    ],
    ['a longer window', { reversal_window_ms: 7_200_000 }, { closes_in_ms: 1_800_000 }],
  ])('counts what the version that stands asks, where it is stricter: %s', (_what, change, expected) => {
    const newest = parsed(refundContract(change));
    expect(answerForMutation(parsed(refundContract()), standing, 1_800_000, { newest, called: [] })).toMatchObject(
      expected,
    );
  });

  it('counts a person where its undo calls what people agree to (A30)', () => {
    const auto = parsed(refundContract({ impact: 'write', recovery_approval_mode: 'auto' }));
    const people = (called: readonly Contract[]) =>
      answerForMutation(auto, standing, 1_800_000, { newest: null, called }).people_needed;
    expect([people([]), people([auto]), people([parsed(refundContract())])]).toEqual([0, 0, 1]);
  });

  it('at the very end of its window is no longer yes', () => {
    const over = answer({}, undefined, 3_600_000);
    expect(over).toMatchObject({ is_undoable_now: false, closes_in_ms: null, people_needed: null });
    expect(over.can_it_be_undone).toMatch(/^no: its window has closed/);
    expect(over.by_when).toBe('its window ended at 1970-01-01T01:00:00.000Z');
  });

  it.each([
    [{ recoverability: 'pending_commit' }, 'can be cancelled until the hold ends', 'worker of payments'],
    [{ recoverability: 'cancelled', execution_state: 'failed' }, 'cancelled before its effect', 'nobody'],
    [{ recoverability: 'cancelled', execution_state: 'uncertain' }, 'may have taken effect all the same', 'nobody'],
    [{ recoverability: 'committed' }, 'no bound reversal', 'worker of payments'],
    [{ recoverability: 'compensating' }, 'it is being undone', 'worker of payments'],
    [{ recoverability: 'compensated' }, 'another capability has observed it', 'worker of payments'],
    [{ recoverability: 'compensation_failed' }, 'undoing it failed', 'role administrator'],
    [
      { recoverability: 'manual_resolution_required', reason: 'RESOURCE_CHANGED' },
      'by hand only',
      'role administrator',
    ],
    [{ recoverability: 'planned', execution_state: 'failed' }, 'failed without effect', 'worker of payments'],
  ] as const)('that stands as %j says why it is not undone now', (more, can, whom) => {
    const told = answer(more);
    expect(told).toMatchObject({
      is_undoable_now: false,
      people_needed: null,
      can_it_be_undone: expect.stringContaining(can),
      by_whom: expect.stringContaining(whom),
    });
    if ('reason' in more) expect(told.state).toContain(more.reason);
  });

  it('that is compensated is never called undone: the state is equivalent, and something remains (A19)', () => {
    const told = answer({ recoverability: 'compensated' });
    expect(told.can_it_be_undone).toContain('equivalent state');
    expect(told.by_when).toBe('it is done');
    expect(mutationAnswerText(told)).not.toMatch(/is undone/);
    expect(told.with_which_residue).not.toBe('');
  });

  it('without a contract promises nothing', () => {
    const told = answer({}, null);
    expect(told).toMatchObject({
      version: null,
      is_undoable_now: false,
      undoability: 'not_undone',
      by_whom: expect.stringContaining('nobody'),
    });
    expect(told.can_it_be_undone).toBe('no: it executed without a contract');
  });

  it('that nothing undoes stays no inside a window', () => {
    expect(answer({}, parsed(mailContract()))).toMatchObject({
      is_undoable_now: false,
      can_it_be_undone: expect.stringMatching(/^no/),
    });
  });

  it.each(RECOVERABILITY_STATE_VALUES)('in state %s answers every question on one screen', (recoverability) => {
    for (const contract of [parsed(refundContract()), parsed(mailContract()), null]) {
      const text = mutationAnswerText(answer({ recoverability }, contract));
      expect(text.split('\n').length).toBeLessThanOrEqual(24);
      expect(text).not.toMatch(/undefined|null/);
    }
  });
});

describe('the people a compensation needs', () => {
  it.each([
    ['auto', 'write', true, 0],
    ['auto', 'financial', true, 1],
    ['auto', 'financial', false, 2],
    ['human', 'write', true, 1],
    ['human', 'write', false, 2],
    ['dual_control', 'write', true, 2],
  ] as const)('in mode %s, of impact %s, answerable %s: %i', (mode, impact, isAnswerable, people) => {
    expect(peopleNeeded(mode, impact, isAnswerable)).toBe(people);
  });
});
