// Options of the crash runs.
import { parseArgs } from 'node:util';
import { ACTIONS, MATRIX_POINTS, WHOLE_MATRIX } from './matrix/matrix.cases.js';
import type { MatrixCase } from './matrix/matrix.cases.js';
import { pairwise } from './matrix/pairwise.decisions.js';
import type { ConsumerRunsPlan } from './consumers/consumer-runs.js';
import { TARGETS } from './targets.js';
import type { Target } from './targets.js';

export interface CrashOptions {
  /** Runs that have to count. */
  readonly runs: number;
  /** Each of these has to die at least this often before the outcome of a run. */
  readonly targets: readonly Target[];
  readonly seed: number;
  readonly keep: boolean;
  /** Cases of the matrix to play instead of the runs; null: the runs. */
  readonly matrix: readonly MatrixCase[] | null;
  /** Consumers under fire instead of the runs; null: the runs. */
  readonly consumers: ConsumerRunsPlan | null;
  /** Kills of workers in legs. Null: a matrix or consumers were asked for, or one target. */
  readonly legs: LegRunsPlan | null;
  /** Kills of one of two instances instead of the runs; null: the runs. */
  readonly takeOver: number | null;
  /** Effects a case of three brokers instead of the runs; null: the runs, on one broker. */
  readonly brokers: number | null;
  /** An earlier version to upgrade from, instead of the runs: a commit, or the folder of a built checkout; null: the runs. */
  readonly upgrade: string | null;
}

export interface LegRunsPlan {
  readonly kills: number;
  /** Instead of the runs; else after them. */
  readonly isAlone: boolean;
}

const RUNS = 36;
const RUNS_QUICK = 12;
const LEG_KILLS = 12;

export const HELP = `npm run test:crash -- [options]: the drifted refund under kill -9 of every process

  --runs N        runs that have to count (default 36; a third of them with two instances of every service)
  --quick         12 runs, one kill of each process
  --only NAME     kill only this: ${TARGETS.join(', ')}
  --seed N        seed of the random moments (default: the time)
  --matrix        the crash matrix instead: points of a recovery x kill -9, stop, pause x processes, every two of them together
  --matrix whole  all of its cases
  --at POINT      of the matrix only this point: ${MATRIX_POINTS.join(', ')}
  --by ACTION     of the matrix only this: ${ACTIONS.join(', ')}
  --consumers     consumers of rollbacks, killed, paused and rebalanced, instead
  --commits N     of these: commits told (default 2000)
  --rollbacks N   of these: commits that have to fall (default 100)
  --seconds N     of these: how long they are told and everybody is struck (default 30)
  --legs N        kills of a worker at each step of a leg of eleven, instead (default ${String(LEG_KILLS)} after the runs)
  --takeover N    kills of one of two instances, until the next verified compensation, and starts of one alone, instead
  --brokers N     effects a case on three brokers: the leader gone, two of three gone, killed and stopped, forward and back, instead
  --upgrade FROM  an upgrade from an earlier version, a commit or the folder of a built checkout, with stories under way, instead
  --keep          keep data and logs of a run that passed`;

const CONSUMERS_DEFAULT = { commits: 2_000, rollbacks: 100, seconds: 30 } as const;

