import { describe, expect, it } from '@jest/globals';
import { diceOf } from '../random.js';
import { isEachStruck, nextStrike, STRIKE_KINDS } from './strikes.decisions.js';
import type { Strike } from './strikes.decisions.js';

const TARGETS = ['mailer', 'group-1', 'mutation-ledger'];

describe('the strikes against consumers and services', () => {
  it('strike each in each way before any a second time', () => {
    const done: Strike[] = [];
    const dice = diceOf(5);
    for (let strike = 0; strike < TARGETS.length * STRIKE_KINDS.length; strike += 1) {
      expect(isEachStruck(TARGETS, done)).toBe(false);
      done.push(nextStrike(TARGETS, done, dice));
    }
    expect(isEachStruck(TARGETS, done)).toBe(true);
  });

  it('are the same for the same seed, and pause longer and shorter than a session', () => {
    const strikes = (): readonly Strike[] => {
      const done: Strike[] = [];
      const dice = diceOf(9);
      while (done.length < 12) done.push(nextStrike(TARGETS, done, dice));
      return done;
    };
    expect(strikes()).toEqual(strikes());
    expect(
      new Set(
        strikes()
          .filter(({ kind }) => kind === 'pause')
          .map(({ absentMs }) => absentMs),
      ),
    ).toEqual(new Set([1_500, 6_000]));
  });

  it('need somebody', () => {
    expect(() => nextStrike([], [], () => 0)).toThrow('nobody');
  });
});
