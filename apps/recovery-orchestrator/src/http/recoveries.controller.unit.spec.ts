import { describe, expect, it } from '@jest/globals';
import { EdgeRefusal, parse } from '@recourse/service';
import { reviewQuery } from './recoveries.controller.js';

describe('a list of what waits for a person', () => {
  const refusal = (query: object): unknown => {
    try {
      return parse(reviewQuery, query);
    } catch (refused) {
      return refused instanceof EdgeRefusal ? refused.problems : refused;
    }
  };

  it.each([
    ['recovery', 'awaiting_approval'],
    ['recovery', 'denied'],
    ['forward', 'expired'],
    ['forward', 'open'],
  ])('of %s takes %s', (kind, state) => {
    expect(refusal({ kind, state })).toMatchObject({ kind, state });
  });

  it.each([
    [{ state: 'expired' }, /^is "expired", and may be open, held, awaiting_approval, .* or resolved$/u, 'absent'],
    [{ kind: 'forward', state: 'halted' }, /^is "halted", and may be open, absent, .* or expired$/u, 'compensated'],
  ])('%j is told the states that list has, and no other', (query, words, foreign) => {
    const problems = [{ code: 'INVALID_VALUE', path: '/state', message: expect.stringMatching(words) }];
    expect(refusal(query)).toEqual(problems);
    expect(JSON.stringify(refusal(query))).not.toContain(foreign);
  });
});
