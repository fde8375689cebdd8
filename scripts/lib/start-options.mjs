// The flags of `npm start`: one table for the bootstrap script, the launcher and the help text.
import { parseArgs } from 'node:util';
import { isAbsolute, join, resolve } from 'node:path';
import { defaultDataDir } from './paths.mjs';

export const SCENARIOS = ['drifted-refund', 'window-closed', 'twelve-calls', 'checkout', 'none'];
export const BREAKS = ['phantom-undo'];

export const HELP = `npm start -- [options]

Starts Kafka, the schema registry, PostgreSQL and all services on this machine, plays the drifted
refund and tells what happens, then stays up and prints where everything is. Ctrl-C stops it all.

  --once                     exit after the story; exit code 0 only if every check of it held.
                             The example's operator answers the approval (also without a terminal)
  --scenario <name>          ${SCENARIOS.join(' | ')}
                             window-closed: the reversal window had closed, a person has to act
                             twelve-calls: one agent action of twelve calls, accounted for up to
                             the moment of undo
                             checkout: reserve, charge, book, notify, with each failure of each step
                             none: no story and none of its processes, for tools of your own
  --break <what>             ${BREAKS.join(' | ')}: the provider answers 200 and undoes nothing;
                             the story has to notice it and exits non-zero
  --secure                   Kafka and the schema registry ask who somebody is: a user with a password for
                             each service and program, who may do what schemas/topics.json says of it.
                             Without it anybody on this machine may write to both
  --reset                    wipe the data of an earlier run first (Kafka, registry and PostgreSQL)
  --data-dir <directory>     where the data lives (default RECOURSE_DATA_DIR, else .recourse/data);
                             another directory gives a second stack beside the first
  --help                     this text

RECOURSE_ADAPTERS=mail,crm npm start makes request topics for workers of more adapters.

Needs Java 21+, Maven 3.6+ (first start only) and Node 20+. Everything listens on 127.0.0.1 on
ports that were free; logs are in <data-dir>/logs.
`;

/**
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} [environment] RECOURSE_DATA_DIR is read, as the command line reads it
 * @returns {{once: boolean, scenario: string, breakWhat: string | null, secure: boolean, reset: boolean, help: boolean, dataDir: string}}
 * Errors: a message that names the flag and what it takes.
 */
export function parseStartOptions(args, environment = process.env) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      once: { type: 'boolean', default: false },
      scenario: { type: 'string', default: SCENARIOS[0] },
      break: { type: 'string' },
      secure: { type: 'boolean', default: false },
      reset: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      'data-dir': { type: 'string' },
    },
  });
  oneOf('--scenario', values.scenario, SCENARIOS);
  if (values.break !== undefined) oneOf('--break', values.break, BREAKS);
  if (values['data-dir']?.trim() === '')
    throw new Error('--data-dir is empty: name a folder; where it comes from a variable of the shell, that is not set');
  const dataDir = values['data-dir'] ?? (environment.RECOURSE_DATA_DIR || undefined);
  return {
    once: values.once,
    scenario: values.scenario,
    breakWhat: values.break ?? null,
    secure: values.secure,
    reset: values.reset,
    help: values.help,
    dataDir: dataDir === undefined ? defaultDataDir : absolute(dataDir),
  };
}

/** A relative directory is meant from where the person stands; npm changes into the root and keeps that place in INIT_CWD. */
function absolute(folder) {
  const { INIT_CWD: caller, npm_config_local_prefix: prefix } = process.env;
  const from = prefix === process.cwd() ? (caller ?? prefix) : process.cwd();
  return isAbsolute(folder) ? folder : resolve(join(from, folder));
}

function oneOf(flag, value, choices) {
  if (!choices.includes(value)) throw new Error(`${flag} ${value}: choose one of ${choices.join(', ')}`);
}
