// Somebody who clicked hears what came of it, also where that took longer than an answer waits.
import { describe, expect, it } from '@jest/globals';
import { outcomeOf, placeOf, settled } from './outcome.js';
import type { Outcome } from './outcome.js';
import { ApiProblem } from './problem.js';

const PLACE = '/api/ledger/v1/commands/cmd_1.ab';
const TAKEN = { places: [PLACE] };
const REFUSED = new ApiProblem('STEP_WRONG_PHASE', 409, 'it is over');

/** Answers in turn, the last again and again. */
function asking(...answers: readonly (Outcome | ApiProblem)[]) {
  const asked: string[] = [];
  const ask = (place: string): Promise<Outcome> => {
    const answer = answers[Math.min(asked.push(place), answers.length) - 1] ?? TAKEN;
    return answer instanceof ApiProblem ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { asked, ask, sleep: () => Promise.resolve() };
}

describe('a command whose outcome was not known yet', () => {
  it('is done once its service says so', async () => {
    const by = asking(TAKEN, 'done');
    expect([await settled(TAKEN, by), by.asked]).toEqual(['done', [PLACE, PLACE]]);
  });

  it('that is refused in the end is told as every refusal is', async () => {
    await expect(settled(TAKEN, asking(TAKEN, REFUSED))).rejects.toBe(REFUSED);
  });

  it.each([0, 429, 502, 503])('is asked for again where nobody answers (%s)', async (status) => {
    expect(await settled(TAKEN, asking(new ApiProblem('AWAY', status, ''), 'done'))).toBe('done');
  });

  it.each([
    ['a session that ended', new ApiProblem('UNAUTHENTICATED', 401, '')],
    ['a ticket that is not found', new ApiProblem('NOT_FOUND', 404, '')],
  ])('is not known, and not refused, after %s', async (_, problem) => {
    expect(await settled(TAKEN, asking(problem))).toEqual(TAKEN);
    expect(await settled(TAKEN, asking(problem, 'done'))).toBe('done');
  });

  it('is not asked for without end, nor where no service said where', async () => {
    const by = asking(TAKEN);
    expect(await settled(TAKEN, by)).toEqual(TAKEN);
    expect(by.asked.length).toBeLessThan(20);
    expect(await settled({ places: [] }, asking('done'))).toEqual({ places: [] });
  });

  it('is asked for at its own service, at a ticket and nowhere else', () => {
    const asked = 'https://console.example/api/ledger/v1/breakers/run/id/close';
    expect(placeOf(asked, '/v1/commands/cmd_1.ab')).toEqual([PLACE]);
    for (const location of ['https://elsewhere.example/v1/commands/c', '//elsewhere/v1/commands/c', '/v1/items', null])
      expect(placeOf(asked, location)).toEqual([]);
  });

  it('is one of several: they are done when all are', () => {
    expect(outcomeOf(['done', TAKEN, { places: ['b'] }])).toEqual({ places: [PLACE, 'b'] });
    expect(outcomeOf(['done', 'done'])).toBe('done');
  });
});
