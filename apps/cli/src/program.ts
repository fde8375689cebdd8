// The command line as a whole: its options, its commands, and how a call ends.
import { readFileSync } from 'node:fs';
import { docOf } from '@recourse/sdk';
import { Command, CommanderError } from 'commander';
import { parseAsking } from './asking.js';
import { addAdmission } from './commands/admission.command.js';
import { addApprovals } from './commands/approvals.command.js';
import { addAudit } from './commands/audit.command.js';
import { addAutonomy } from './commands/autonomy.command.js';
import { addBudgets } from './commands/budgets.command.js';
import { addAssumptions } from './commands/assumptions.command.js';
import { addCluster } from './commands/cluster.command.js';
import { addCommits } from './commands/commits.command.js';
import { addConsumers } from './commands/consumers.command.js';
import { addContracts } from './commands/contracts.command.js';
import { addDrill } from './commands/drill.command.js';
import { addEntries } from './commands/entries.command.js';
import { addEval } from './commands/eval.command.js';
import { addErasures } from './commands/erasures.command.js';
import { addLineage } from './commands/lineage.command.js';
import { addLog } from './commands/log.command.js';
import { addMutations } from './commands/mutations.command.js';
import { addInit } from './commands/init.command.js';
import { addItems } from './commands/items.command.js';
import { addNotifications } from './commands/notifications.command.js';
import type { Act, Action } from './commands/options.js';
import { notEmpty, tenantName } from './commands/options.js';
import { addParked } from './commands/parked.command.js';
import { addProvision } from './commands/provision.command.js';
import { addHarness, addReadiness } from './commands/readiness.command.js';
import { addRecoveries } from './commands/recoveries.command.js';
import { addReplay } from './commands/replay.command.js';
import { addReport } from './commands/report.command.js';
import { addIncidents } from './commands/step-commands.js';
import { addReviews } from './commands/reviews.command.js';
import { addTasks } from './commands/tasks.command.js';
import { addKeys } from './commands/keys.command.js';
import { addStatus } from './commands/status.command.js';
import { addUndo } from './commands/undo.command.js';
import { addWorkers } from './commands/workers.command.js';
import type { Flags } from './config.js';
import { CliProblem, EXIT_CODES, problemOf, problemText } from './problem.js';
import type { ExitKind } from './problem.js';
import { openSession } from './session.js';
import type { Surroundings } from './session.js';
import { withPlaces } from './unreached.js';

/** Exit codes as --help says them. */
export const EXIT_HELP = [
  'Exit codes:',
  ...Object.values(EXIT_CODES).map(({ code, summary }) => `  ${String(code).padEnd(3)} ${summary}`),
].join('\n');

const ADDRESS_HELP = [
  'Where everything is: flags, then RECOURSE_..._URL and its siblings in the environment, then system.json in the data',
  'directory of a development stack (--data-dir, or .recourse/data here or in a folder above).',
].join('\n');

/** Groups of commands, in the order in which help lists them. */
const COMMANDS: readonly ((program: Command, act: Act) => void)[] = [
  addInit,
  addKeys,
  addContracts,
  addEntries,
  addMutations,
  addCommits,
  addAssumptions,
  addRecoveries,
  addReviews,
  addUndo,
  addTasks,
  addIncidents,
  addAdmission,
  addReport,
  addDrill,
  addApprovals,
  addBudgets,
  addAutonomy,
  addItems,
  addStatus,
  addWorkers,
  addNotifications,
  addParked,
  addErasures,
  addAudit,
  addEval,
  addReadiness,
  addHarness,
  addProvision,
  addReplay,
  addLog,
  addCluster,
  addLineage,
  addConsumers,
];

/**
 * Makes the program.
 *
 * Shape:  `onEnd` hears how an action ended; problems are thrown out of parseAsync.
 */
