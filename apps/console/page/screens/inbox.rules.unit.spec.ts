// Which items the inbox shows, and in which order.
import { describe, expect, it } from '@jest/globals';
import type { InboxItem } from '../api/inbox.js';
import { chosen } from './inbox.rules.js';

const NOW = 1_000;
const ITEM: InboxItem = {
  kind: 'approval',
  id: 'step_1',
  tenant: 'demo',
  run_id: 'run_1',
  capability: 'payments.issue_refund',
  reason: 'HIGH_IMPACT',
  owner: 'role:approver',
  runbook: null,
  required_approvals: 1,
  approvals: 0,
  opened_at: 0,
  deadline_at: NOW + 1,
  is_overdue: false,
  way_out: '',
  value: null,
};
const item = (id: string, more: Partial<InboxItem> = {}): InboxItem => ({ ...ITEM, id, ...more });
const MIRA = { subject: 'mira', tenant: 'demo', roles: ['approver'], csrf: '', ends_at: 0 };
const inr = (amount_minor: number): InboxItem['value'] => ({ amount_minor, currency: 'INR' });
const shown = (items: readonly InboxItem[], search: Parameters<typeof chosen>[1]): readonly string[] =>
  chosen(items, search, MIRA, NOW).map(({ id }) => id);

describe('the inbox', () => {
  const all = [
    item('a'),
    item('b', { kind: 'task', owner: 'role:auditor', value: inr(5) }),
    item('c', { deadline_at: NOW - 1, value: inr(900) }),
    item('d', { owner: 'mira', run_id: 'run_9' }),
  ];

  it('shows all as they come, by time left', () => {
    expect(shown(all, {})).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    ['kind', { kind: 'task' }, ['b']],
    ['words, all of them', { find: 'REFUND run_9' }, ['d']],
    ['what a person or one of their roles is asked', { whose: 'mine' as const }, ['a', 'c', 'd']],
    ['what is overdue', { overdue: true }, ['c']],
  ])('narrows by %s', (_what, search, ids) => {
    expect(shown(all, search)).toEqual(ids);
  });

  it('puts the largest amount first, and what has none last', () => {
    expect(shown(all, { sort: 'money' })).toEqual(['c', 'b', 'a', 'd']);
  });
});
