import { describe, expect, it } from '@jest/globals';
import { WHOLE_MATRIX } from './matrix.cases.js';
import { pairwise } from './pairwise.decisions.js';
import { wavesOf } from './waves.decisions.js';

describe('the waves of the crash matrix', () => {
  it.each([
    ['the whole matrix', WHOLE_MATRIX],
    ['the pairwise choice', pairwise(WHOLE_MATRIX)],
  ])('hold each case of %s once', (_, cases) => {
    const inWaves = wavesOf(cases).flatMap(({ action, target, points }) =>
      points.map((point) => ({ point, action, target })),
    );
    expect(inWaves).toHaveLength(cases.length);
    expect(
      cases.filter(
        (one) =>
          !inWaves.some(
            ({ point, action, target }) => point === one.point && action === one.action && target === one.target,
          ),
      ),
    ).toEqual([]);
  });

  it('never wait for a worker that hears nothing and for its report at once', () => {
    expect(
      wavesOf(WHOLE_MATRIX).filter(({ points }) => points.includes('dispatched') && points.includes('reported')),
    ).toEqual([]);
  });

  it('are none where no case is asked for', () => {
    expect(wavesOf([])).toEqual([]);
  });
});
