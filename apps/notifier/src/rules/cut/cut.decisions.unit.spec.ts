// Accepted losses of a log: which are known, and which one is consent.
import { describe, expect, it } from '@jest/globals';
import { accountsFor, afterFirstReading, isFirstReading, knownWith, readBefore, UNREAD } from './cut.decisions.js';
import type { ToldCut } from './cut.decisions.js';

const hash = (seq: number): Buffer => Buffer.alloc(32, seq);
const told = (fromSeq: number, toSeq: number, name = `cut-${String(fromSeq)}`): ToldCut => ({
  fromSeq,
  hash: name,
  lostHead: { seq: toSeq, hash: hash(toSeq) },
});

describe('an accepted loss', () => {
  it('accounts for what it took, also where the owner had gone further, or not so far, and for nothing before it', () => {
    const lost = told(5, 9);
    expect([4, 5, 7, 9, 11].map((seq) => accountsFor(lost, { seq, hash: hash(seq), cuts: [] }))).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
  });

  it('accounts for no other record in the place of the head that it gives up', () => {
    expect(accountsFor(told(5, 9), { seq: 9, hash: hash(1), cuts: [] })).toBe(false);
  });

  it('accounts for the record alone that it names, where nobody knows which were read before', () => {
    const read = { seq: 7, hash: hash(7), cuts: null };
    expect([told(5, 6), told(5, 7), told(5, 8)].map((lost) => accountsFor(lost, read))).toEqual([false, true, false]);
    expect(accountsFor(told(5, 7), { ...read, hash: hash(1) })).toBe(false);
  });

  it('is known once, and takes with it those that were accepted in what is gone', () => {
    const known = [told(3, 4), told(7, 9)].reduce(knownWith, []);
    expect(known.map(({ fromSeq }) => fromSeq)).toEqual([3, 7]);
    expect(knownWith(known, told(3, 4))).toBe(known);
    expect(knownWith(known, told(5, 8, 'another')).map(({ fromSeq }) => fromSeq)).toEqual([3, 5]);
  });

  it('is known while a log is read for the first time, and ends that for nobody', () => {
    const known = [told(3, 4), told(2, 9)].reduce(knownWith, UNREAD);
    expect([isFirstReading(UNREAD), isFirstReading(known), readBefore(known)]).toEqual([
      true,
      true,
      Number.MAX_SAFE_INTEGER,
    ]);
    expect(afterFirstReading(known).map(({ fromSeq }) => fromSeq)).toEqual([2]);
    expect([afterFirstReading(UNREAD), isFirstReading([])]).toEqual([[], false]);
  });

  it('says up to where a log is read a second time, which nothing is where none is known', () => {
    const known = [told(3, 4), told(7, 9)].reduce(knownWith, []);
    expect([readBefore([]), readBefore(known)]).toEqual([0, 7]);
  });
});
