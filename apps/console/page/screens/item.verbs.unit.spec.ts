// What is offered about an item is what can still be done about it, in words of what happens.
import { describe, expect, it } from '@jest/globals';
import { itemVerbs } from './item.verbs.js';

const ROLES = ['approver', 'auditor', 'operator', 'administrator', 'requester'];
const namesOf = (kind: string, row: object) => itemVerbs(kind, { ...row }, 'x', ROLES).map(({ name }) => name);
const happensOf = (kind: string, row: object) => itemVerbs(kind, { ...row }, 'x', ROLES)[0]?.happens ?? [];

describe('an item', () => {
  it.each([
    ['task', { phase: 'done', task_kind: 'support', may: [], may_not: [] }],
    ['incident', { phase: 'closed', may: [], may_not: [] }],
    ['forward_approval', { phase: 'used', may: [], may_not: [] }],
    ['rollback', { phase: 'rejected', judged: { verdict: 'rejected' } }],
    ['rollback', { phase: 'marked', judged: { verdict: 'confirmed' } }],
    ['rollback', { phase: 'reviewed', judged: null }],
    ['delivery', { phase: 'acknowledged' }],
    ['breaker', { phase: 'closed' }],
    ['execution', { awaited: null }],
  ])('of kind %s that is over (%j) offers nothing', (kind, row) => {
    expect(namesOf(kind, row)).toEqual([]);
  });

  it.each([
    ['task', { phase: 'open', task_kind: 'support', may: ['close'] }, ['Close the task']],
    ['incident', { phase: 'open', may: ['close'] }, ['Close the incident']],
    ['forward_approval', { phase: 'awaiting', may: ['approve', 'deny'] }, ['Approve', 'Deny']],
    ['forward_approval', { phase: 'approved', may: ['deny'] }, ['Deny']],
    ['budget', { about: 'overrun', phase: 'denied', may: ['approve'] }, ['Accept']],
    [
      'budget',
      { about: 'ceiling', phase: 'open', may: ['approve', 'raise-once', 'deny'] },
      ['Allow', 'Raise once', 'Refuse'],
    ],
    ['rollback', { phase: 'held', judged: null, beyond: {} }, ['Confirm', 'Reject']],
    ['rollback', { phase: 'beyond', judged: null }, ['Judge']],
    ['delivery', { phase: 'overdue' }, ['I have dealt with it']],
    ['execution', { awaited: { is_overdue: true } }, ['Settle', 'Find out again']],
  ])('of kind %s that waits (%j) offers %j', (kind, row, names) => {
    expect(namesOf(kind, row)).toEqual(names);
  });

  it('is offered to nobody without the role, and says which it takes', () => {
    const [verb] = itemVerbs('breaker', { phase: 'open' }, 'x', ['viewer']);
    expect(verb?.blocked).toBe('None of your roles may do this: it takes operator or administrator.');
    expect(itemVerbs('breaker', { phase: 'open' }, 'x', ROLES)[0]?.blocked).toBeUndefined();
  });

  it.each([
    ['task', {}, 'close'],
    ['incident', {}, 'close'],
    ['forward_approval', { phase: 'awaiting' }, 'deny'],
    ['budget', { about: 'unsettled' }, 'deny'],
  ])('of kind %s cannot be pressed by whom its service would refuse, and says why', (kind, row, word) => {
    const blockedBy = (code: string, message: string) =>
      itemVerbs(kind, { ...row, may: [], may_not: [{ word, code, message }] }, 'x', ROLES).map(
        ({ blocked }) => blocked,
      );
    expect(blockedBy('SELF_APPROVAL', 'no')).toEqual([
      'You may not decide this: you acted, or it was done on your behalf, or the agent is yours.',
    ]);
    expect(blockedBy('CODE_OF_TOMORROW', 'Not today.')).toEqual(['Not today.']);
    expect(blockedBy('ROLE_REQUIRED', 'one of the roles auditor is needed')).toEqual([
      'one of the roles auditor is needed',
    ]);
  });
});

describe('a question before an effect', () => {
  const asked = (required_approvals: number, ...approvals: readonly object[]) =>
    happensOf('forward_approval', { phase: 'awaiting', may: ['approve'], required_approvals, approvals })[0];

  it('tells who agrees first that others have to as well, and the last that the agent goes on', () => {
    expect(asked(2)).toBe('1 more person has to agree after you.');
    expect(asked(2, { by: 'ravi' })).toBe('The agent may do exactly this, once.');
    expect(asked(1)).toBe('The agent may do exactly this, once.');
  });
});

it('a word about a trigger that was let through takes nothing back, and says so', () => {
  expect(happensOf('rollback', { phase: 'held', judged: null })[0]).toMatch(/^The commit falls/);
  expect(happensOf('rollback', { phase: 'marked', judged: null })[0]).toMatch(/What fell stays so\.$/);
});
