// What a word about a question of the accountant sends, and what it says before.
import { describe, expect, it } from '@jest/globals';
import { questionsOf, raisesOf, waysOf, wordOf } from './budget.rules.js';

const EXCESS = { scope: 'run', scope_id: 'run-1', measure: 'debt', currency: 'INR', asked_minor: 10_000 };

const PROPOSAL = {
  ...{ scope: 'tenant', scope_id: 'acme', measure: 'debt', currency: 'INR', window: 'day', until: null },
  ...{ from_minor: 50_000, ceiling_minor: 5_000_000 },
};

describe('a question of the accountant', () => {
  it('is answered with the digest of what was read, and raises a ceiling only where that is said', () => {
    expect(wordOf('ab', 'approve')).toEqual({ approved: true, raise_once: false, action_digest: 'ab' });
    expect(wordOf('ab', 'raise-once')).toEqual({ approved: true, raise_once: true, action_digest: 'ab' });
    expect(wordOf('ab', 'deny')).toEqual({ approved: false, raise_once: false, action_digest: 'ab' });
  });

  it('says of each ceiling that would be raised once by how much, from what, and for how long', () => {
    const said = raisesOf({ about: 'ceiling', exceeded: [{ ...EXCESS, ceiling_minor: 50_000 }] });
    expect(said.map((line) => line.replaceAll('\u00a0', ' '))).toEqual([
      'The ceiling of debt of the run run-1 rises by INR 100.00, from INR 500.00, as long as this action counts.',
    ]);
  });

  it('raises nothing that is no ceiling: a cap of a contract, a count of calls, an overrun', () => {
    const caps = [
      { ...EXCESS, scope: 'capability' },
      { ...EXCESS, measure: 'calls' },
    ];
    expect(raisesOf({ about: 'ceiling', exceeded: caps })).toEqual([]);
    expect(raisesOf({ about: 'overrun', exceeded: [EXCESS] })).toEqual([]);
  });

  it('about a ceiling that would be raised says from what to what and for how long, and offers nothing for once', () => {
    const said = (proposal: object) =>
      waysOf({ about: 'raise', phase: 'open', proposal }).map(({ word, happens }) => [word, happens[0]]);
    const plain = (proposal: object) => JSON.stringify(said(proposal)).replaceAll('\u00a0', ' ');
    expect(plain(PROPOSAL)).toBe(
      JSON.stringify([
        ['approve', 'The ceiling of debt of the tenant acme per day rises from INR 500.00 to INR 50,000.00 for good.'],
        ['deny', 'The ceiling stays as it is.'],
      ]),
    );
    expect(plain({ ...PROPOSAL, window: 'life', until: 0 })).toContain(
      'of the tenant acme rises from INR 500.00 to INR 50,000.00 until 1970-01-01T00:00:00.000Z.',
    );
  });

  it.each([
    ['ceiling', ['approve', 'raise-once', 'deny'], /this once/],
    ['overrun', ['approve', 'deny'], /before anybody was asked/],
    ['unsettled', ['approve', 'deny'], /another while/],
    ['something newer', [], undefined],
  ])('about %s offers %j, each in words of its own', (about, words, first) => {
    const ways = waysOf({ about, phase: 'open', exceeded: [EXCESS] });
    expect(ways.map(({ word }) => word)).toEqual(words);
    expect(ways[0]?.happens[0] ?? '').toMatch(first ?? /^$/);
  });

  it('that is an overrun says what a no holds up', () => {
    const [, no] = waysOf({ about: 'overrun', phase: 'open' });
    expect(no?.happens).toContain('Its run reserves nothing more until somebody accepts it.');
  });

  it('is looked for among those that wait first, in its run or in none', () => {
    expect(questionsOf('run_1')).toEqual([
      { run_id: 'run_1', phase: 'open', limit: 500 },
      { run_id: 'run_1', limit: 500 },
    ]);
    expect(questionsOf('')).toEqual([{ phase: 'open', limit: 500 }, { limit: 500 }]);
  });
});
