import { describe, expect, it } from '@jest/globals';
import { casesOf, doneSteps, toTakeBack } from './steps.js';
import type { Case, Failure, Step } from './steps.js';

const failing = (step: Step, how: Failure): Case => ({ order: 'o', fails: { step, how } });

describe('a checkout', () => {
  it('is tried without a failure, and with each failure of each step', () => {
    const cases = casesOf('w');
    expect(cases.slice(0, 5).map(({ fails }) => (fails === null ? 'none' : `${fails.step} ${fails.how}`))).toEqual([
      'none',
      'reserve refuse',
      'reserve silent',
      'reserve lost',
      'charge refuse',
    ]);
    expect([cases.length, new Set(cases.map(({ order }) => order)).size]).toEqual([13, 13]);
  });

  it('gives the money back before the stock when no courier comes (A2)', () => {
    expect(toTakeBack(doneSteps(failing('book', 'refuse')))).toEqual(['charge', 'reserve']);
    expect(toTakeBack(doneSteps(failing('book', 'lost')))).toEqual(['charge', 'reserve']);
  });

  it('goes on after a step that took effect though nobody answered', () => {
    expect(toTakeBack(doneSteps(failing('reserve', 'silent')))).toEqual([]);
    expect(doneSteps(failing('book', 'silent'))).toEqual(['reserve', 'charge', 'book', 'notify']);
  });

  it('lets an order stand that is whole, and takes back nothing of one that did nothing', () => {
    expect(toTakeBack(doneSteps({ order: 'o', fails: null }))).toEqual([]);
    expect(toTakeBack(doneSteps(failing('notify', 'refuse')))).toEqual(['book', 'charge', 'reserve']);
    expect(toTakeBack(doneSteps(failing('reserve', 'lost')))).toEqual([]);
  });
});
