import { describe, expect, it } from '@jest/globals';
import { ACTIONS, MATRIX_POINTS, MATRIX_TARGETS, WHOLE_MATRIX } from './matrix.cases.js';
import { pairsOf, pairwise } from './pairwise.decisions.js';

describe('the crash matrix', () => {
  it('has every point with every action on every target', () => {
    const ids = new Set(WHOLE_MATRIX.map(({ point, action, target }) => `${point} ${action} ${target}`));
    expect(ids.size).toBe(MATRIX_POINTS.length * ACTIONS.length * MATRIX_TARGETS.length);
  });
});

describe('the pairwise choice', () => {
  const picked = pairwise(WHOLE_MATRIX);
  const met = new Set(picked.flatMap(pairsOf));

  it('brings every point together with every action', () => {
    expect(
      MATRIX_POINTS.flatMap((point) => ACTIONS.map((action) => `${point} × ${action}`)).filter(
        (pair) => !met.has(pair),
      ),
    ).toEqual([]);
  });

  it('brings every point together with every target', () => {
    expect(
      MATRIX_POINTS.flatMap((point) => MATRIX_TARGETS.map((target) => `${point} × ${target}`)).filter(
        (pair) => !met.has(pair),
      ),
    ).toEqual([]);
  });

  it('brings every action together with every target', () => {
    expect(
      ACTIONS.flatMap((action) => MATRIX_TARGETS.map((target) => `${action} × ${target}`)).filter(
        (pair) => !met.has(pair),
      ),
    ).toEqual([]);
  });

  it('is hardly larger than points and targets need', () => {
    expect(picked.length).toBeGreaterThanOrEqual(MATRIX_POINTS.length * MATRIX_TARGETS.length);
    expect(picked.length).toBeLessThanOrEqual(MATRIX_POINTS.length * MATRIX_TARGETS.length + 3);
  });

  it('has the worker that dies after its effect in any case', () => {
    expect(picked).toContainEqual({ point: 'act done', action: 'kill -9', target: 'worker' });
  });

  it('is the same each time', () => {
    expect(pairwise(WHOLE_MATRIX)).toEqual(picked);
  });
});
