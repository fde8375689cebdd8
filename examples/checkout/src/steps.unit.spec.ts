import { describe, expect, it } from '@jest/globals';
import { casesOf, standingSteps, toTakeBack } from './steps.js';
import type { Case, Failure, Step } from './steps.js';

const failing = (step: Step, how: Failure): Case => ({ order: 'o', fails: { step, how } });

describe('a checkout', () => {
  it('is tried without a failure, and with each failure of each step', () => {
    expect(casesOf('w').map(({ fails }) => (fails === null ? 'none' : `${fails.step} ${fails.how}`))).toEqual([
      'none',
      'reserve refuse',
      'reserve silent',
      'charge refuse',
      'charge silent',
      'book refuse',
      'book silent',
      'notify refuse',
      'notify silent',
    ]);
    expect(new Set(casesOf('w').map(({ order }) => order)).size).toBe(9);
  });

  it('gives the money back before the stock when no courier comes (A2)', () => {
    expect(toTakeBack(standingSteps(failing('book', 'refuse')))).toEqual(['charge', 'reserve']);
  });

  it('takes back what took effect though nobody answered', () => {
    expect(toTakeBack(standingSteps(failing('book', 'silent')))).toEqual(['book', 'charge', 'reserve']);
    expect(toTakeBack(standingSteps(failing('reserve', 'refuse')))).toEqual([]);
  });

  it('lets an order stand that is whole, also when its last answer was lost', () => {
    expect(toTakeBack(standingSteps({ order: 'o', fails: null }))).toEqual([]);
    expect(toTakeBack(standingSteps(failing('notify', 'silent')))).toEqual([]);
    expect(toTakeBack(standingSteps(failing('notify', 'refuse')))).toEqual(['book', 'charge', 'reserve']);
  });
});
