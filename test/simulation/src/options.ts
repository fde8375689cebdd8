// The command line of the simulation.
export interface Options {
  readonly seeds: { readonly from: number; readonly to: number };
  readonly isTraced: boolean;
  readonly mutant: string | null;
  readonly areMutants: boolean;
  readonly events: number;
  readonly workers: number;
  readonly jsonFile: string | null;
  /** Set in the processes that run a share of a range. */
  readonly isShare: boolean;
  /** Runs the biased world of a mutant without the mutant. */
  readonly isControl: boolean;
}

export const USAGE = `npm run simulate -- [what] [how]
  --seed N             one seed, with its trace
  --seeds A..B         a range (default 1..200)
  --mutant RULE        one rule switched off: exit 3 when the checker notices, 0 when it does not
  --mutants            every rule, one after the other; exit 1 when the checker misses one
  --control RULE       the world of a mutant with every rule on
  --events N           events per seed (default 300)
  --workers N          processes (default 2)
  --json FILE          writes what was counted`;

/** Reads the command line. Errors: Error with what is wrong. */
export function optionsOf(args: readonly string[]): Options {
  const values = new Map<string, string>();
  for (let at = 0; at < args.length; at += 1) {
    const name = args[at] ?? '';
    if (!NAMES.has(name)) throw new Error(`${name} is no option\n${USAGE}`);
    if (FLAGS.has(name)) {
      values.set(name, 'yes');
      continue;
    }
    const value = args[(at += 1)];
    if (value === undefined) throw new Error(`${name} needs a value\n${USAGE}`);
    values.set(name, value);
  }
  const mutant = values.get('--mutant') ?? values.get('--control') ?? null;
  return {
    seeds: rangeOf(values, mutant !== null || values.has('--mutants')),
    isTraced: values.has('--seed') && !values.has('--share'),
    mutant,
    areMutants: values.has('--mutants'),
    events: wholeOf(values.get('--events') ?? '300', '--events'),
    workers: wholeOf(values.get('--workers') ?? '2', '--workers'),
    jsonFile: values.get('--json') ?? null,
    isShare: values.has('--share'),
    isControl: values.has('--control'),
  };
}

const FLAGS: ReadonlySet<string> = new Set(['--mutants', '--share']);
const NAMES: ReadonlySet<string> = new Set([
  '--seed',
  '--seeds',
  '--mutant',
  '--control',
  '--events',
  '--workers',
  '--json',
  ...FLAGS,
]);

/** A mutant is looked for in this many seeds unless told otherwise. */
const MUTANT_SEEDS = 300;

function rangeOf(values: ReadonlyMap<string, string>, isForMutants: boolean): Options['seeds'] {
  const one = values.get('--seed');
  if (one !== undefined) {
    const seed = wholeOf(one, '--seed');
    return { from: seed, to: seed };
  }
  const [from, to] = (values.get('--seeds') ?? `1..${String(isForMutants ? MUTANT_SEEDS : 200)}`).split('..');
  return { from: wholeOf(from ?? '', '--seeds'), to: wholeOf(to ?? from ?? '', '--seeds') };
}

function wholeOf(text: string, name: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${name} needs a whole number, not ${text}\n${USAGE}`);
  return Number(text);
}
