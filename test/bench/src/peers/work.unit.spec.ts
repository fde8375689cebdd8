// The workloads, and what the gates make of them.
import { describe, expect, it } from '@jest/globals';
import { EffectBook } from './effect-book.js';
import { wrongIn } from './measure-cell.js';
import { actAll, EFFECTS, expectedTrace, Refused, STEPS, takeAllBack } from './work.js';
import type { Durably, EffectTool } from './work.js';

const plainly: Durably = (_, work) => work();

function toolOf(book: EffectBook): EffectTool {
  return {
    act: (run, step) => (book.act(run, step) ? Promise.resolve() : Promise.reject(new Refused('no'))),
    takeBack: (run, step) => {
      book.takeBack(run, step);
      return Promise.resolve();
    },
    look: (run, step) => Promise.resolve(book.look(run, step)),
  };
}

describe('a recovery', () => {
  it('takes eleven effects back, the last first, and looks at each before the next', async () => {
    const book = new EffectBook();
    await takeAllBack(toolOf(book), 'a', plainly);
    expect(expectedTrace('recover').slice(0, 3)).toEqual(['takeBack 11', 'look 11', 'takeBack 10']);
    expect(expectedTrace('recover')).toHaveLength(2 * EFFECTS);
    expect(book.judge('recover')).toEqual({ runs: 1, exact: 1, repeats: 0, firstWrong: null });
  });

  it('does not go on over an effect that is still there', async () => {
    const blind: EffectTool = { ...toolOf(new EffectBook()), look: () => Promise.resolve(false) };
    await expect(takeAllBack(blind, 'a', plainly)).rejects.toThrow('not taken back');
  });
});

describe('a saga', () => {
  it('is refused at its last step and takes the others back', async () => {
    const book = new EffectBook();
    await expect(actAll(toolOf(book), 'a', plainly)).rejects.toBeInstanceOf(Refused);
    await takeAllBack(toolOf(book), 'a', plainly);
    expect(expectedTrace('saga')[STEPS - 1]).toBe('refuse 12');
    expect(book.judge('saga')).toMatchObject({ runs: 1, exact: 1 });
    expect(book.judge('recover')).toMatchObject({ exact: 0 });
  });
});

describe('the book of a tool', () => {
  const spoilt = (spoil: (book: EffectBook) => void): EffectBook => {
    const book = new EffectBook();
    for (let step = EFFECTS; step >= 1; step -= 1) {
      book.takeBack('a', step);
      book.look('a', step);
    }
    spoil(book);
    return book;
  };

  it('finds an effect that was asked for again', () => {
    expect(
      spoilt((book) => {
        book.takeBack('a', 4);
      }).judge('recover'),
    ).toMatchObject({ exact: 0, repeats: 1 });
  });

  it('finds a run that is not whole, and one in the wrong order', () => {
    expect(
      spoilt((book) => {
        book.takeBack('b', 11);
      }).judge('recover'),
    ).toMatchObject({
      runs: 2,
      exact: 1,
      firstWrong: { run: 'b', trace: 'takeBack 11' },
    });
    expect(
      spoilt((book) => {
        book.look('a', 1);
      }).judge('recover'),
    ).toMatchObject({ exact: 0, repeats: 0 });
  });

  it('forgets a cell', () => {
    const book = spoilt(() => undefined);
    book.clear();
    expect(book.judge('recover')).toEqual({ runs: 0, exact: 0, repeats: 0, firstWrong: null });
    expect(book.look('a', 1)).toBe(false);
  });
});

describe('the gate of a cell', () => {
  const right = { runs: 3, exact: 3, repeats: 0, firstWrong: null };
  const ended = { started: 3, errors: 0, firstError: null };

  it('passes when each call made one exact run', () => {
    expect(wrongIn(ended, right)).toBeNull();
  });

  it('fails for an error, a lost or a second run, a wrong one, a repeat, and for nothing done at all', () => {
    expect(wrongIn({ ...ended, errors: 1, firstError: 'late' }, right)).toContain('first: late');
    expect(wrongIn(ended, { ...right, runs: 2, exact: 2 })).toContain('saw 2 runs');
    expect(wrongIn(ended, { ...right, exact: 2, firstWrong: { run: 'b', trace: 'x' } })).toContain('1 runs went wrong');
    expect(wrongIn(ended, { ...right, repeats: 1 })).toContain('again');
    expect(wrongIn({ ...ended, started: 0 }, { ...right, runs: 0, exact: 0 })).not.toBeNull();
  });
});
