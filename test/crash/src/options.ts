// Options of the crash runs.
import { parseArgs } from 'node:util';
import { TARGETS } from './targets.js';
import type { Target } from './targets.js';

export interface CrashOptions {
  /** Runs that have to count. */
  readonly runs: number;
  /** Each of these has to die at least this often before the outcome of a run. */
  readonly targets: readonly Target[];
  readonly seed: number;
  readonly keep: boolean;
}

export const HELP = `npm run test:crash -- [options]: the drifted refund under kill -9 of every process

  --runs N        runs that have to count (default 66; a third of them with two instances of every service)
  --quick         12 runs, one kill of each process
  --only NAME     kill only this: ${TARGETS.join(', ')}
  --seed N        seed of the random moments (default: the time)
  --keep          keep data and logs of a run that passed`;

const RUNS = 66;
const RUNS_QUICK = 12;

/** Reads the arguments. Errors: Error with what is wrong; null when help was asked for. */
export function readOptions(args: readonly string[]): CrashOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: { runs: { type: 'string' }, quick: { type: 'boolean' }, only: { type: 'string' }, seed: { type: 'string' }, keep: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) return null;
  return {
    runs: values.runs === undefined ? (values.quick === true ? RUNS_QUICK : RUNS) : wholeNumber('--runs', values.runs, 1),
    targets: values.only === undefined ? TARGETS : values.only.split(',').map(targetOf),
    seed: values.seed === undefined ? Date.now() % 1_000_000 : wholeNumber('--seed', values.seed, 0),
    keep: values.keep === true,
  };
}

function targetOf(name: string): Target {
  const found = TARGETS.find((target) => target === name);
  if (found === undefined) throw new Error(`--only ${name}: choose from ${TARGETS.join(', ')}`);
  return found;
}

function wholeNumber(option: string, text: string, min: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min) throw new Error(`${option} ${text}: a whole number from ${String(min)} up is needed`);
  return value;
}