const ASKED = {
  consumers: { type: 'boolean' },
  commits: { type: 'string' },
  rollbacks: { type: 'string' },
  seconds: { type: 'string' },
  legs: { type: 'string' },
  takeover: { type: 'string' },
  brokers: { type: 'string' },
  upgrade: { type: 'string' },
  matrix: { type: 'boolean' },
  at: { type: 'string' },
  by: { type: 'string' },
  runs: { type: 'string' },
  quick: { type: 'boolean' },
  only: { type: 'string' },
  seed: { type: 'string' },
  keep: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Reads the arguments. Errors: Error with what is wrong; null when help was asked for. */
export function readOptions(args: readonly string[]): CrashOptions | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: ASKED,
  });
  if (values.help === true) return null;
  const isWhole = values.matrix === true && positionals.join() === 'whole';
  if (positionals.length > 0 && !isWhole)
    throw new Error(
      `what does ${positionals.join(' ')} mean? --matrix takes whole, nothing else takes a word of its own`,
    );
  const seed = seedOf(values);
  return {
    runs:
      values.runs === undefined ? (values.quick === true ? RUNS_QUICK : RUNS) : wholeNumber('--runs', values.runs, 1),
    targets: values.only === undefined || values.matrix === true ? TARGETS : values.only.split(',').map(targetOf),
    seed,
    keep: values.keep === true,
    matrix: values.matrix === true ? casesOf(isWhole, values) : null,
    consumers: consumersOf(values, seed),
    legs: legsOf(values),
    takeOver: instead('--takeover', values.takeover),
    brokers: instead('--brokers', values.brokers),
    upgrade: values.upgrade ?? null,
  };
}

function seedOf({ seed }: { readonly seed?: string | undefined }): number {
  return seed === undefined ? Date.now() % 1_000_000 : wholeNumber('--seed', seed, 0);
}

/** How many of what is played instead of the runs, and goes with nothing else. */
function instead(option: string, given: string | undefined): number | null {
  return given === undefined ? null : wholeNumber(option, given, 1);
}

interface LegsAsked {
  readonly legs?: string | undefined;
  readonly matrix?: boolean | undefined;
  readonly consumers?: boolean | undefined;
  readonly only?: string | undefined;
}

function legsOf({ legs, matrix, consumers, only }: LegsAsked): LegRunsPlan | null {
  const isOther = matrix === true || consumers === true || only !== undefined;
  if (legs === undefined) return isOther ? null : { kills: LEG_KILLS, isAlone: false };
  if (isOther) throw new Error('--legs goes with none of --matrix, --consumers and --only');
  return { kills: wholeNumber('--legs', legs, 1), isAlone: true };
}

/** Cases of the matrix that are asked for; a choice is made from all of them. */
function casesOf(
  isWhole: boolean,
  {
    at,
    by,
    only,
  }: { readonly at?: string | undefined; readonly by?: string | undefined; readonly only?: string | undefined },
): readonly MatrixCase[] {
  if (at === undefined && by === undefined && only === undefined)
    return isWhole ? WHOLE_MATRIX : pairwise(WHOLE_MATRIX);
  const isOf = (list: string | undefined, value: string): boolean =>
    list === undefined || list.split(',').includes(value);
  const chosen = WHOLE_MATRIX.filter(
    ({ point, action, target }) => isOf(at, point) && isOf(by, action) && isOf(only, target),
  );
  if (chosen.length === 0) throw new Error('no case of the matrix is like that');
  return chosen;
}

interface ConsumersAsked {
  readonly consumers?: boolean | undefined;
  readonly commits?: string | undefined;
  readonly rollbacks?: string | undefined;
  readonly seconds?: string | undefined;
}

function consumersOf({ consumers, ...sizes }: ConsumersAsked, seed: number): ConsumerRunsPlan | null {
  const told = Object.entries(sizes).filter(([name]) => name in CONSUMERS_DEFAULT);
  if (consumers !== true && told.some(([, value]) => value !== undefined))
    throw new Error('--commits, --rollbacks and --seconds are of --consumers');
  if (consumers !== true) return null;
  const size = (name: keyof typeof CONSUMERS_DEFAULT): number =>
    sizes[name] === undefined ? CONSUMERS_DEFAULT[name] : wholeNumber(`--${name}`, sizes[name], 1);
  return { commits: size('commits'), rollbacks: size('rollbacks'), seconds: size('seconds'), seed };
}

function targetOf(name: string): Target {
  const found = TARGETS.find((target) => target === name);
  if (found === undefined) throw new Error(`--only ${name}: choose from ${TARGETS.join(', ')}`);
  return found;
}

function wholeNumber(option: string, text: string, min: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min)
    throw new Error(`${option} ${text}: a whole number from ${String(min)} up is needed`);
  return value;
}
