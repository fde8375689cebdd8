import { describe, expect, it } from '@jest/globals';
import { judgeLoss } from './loss.decisions.js';

const hash = (n: number): Buffer => Buffer.alloc(32, n);
const projected = { seq: 10, hash: hash(10) };

describe('a log beside its projection', () => {
  it('has lost nothing when nothing was projected', () => {
    expect(
      judgeLoss({ projected: null, log: { seq: 3, hash: hash(3) }, hashAtProjected: null, lastAccepts: null }),
    ).toEqual({ kind: 'nothing_lost' });
  });
  it('has lost nothing while the projected record stands at its place', () => {
    expect(
      judgeLoss({ projected, log: { seq: 12, hash: hash(12) }, hashAtProjected: hash(10), lastAccepts: null }),
    ).toEqual({ kind: 'nothing_lost' });
  });
  it('was cut when it ends before the projected head: what is lost is named', () => {
    expect(judgeLoss({ projected, log: { seq: 7, hash: hash(7) }, hashAtProjected: null, lastAccepts: null })).toEqual({
      kind: 'cut',
      fromSeq: 8,
      toSeq: 10,
      headHash: hash(10),
    });
  });
  it('was rewritten when another record stands where the projected one stood', () => {
    expect(
      judgeLoss({ projected, log: { seq: 12, hash: hash(12) }, hashAtProjected: hash(99), lastAccepts: null }),
    ).toEqual({ kind: 'rewritten', seq: 10 });
  });
  it('needs no second record when the first one was appended and the projection was not dropped yet', () => {
    expect(
      judgeLoss({
        projected,
        log: { seq: 8, hash: hash(8) },
        hashAtProjected: null,
        lastAccepts: { lostHeadHash: hash(10) },
      }),
    ).toEqual({ kind: 'recorded' });
    expect(
      judgeLoss({
        projected,
        log: { seq: 10, hash: hash(8) },
        hashAtProjected: hash(8),
        lastAccepts: { lostHeadHash: hash(10) },
      }),
    ).toEqual({ kind: 'recorded' });
  });
});
