// What would fall, in words.
import { describe, expect, it } from '@jest/globals';
import { drillWords, isSameFall } from './fall.rules.js';

const FOUND = {
  relying: 2,
  held: null,
  falls: { commits: 3, runs: 2, with_effect: 1, without_effect: 2 },
  money: [{ currency: 'INR', amount_minor: 120_000, mutations: 1 }],
  consumers: [{ consumer: 'loyalty', commits: 1 }],
  beyond_bound: { commits: 0, first: [] },
};

describe('a fall that somebody read', () => {
  const READ = { ...FOUND, fallen_already: 0, bound_at: 1_000, subjects: { count: 1, first: ['order/1'] } };

  it.each([
    ['more falls', { ...READ, falls: { ...READ.falls, commits: 4 } }],
    ['something fell already', { ...READ, fallen_already: 1 }],
    ['other money is at stake', { ...READ, money: [] }],
    ['it is about somebody else', { ...READ, subjects: { count: 1, first: ['order/2'] } }],
    ['others are told', { ...READ, consumers: [] }],
    ['nobody can say who is told', { ...READ, consumers: null }],
    ['some of it goes to a person', { ...READ, beyond_bound: { commits: 1, first: ['mut_1'] } }],
  ])('is another one once %s', (_why, now) => {
    expect(isSameFall(READ, now)).toBe(false);
  });

  it('is the same while only the bound moves on', () => {
    expect(isSameFall(READ, { ...READ, bound_at: 2_000 })).toBe(true);
  });
});

describe('a drill of a source', () => {
  it('is told with who relies on it, whether anybody is asked, and what falls', () => {
    expect(drillWords(FOUND)).toEqual([
      '2 commits rely on it.',
      'Said by this source it would count at once: nobody is asked before it falls.',
      '3 commits of 2 runs fall: 1 has an effect outside, 2 have none.',
      'At stake: INR\u00a01,200.00.',
      'Told: loyalty.',
    ]);
  });

  it('counts one thing as one', () => {
    const one = { ...FOUND, falls: { commits: 1, runs: 1, with_effect: 0, without_effect: 1 } };
    expect(drillWords({ ...one, relying: 1, beyond_bound: { commits: 1, first: ['mut_1'] } })).toEqual([
      '1 commit relies on it.',
      'Said by this source it would count at once: nobody is asked before it falls.',
      '1 commit of 1 run falls: 0 have an effect outside, 1 has none.',
      'At stake: INR\u00a01,200.00.',
      'Told: loyalty.',
      '1 is beyond the bound and goes to a person.',
    ]);
  });

  it('says who would be asked first, and shows no letter that nobody sees', () => {
    const held = { reason: 'SOURCE_UNTRUSTED', detail: 'its source weighs 200\u202e' };
    expect(drillWords({ ...FOUND, held })[1]).toMatch(/held for a person: .*200\\u\{202e\}/);
  });

  it('pretends nothing where nobody relies on it', () => {
    expect(drillWords({ ...FOUND, relying: 0 })).toEqual([
      'Nothing would fall: no commit on record relies on this by its name.',
    ]);
  });
});
