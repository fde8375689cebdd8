// Which cells are measured, and how many runs are made ready for each. Pure.
import type { Cell } from './drive.js';
import type { Variant, Workload } from './work.js';

/** One cell before it is run. */
export interface CellPlan {
  readonly workload: Workload;
  readonly variant: Variant;
  readonly callers: number;
}

export const CALLERS = [1, 16, 64, 128] as const;
const PLACES: readonly (readonly [Workload, Variant])[] = [
  ['recover', 'http'],
  ['recover', 'memory'],
  ['saga', 'http'],
];
/** Runs made ready beyond those that the cell before suggests. */
const SPARE = 1.5;
/** A cell with more callers than the one before may be faster by so much at most. */
const GROWTH_MAX = 4;
const FIRST_PER_S = 4;
/** Each has eleven executions that must be recorded first. */
const RUNS_MAX = 20_000;

export function cellName({ workload, variant, callers }: CellPlan): string {
  return `${workload}:${variant}:${String(callers)}`;
}

/** Cells of one engine in one round, in their order; with a pattern those whose name has it. */
export function cellPlans(only: RegExp): readonly CellPlan[] {
  return PLACES.flatMap(([workload, variant]) => CALLERS.map((callers) => ({ workload, variant, callers }))).filter(
    (plan) => only.test(cellName(plan)),
  );
}

/** How fast an engine was in its last cell. */
export interface Pace {
  readonly callers: number;
  readonly perS: number;
}

/** Runs that a cell may need, by the pace of the one before; null at the first. */
export function runsFor({ callers, ms }: Pick<Cell, 'callers' | 'ms'>, last: Pace | null): number {
  const { callers: before, perS } = last ?? { callers: 1, perS: FIRST_PER_S };
  const growth = Math.min(GROWTH_MAX, Math.max(1, callers / before));
  return Math.min(RUNS_MAX, callers + Math.ceil(perS * growth * SPARE * (ms / 1_000)));
}
