// What is at stake is said to be none only where somebody read that.
import { expect, it } from '@jest/globals';
import type { Item } from './shapes.js';
import { valued } from './stakes.js';

const item = (kind: string, id: string) => ({ kind, id }) as Item; // the rest is not looked at
const NONE = { items: [], isCut: false };
const VALUE = { amount_minor: 1, currency: 'INR' };

it('the money in what waits is not known where its list was not read, or not to its end', () => {
  const items = [item('approval', 'stp_1'), item('approval', 'stp_2'), item('budget', 'res_1'), item('task', 'tsk_1')];
  const reviews = { items: [{ step_id: 'stp_1', execution: { value: VALUE } }], isCut: true };
  expect(
    valued(items, [reviews, NONE, null]).map(({ id, value, isValueUnread }) => [id, value, isValueUnread]),
  ).toEqual([
    ['stp_1', VALUE, false],
    ['stp_2', null, true],
    ['res_1', null, true],
    ['tsk_1', null, false],
  ]);
  expect(valued(items, [{ ...reviews, isCut: false }, NONE, NONE]).some((one) => one.isValueUnread)).toBe(false);
});
