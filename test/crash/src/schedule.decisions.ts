// Says what dies next. Pure.
import { POINTS_OF } from './targets.js';
import type { Point, Target } from './targets.js';

/** What became of one run. */
export interface RunResult {
  readonly target: Target;
  readonly point: Point;
  readonly instances: number;
  /** The process died before the outcome. */
  readonly isCounted: boolean;
  readonly isSound: boolean;
  /** From its death until it was ready again, milliseconds. */
  readonly recoveredInMs: number;
}

export interface Kill {
  readonly target: Target;
  readonly point: Point;
}

/** Kills of one target whose runs did not count, before it is given up. */
const VAIN_RUNS_MAX = 24;

/** Whom to kill next in a phase: who has the fewest runs that count; at the moment of theirs that was used least. Null when nothing is left to do. */
export function nextKill(
  done: readonly RunResult[],
  targets: readonly Target[],
  wanted: { readonly runs: number; readonly perTarget: number },
): Kill | null {
  const open = targets.filter(
    (target) => done.filter((run) => run.target === target && !run.isCounted).length < VAIN_RUNS_MAX,
  );
  const counted = (target: Target): number => done.filter((run) => run.target === target && run.isCounted).length;
  const isEnough =
    done.filter(({ isCounted }) => isCounted).length >= wanted.runs &&
    open.every((target) => counted(target) >= wanted.perTarget);
  const target = isEnough ? undefined : fewest(open, counted);
  if (target === undefined) return null;
  return {
    target,
    point:
      fewest(POINTS_OF[target], (point) => done.filter((run) => run.target === target && run.point === point).length) ??
      'random',
  };
}

/** The first of those with the smallest measure. */
function fewest<T>(items: readonly T[], measure: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (best, item) => (best === undefined || measure(item) < measure(best) ? item : best),
    undefined,
  );
}
