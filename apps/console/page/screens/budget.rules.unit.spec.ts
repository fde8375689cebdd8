// What a word about a question of the accountant sends, and what it says before.
import { describe, expect, it } from '@jest/globals';
import { raisesOf, wordOf } from './budget.rules.js';

const EXCESS = { scope: 'run', scope_id: 'run-1', measure: 'debt', currency: 'INR', asked_minor: 10_000 };

describe('a question of the accountant', () => {
  it('is answered with the digest of what was read, and raises a ceiling only where that is said', () => {
    expect(wordOf('ab', 'allow')).toEqual({ approved: true, raise_once: false, action_digest: 'ab' });
    expect(wordOf('ab', 'raise once')).toEqual({ approved: true, raise_once: true, action_digest: 'ab' });
    expect(wordOf('ab', 'refuse')).toEqual({ approved: false, raise_once: false, action_digest: 'ab' });
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
});
