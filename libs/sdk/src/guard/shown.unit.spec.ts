import { describe, expect, it } from '@jest/globals';
import { shownOf } from './shown.js';

const READS = {
  reversal_args: { token: { from: 'result', path: '/undo/a~1b' }, id: { from: 'args', path: '/id' } },
} as const;

describe('what an agent sees of an answer', () => {
  it('is all of it but the members a reversal is bound from', () => {
    expect(shownOf({ undo: { 'a/b': 'key', c: 1 }, id: 'key' }, READS, null)).toEqual({ undo: { c: 1 }, id: 'key' });
    expect(shownOf([['key', 2]], { reversal_args: { token: { from: 'result', path: '/0/0' } } }, null)).toEqual([
      [null, 2],
    ]);
  });

  it('is never the handle of the provider, alone or in a text', () => {
    expect(
      shownOf({ ref: 'rf.1', parts: ['rf.1', 'x'], text: '{"ref":"rf.1"} of rf.12, rfx1', n: 4 }, {}, 'rf.1'),
    ).toEqual({ parts: [null, 'x'], text: '{"ref":"…"} of rf.12, rfx1', n: 4 });
    expect(shownOf({ number: 7, of: 17 }, {}, '7')).toEqual({ of: 17 });
    expect(shownOf('rf.1', {}, 'rf.1')).toBe('…');
  });

  it('is never the handle as the name of a member, nor beside a sign', () => {
    const answer = {
      refunds: { re_4711: { state: 'ok' }, 're_4711-fee': 1, re_47110: 2 },
      url: 'https://pay.example/receipts/re_4711-a.pdf',
      at: 're_4711_1',
    };
    expect(shownOf(answer, {}, 're_4711')).toEqual({
      refunds: { '…': { state: 'ok' }, '…-fee': 1, re_47110: 2 },
      url: 'https://pay.example/receipts/…-a.pdf',
      at: '…_1',
    });
    expect(shownOf({ text: 'é7 7é 17 x-7' }, {}, '7')).toEqual({ text: 'é7 7é 17 x-…' });
  });

  it('is no part of a date, a time or a decimal where the handle is a number', () => {
    const text = 'refund 11 of 2026-11-29T12:11:02+11:00, 10.11 EUR, x-11, 11.';
    expect(shownOf({ text }, {}, '11')).toEqual({
      text: 'refund … of 2026-11-29T12:11:02+11:00, 10.11 EUR, x-…, ….',
    });
    expect(shownOf({ text: '[10,11] v2/11 order-5-471100 1.471100' }, {}, '11')).toEqual({
      text: '[10,…] v2/… order-5-471100 1.471100',
    });
    expect(shownOf({ text: 'order-5-471100 1.471100' }, {}, '471100')).toEqual({ text: 'order-5-… 1.471100' });
  });

  it('keeps what the contract calls public, also where it is the handle', () => {
    const open = { reversal_args: { number: { from: 'result', path: '/number', is_public: true } } } as const;
    expect(shownOf({ number: 17, text: 'opened 17' }, open, '17')).toEqual({ number: 17, text: 'opened 17' });
    expect(shownOf({ number: 17, node: 'x1' }, open, 'x1')).toEqual({ number: 17 });
  });

  it('is nothing where the whole answer undoes', () => {
    expect(shownOf({ any: 1 }, { reversal_args: { all: { from: 'result', path: '' } } }, null)).toBeNull();
  });

  it('is the answer itself where nothing undoes', () => {
    const answer = { a: [1, null, { b: false }], c: '' };
    expect(shownOf(answer, {}, null)).toEqual(answer);
  });
});
