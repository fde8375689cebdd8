// One cell: its runs are made ready, the load is run, and it is read off what it took and whether every run was right.
import { cpuSeconds, machineCpu } from '../process-cpu.js';
import { percentile, sum } from '../rounds.js';
import { sharedClockMs } from '../worker-process.js';
import { runsFor } from './cells.js';
import type { CellPlan, Pace } from './cells.js';
import type { Loaded } from './closed-loop.js';
import type { Cell } from './drive.js';
import type { Judged } from './effect-book.js';
import type { RunningEngine } from './engine.js';

/** What one cell of one round gave. */
export interface Measurement extends CellPlan {
  readonly engine: string;
  readonly perS: number;
  readonly p50: number;
  readonly p99: number;
  readonly runs: number;
  /** The runs made ready were used up, so the cell was shorter than wanted. */
  readonly isShort: boolean;
  /** CPU of the engine's processes, milliseconds a run, by name. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Share of the machine that processes used which the bench did not start; 0 where the machine does not tell. */
  readonly foreign: number;
  /** What a run wrote; null where it is not counted. */
  readonly written: {
    readonly records: number;
    readonly appends: number;
    readonly rows: number;
    /** Records by type. */
    readonly types?: string;
  } | null;
  /** What was wrong; null when each run was exact. */
  readonly wrong: string | null;
  /** When the load began and ended, on the clock that all processes share. */
  readonly from: number;
  readonly to: number;
}

export interface CellWanted extends CellPlan {
  readonly engine: string;
  readonly prefix: string;
  readonly ms: number;
  readonly last: Pace | null;
}

export async function measureCell(running: RunningEngine, wanted: CellWanted): Promise<Measurement> {
  const { engine, workload, variant, callers, prefix, ms, last } = wanted;
  const cell: Cell = { workload, variant, callers, prefix, ms, runsMax: null };
  const runsMax = workload === 'recover' && running.prepare !== undefined ? runsFor(cell, last) : null;
  if (runsMax !== null) await running.prepare?.(cell, runsMax);
  await fetch(`http://127.0.0.1:${String(running.gatePorts[variant])}/clear`, { method: 'POST' });
  const counting = variant === 'memory' ? running.traffic : undefined;
  const written = await counting?.settled();
  const before = sampleOf(running);
  const loaded = await running.driver.ask({ ...cell, runsMax });
  const after = sampleOf(running);
  const runs = loaded.times.length;
  const wrote = counting && written && counting.between(written, await counting.settled(), runs);
  return {
    engine,
    workload,
    variant,
    callers,
    perS: loaded.perS,
    p50: percentile(loaded.times, 0.5),
    p99: percentile(loaded.times, 0.99),
    runs,
    isShort: loaded.isShort,
    cpuMs: Object.fromEntries(
      Object.entries(after.cpu).map(([name, used]) => [name, ((used - (before.cpu[name] ?? 0)) * 1_000) / runs]),
    ),
    foreign: foreignIn(before, after),
    written: wrote ?? null,
    wrong: wrongIn(loaded, await judged(running.gatePorts[variant], workload)),
    from: before.atMs,
    to: after.atMs,
  };
}

interface Sample {
  readonly atMs: number;
  readonly cpu: Readonly<Record<string, number>>;
  /** Of the bench and everything that descends from it. */
  readonly ours: number;
  readonly machine: ReturnType<typeof machineCpu>;
}

function sampleOf({ pids }: RunningEngine): Sample {
  return {
    atMs: sharedClockMs(),
    cpu: cpuSeconds(pids),
    ours: sum(Object.values(cpuSeconds({ bench: process.pid }))),
    machine: machineCpu(),
  };
}

function foreignIn(before: Sample, after: Sample): number {
  if (before.machine === null || after.machine === null) return 0;
  const busy = after.machine.busy - before.machine.busy;
  return Math.max(0, (busy - (after.ours - before.ours)) / (after.machine.all - before.machine.all));
}

async function judged(port: number, workload: string): Promise<Judged> {
  return (await (await fetch(`http://127.0.0.1:${String(port)}/judge/${workload}`)).json()) as Judged; // the tool says nothing else
}

/** What is wrong with a cell: each call must have ended well, and each run must be exact. Pure. */
export function wrongIn(
  { started, errors, firstError }: Pick<Loaded, 'started' | 'errors' | 'firstError'>,
  { runs, exact, repeats, firstWrong }: Judged,
): string | null {
  const found = [
    ...(errors > 0 ? [`${String(errors)} calls failed, first: ${String(firstError)}`] : []),
    ...(started > 0 && runs === started ? [] : [`${String(started)} calls, but the tool saw ${String(runs)} runs`]),
    ...(exact === runs ? [] : [`${String(runs - exact)} runs went wrong, first: ${JSON.stringify(firstWrong)}`]),
    ...(repeats === 0 ? [] : [`${String(repeats)} effects were asked for again`]),
  ];
  return found.length === 0 ? null : found.join('; ');
}
