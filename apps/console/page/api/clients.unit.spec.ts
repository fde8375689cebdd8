// What the page says became of a command: done wherever the outcome is in the answer, whatever status it comes with.
import { describe, expect, it } from '@jest/globals';
import { commanded } from './clients.js';

const PLACE = { location: '/v1/commands/cmd_1' };
const answer = (status: number, data: unknown, headers: Readonly<Record<string, string>> = {}) =>
  commanded(Promise.resolve({ data, response: new Response(null, { status, headers }) }));

describe('a command that was answered 202', () => {
  it.each<[string, unknown, Readonly<Record<string, string>>]>([
    ['names where its outcome will be', {}, PLACE],
    ['says so', { status: 'pending' }, {}],
    ['says nothing', undefined, {}],
    ['has words of a gateway alone', { detail: 'later' }, {}],
  ])('has no outcome yet where the answer %s', async (_, data, headers) => {
    expect(await answer(202, data, headers)).toEqual({ places: [] });
  });

  it.each([
    ['a worker was asked', { mutation_id: 'mut_1', state: 'uncertain' }],
    ['more people have to agree', { phase: 'raising', approvals: 1 }],
    ['a trigger is held', { held: true, redundant: false }],
  ])('is done where the answer says what became of it: %s', async (_, data) => {
    expect(await answer(202, data)).toBe('done');
  });
});

it('a command that was taken says where its outcome is asked for', async () => {
  const response = new Response(null, { status: 202, headers: PLACE });
  Object.defineProperty(response, 'url', { value: 'https://console.example/api/ledger/v1/undos' });
  expect(await commanded(Promise.resolve({ response }))).toEqual({ places: ['/api/ledger/v1/commands/cmd_1'] });
});

it('a command that was refused is a problem', async () => {
  const error = { code: 'STEP_WRONG_PHASE', detail: 'it is over' };
  const call = commanded(Promise.resolve({ error, response: new Response(null, { status: 409 }) }));
  await expect(call).rejects.toMatchObject({ code: 'STEP_WRONG_PHASE' });
});
