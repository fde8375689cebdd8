// Says which cases share one strike. Pure.
import { ACTIONS, MATRIX_POINTS, MATRIX_TARGETS } from './matrix.cases.js';
import type { Action, MatrixCase, MatrixPoint, MatrixTarget } from './matrix.cases.js';

/** Stories that stand at different points when one thing happens to one target: as many cases. */
export interface Wave {
  readonly action: Action;
  readonly target: MatrixTarget;
  readonly points: readonly MatrixPoint[];
}

/** The one waits for a worker that hears nothing from the broker, the other for its report: not both at once. */
const APART: readonly MatrixPoint[] = ['dispatched', 'reported'];
/** What goes by itself then: both are led up to in turn. */
const LAST: readonly MatrixPoint[] = ['reported', 'recorded'];

/** Cases by what happens to whom; each case is in one wave. */
export function wavesOf(cases: readonly MatrixCase[]): readonly Wave[] {
  return ACTIONS.flatMap((action) =>
    MATRIX_TARGETS.flatMap((target) => {
      const points = MATRIX_POINTS.filter((point) =>
        cases.some((one) => one.point === point && one.action === action && one.target === target),
      );
      return setsOf(points).map((set) => ({ action, target, points: set }));
    }),
  );
}

function setsOf(points: readonly MatrixPoint[]): readonly (readonly MatrixPoint[])[] {
  if (points.length === 0) return [];
  if (!APART.every((point) => points.includes(point))) return [points];
  const isLast = (point: MatrixPoint): boolean => LAST.includes(point);
  return [points.filter((point) => !isLast(point)), points.filter(isLast)];
}