export function createProgram(surroundings: Surroundings, onEnd: (end: ExitKind) => void): Command {
  const program = withOptions(new Command('recourse'), surroundings);
  const act: Act =
    <Options extends object>(action: Action<Options>) =>
    async (...given: unknown[]) => {
      // Commander calls with the arguments, then the options, then the command.
      const command = given.at(-1) as Command;
      const [options, args] = [given.at(-2) as Options, given.slice(0, -2) as (string | undefined)[]];
      refuseEmpty(command);
      const session = openSession(command.optsWithGlobals<Flags>(), surroundings);
      try {
        onEnd((await action(session, options, ...args)) ?? 'done');
      } catch (thrown) {
        throw withPlaces(thrown, session.settings);
      }
    };
  for (const add of COMMANDS) add(program, act);
  return program;
}

/** An id that is empty, as an unset variable of a shell is, would ask for another thing. Errors: CliProblem(CALL_INVALID). */
function refuseEmpty({ args, registeredArguments }: Command): void {
  const at = args.findIndex((argument) => argument.trim() === '');
  if (at < 0) return;
  const name = (registeredArguments[at] ?? registeredArguments.at(-1))?.name() ?? 'argument';
  const remedy = 'Name it. Where it comes from a variable of the shell, that variable is not set.';
  throw new CliProblem('CALL_INVALID', `<${name}> is empty`, 'usage', { remedy });
}

function versionOf(): string {
  const { version } = docOf(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
  return String(version);
}

/** Options of every command, where help and errors go, and what help says beside. */
function withOptions(program: Command, { terminal }: Surroundings): Command {
  return program
    .description('What agents did, what can still be undone, and who decides.')
    .version(versionOf(), '--version', 'version of this program')
    .option('--json', 'JSON for scripts instead of tables')
    .option('--data-dir <folder>', 'data directory of a running development stack', notEmpty)
    .option('--token <token>', 'bearer token', notEmpty)
    .option('--token-file <file>', 'file that holds one')
    .option('--tenant <tenant>', 'tenant to ask about; * for all', tenantName)
    .option('--as <subject>', "development: ask the stack's issuer for a token of this person", notEmpty)
    .option('--roles <roles>', 'development: its roles, separated by commas')
    .option('--contracts-url <url>', 'contract registry')
    .option('--ledger-url <url>', 'mutation ledger')
    .option('--recoveries-url <url>', 'recovery orchestrator')
    .option('--budget-url <url>', 'budget accountant')
    .option('--notifier-url <url>', 'notifier')
    .option('--issuer-url <url>', 'development issuer of tokens')
    .option('--brokers <list>', 'Kafka brokers, host:port with commas', notEmpty)
    .option('--registry <url>', 'schema registry')
    .option('--log-id <id>', 'id of the logs', notEmpty)
    .option('--database-url <url>', 'database of the service that owns a log')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        terminal.out(text.trimEnd());
      },
      writeErr: (text) => {
        terminal.note(text.trimEnd());
      },
      outputError: () => undefined, // it is thrown as well, and printed with a code like any other problem
    })
    .addHelpText('after', `\n${ADDRESS_HELP}\n\n${EXIT_HELP}`);
}

/** Runs one call. Resolves to the exit code; throws nothing. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  let end: ExitKind = 'done';
  try {
    const make = (): Command =>
      createProgram(surroundings, (how) => {
        end = how;
      });
    await parseAsking(make, args, surroundings.terminal);
    return EXIT_CODES[end].code;
  } catch (thrown) {
    // A call for help is no problem.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT_CODES.done.code;
    const problem = thrown instanceof CommanderError ? misuse(thrown) : problemOf(thrown);
    surroundings.terminal.note(problemText(problem, isForScripts(args)));
    return EXIT_CODES[problem.exit].code;
  }
}

function isForScripts(args: readonly string[]): boolean {
  return args.includes('--json');
}

/** What commander does not understand. It has printed its help where no command was named. */
function misuse({ code, message, cause }: CommanderError): CliProblem {
  const remedy = '`recourse <command> --help` shows what it takes.';
  const text = code === 'commander.help' ? 'no command is named' : message.replace(/^error: /u, '');
  return new CliProblem('CALL_INVALID', text, 'usage', { remedy, cause });
}
