// What the list of all that waits asks of each service.
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { QueryClient } from '@tanstack/react-query';
import { budgets, notifier, recoveries } from './clients.js';
import { inboxQuery } from './inbox.js';

const escalations = jest.spyOn(budgets, 'GET');
const all = [escalations, jest.spyOn(notifier, 'GET'), jest.spyOn(recoveries, 'GET')];

beforeEach(() => {
  const empty = { data: { items: [], next_cursor: null }, response: Response.json({}) };
  for (const get of all) get.mockResolvedValue(empty);
});
afterEach(() => {
  jest.restoreAllMocks();
});

it('the inbox asks for questions that wait, and not for all that ever did', async () => {
  expect(await new QueryClient().query(inboxQuery)).toEqual({ items: [], isCut: false });
  const asked = expect.objectContaining({ params: { query: { limit: 500, phase: 'open' } } });
  expect(escalations.mock.calls).toEqual([['/v1/escalations', asked]]);
});
