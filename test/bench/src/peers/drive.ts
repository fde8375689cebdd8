// The driver's side of a cell: a program that runs the load it is told over IPC.
import { serve } from '../worker-process.js';
import { closedLoop } from './closed-loop.js';
import type { Load, Loaded } from './closed-loop.js';
import type { Variant, Workload } from './work.js';

export interface Cell extends Load {
  readonly workload: Workload;
  readonly variant: Variant;
}

/** Serves cells until the bench ends; `call` runs one recovery or saga to its end. */
export function serveCells(
  ready: object,
  call: (cell: Pick<Cell, 'workload' | 'variant'>, run: string) => Promise<void>,
): void {
  serve<Cell, Loaded>(ready, (cell) => closedLoop(cell, (run) => call(cell, run)));
}
