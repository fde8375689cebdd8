// What is at stake is said only where a service named it, and said to be none only where somebody read that.
import { describe, expect, it } from '@jest/globals';
import type { Item, Row } from './shapes.js';
import { valued } from './stakes.js';

const item = (kind: string, id: string) => ({ kind, id }) as Item; // the rest is not looked at
const NONE = { items: [], isCut: false };
const VALUE = { amount_minor: 1, currency: 'INR' };
const step = (step_id: string, value: unknown) => ({ step_id, execution: { value } });

/** What is shown of one thing that a list has a row of. */
const shownOf = (kind: string, id: string, row: Row) =>
  valued([item(kind, id)], [{ items: [row], isCut: false }, NONE]).map(({ value, isValueUnread }) =>
    isValueUnread === true ? 'not known' : value,
  )[0];

it('the money in what waits is not known where its list was not read, or not to its end', () => {
  const items = [
    item('approval', 'stp_1'),
    item('approval', 'stp_2'),
    item('approval', 'stp_3'),
    item('budget', 'res_1'),
  ];
  const reviews = { items: [step('stp_1', VALUE), step('stp_3', null)], isCut: true };
  expect(valued(items, [reviews, null]).map(({ id, value, isValueUnread }) => [id, value, isValueUnread])).toEqual([
    ['stp_1', VALUE, false],
    ['stp_2', null, true],
    ['stp_3', null, false],
    ['res_1', null, true],
  ]);
});

describe('the money in what waits', () => {
  it('is not known of kinds that no list names an amount of', () => {
    for (const kind of ['task', 'forward_approval', 'exposure', 'rollback'])
      expect(valued([item(kind, 'x')], [NONE, NONE]).map(({ isValueUnread }) => isValueUnread)).toEqual([true]);
  });

  it('is nothing that an agent wrote into arguments', () => {
    const args = { body: { amount: 90_000_000, amount_minor: 1, currency: 'INR' } };
    expect(shownOf('forward_approval', 'fwd_1', { approval_id: 'fwd_1', args })).toBe('not known');
    expect(shownOf('approval', 'stp_1', { step_id: 'stp_1', args })).toBe('not known');
  });

  it('is what a question of the accountant is about, and not one of several amounts', () => {
    const debit = (currency: string) => ({ currency, value_minor: 1, debit_minor: 9 });
    const asked = (...debits: readonly object[]) => shownOf('budget', 'res_1', { reservation_id: 'res_1', debits });
    expect(asked(debit('comms'), debit('INR'))).toEqual(VALUE);
    expect(asked(debit('comms'))).toBeNull();
    expect(asked(debit('INR'), debit('EUR'))).toBe('not known');
  });
});
