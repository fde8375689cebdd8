// What is offered about a step is what whoever is signed in may do; what others may says why not they.
import { describe, expect, it } from '@jest/globals';
import type { Review } from '../api/shapes.js';
import { readAt } from './review.rules.js';
import { verbsOf } from './review.verbs.js';

const ROLES = ['approver'];
// What the rules look at; the rest is not.
const seen = (more: Partial<Review> = {}) =>
  readAt(
    {
      step_id: 'step_1',
      action_digest: 'ab',
      phase: 'awaiting_approval',
      action: { value: null },
      compensation: null,
      missing: [],
      approvals: { required: 1, given: [], why_two: null },
      time_left_ms: 20_000,
      may: ['approve', 'deny'],
      may_not: [],
      ...more,
    } as unknown as Review,
    0,
  );
const buttons = (more: Partial<Review> = {}, roles: readonly string[] = ROLES) =>
  verbsOf(seen(more), roles)
    .filter(({ isGrave }) => isGrave !== true)
    .map(({ name, blocked }) => [name, blocked ?? null]);

describe('what may be done about a step', () => {
  it('is what its reader may do', () => {
    expect(buttons()).toEqual([
      ['Approve', null],
      ['Deny', null],
    ]);
  });

  it('cannot be pressed by whom the service would refuse, and says why', () => {
    const message = 'Nobody approves their own action nor one done on their behalf.';
    const own = { may: ['deny'], may_not: [{ word: 'approve', code: 'SELF_APPROVAL', message }] };
    expect(buttons(own)).toEqual([
      ['Approve', 'You may not decide this: you acted, or it was done on your behalf, or the agent is yours.'],
      ['Deny', null],
    ]);
  });

  it('whatever is grave: its initiator may neither give it up nor break the glass', () => {
    const message = 'Nobody approves their own action nor one done on their behalf.';
    const own = ['break-glass', 'abandon'].map((word) => ({ word, code: 'SELF_APPROVAL', message }));
    const grave = (more: Partial<Review>, roles: readonly string[]) =>
      verbsOf(seen(more), roles)
        .filter(({ isGrave }) => isGrave === true)
        .map(({ name, blocked }) => [name, blocked ?? null]);
    const said = 'You may not decide this: you acted, or it was done on your behalf, or the agent is yours.';
    expect(grave({ may: ['deny'], may_not: own }, ['administrator'])).toEqual([
      ['Give up', said],
      ['Break the glass', said],
    ]);
    expect(grave({ may: ['break-glass', 'abandon'] }, ['approver'])).toEqual([['Give up', null]]);
    expect(grave({ may: ['approve', 'deny'] }, ['administrator'])).toEqual([]);
  });

  it('names the role that is lacking as every other button does', () => {
    const message = 'one of the roles approver is needed';
    const withheld = ['approve', 'deny'].map((word) => ({ word, code: 'ROLE_REQUIRED', message }));
    const said = 'None of your roles may do this: it takes approver.';
    expect(buttons({ may: [], may_not: withheld }, ['viewer'])).toEqual([
      ['Approve', said],
      ['Deny', said],
    ]);
  });

  it('cannot be agreed to where its arguments are sealed, and an older service says nothing of its reader', () => {
    const [approve] = buttons({ may: ['deny'], may_not: undefined });
    expect(approve).toEqual(['Approve', 'Its arguments are sealed for you; an approver sees them.']);
  });
});
