// What a window about a step says is what happens, and the step is another one once that is so.
import { describe, expect, it } from '@jest/globals';
import type { Review } from '../api/shapes.js';
import {
  agreement,
  callsWords,
  consequence,
  inForceWords,
  isSameStep,
  notCalled,
  readAt,
  takenWords,
  whyBlind,
} from './review.rules.js';

const given = (...names: readonly string[]) => names.map((by) => ({ by, at: 1, reason: 'why' }));
// What the rules look at; the rest is not.
const step = (more: object = {}): Review =>
  ({
    action_digest: 'ab',
    phase: 'awaiting_approval',
    approvals: { required: 2, given: [], why_two: null },
    time_left_ms: 20_000,
    ...more,
  }) as unknown as Review;

const COMPENSATION = {
  capability: 'crm.take_back',
  residue: null,
  risk: null,
  success_condition: null,
  then: [{ capability: 'mail.send_note' }, { capability: 'ledger.book_entry' }],
};
const acted = (more: object = {}): Review => step({ action: { value: null }, compensation: COMPENSATION, ...more });

describe('a step that somebody read', () => {
  it.each([
    ['its action is another', { action_digest: 'cd' }],
    ['it is past that', { phase: 'approved' }],
    ['somebody agreed', { approvals: { required: 2, given: given('ravi') } }],
    ['fewer have to agree', { approvals: { required: 1, given: [] } }],
  ])('is another one once %s', (_why, more) => {
    expect(isSameStep(step(), step(more))).toBe(false);
  });

  it('is the same while only time passes', () => {
    expect(isSameStep(step(), step({ time_left_ms: 1 }))).toBe(true);
  });

  it('closes when it says, from when it was read', () => {
    expect([readAt(step(), 1_000).closes_at, readAt(step({ time_left_ms: null }), 1_000).closes_at]).toEqual([
      21_000,
      null,
    ]);
  });
});

describe('a window about a step', () => {
  it('names each call that would be made, in order, and each that is not when it is denied', () => {
    expect(consequence(acted())).toEqual([
      'crm.take_back is called with the arguments on the screen.',
      'Then, once that is verified, mail.send_note is called with those on the screen.',
      'Then, once that is verified, ledger.book_entry is called with those on the screen.',
    ]);
    expect(notCalled(acted())).toBe(
      'crm.take_back is not called, nor is mail.send_note, nor is ledger.book_entry. What the agent did stands.',
    );
  });

  it('says how many agree after whoever clicks, and nothing to the last of them', () => {
    expect([agreement(0, 3), agreement(0, 2), agreement(1, 2), agreement(0, 1)]).toEqual([
      '2 more people have to agree after you.',
      '1 more person has to agree after you.',
      null,
      null,
    ]);
  });

  it('says what is missing, and where nothing is, that it is sealed for whoever reads', () => {
    expect(whyBlind({ missing: ['objective'] })).toBe('Nobody can agree yet: nobody said what the action was for.');
    expect(whyBlind({ missing: [] })).toBe('Its arguments are sealed for you; an approver sees them.');
  });
});

it('says which arguments an earlier call gives, where an attempt stopped, and what binds beside', () => {
  expect(takenWords({ name: 'refund', call: 1, path: '/refund_id' })).toBe('refund: what call 1 answers at /refund_id');
  expect(callsWords({ done: ['a.b'], stopped_at: 'a.c' })).toBe('Made: a.b; it stopped at a.c.');
  expect(callsWords({ done: [], stopped_at: null })).toBe('None of its calls was seen to be made.');
  expect(
    inForceWords({ contract_version: 2, approval_mode: 'two_people', risk_level: 'high', rules: ['refunds@1/large'] }),
  ).toBe('contract version 2; approval: two people; risk: high, by refunds@1/large');
});
