// recourse eval <suite>: grades the tool path of runs, not their last answer (D49 to D53).
import { writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Json, Rejection } from '@recourse/kernel';
import { docOf } from '@recourse/sdk';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { acceptedInDump } from '../audit/accepted.js';
import { readOne } from '../contracts/files.js';
import { evalReport, gradeCase } from '../eval/grade.js';
import { evalText, junit } from '../eval/eval.text.js';
import { forbiddenIn, idlePatterns, patternsIn, unknownForbidden } from '../eval/forbidden.js';
import { callsFromLedger, callsFromLog, capabilitiesInLog, CONTRACTS_LOG, MUTATIONS_LOG } from '../eval/runs.js';
import { fits, readSuite } from '../eval/suite.js';
import type { EvalCase, Suite } from '../eval/suite.js';
import type { Call } from '../eval/trajectory.decisions.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { dumpIn } from './audit-trust.js';
import type { Act } from './options.js';

interface EvalOptions {
  readonly run: ReadonlyMap<string, string>;
  readonly answers?: string;
  readonly dump?: string;
  readonly junit?: string;
}

export function addEval(program: Command, act: Act): void {
  program
    .command('eval')
    .description(
      'grades the tool path of runs against a suite: mode, steps, forbidden tools, arguments, last answer. Exit 1 when a case fails',
    )
    .argument('<suite>', 'file: YAML or JSON, a suite or a case that stands alone')
    .option('--run <case=run>', 'the run that a case is about; may be repeated', runOf, new Map<string, string>())
    .option('--answers <file>', 'last answers by run id, YAML or JSON; a case that has its own keeps it')
    .option('--dump <folder>', 'read runs from what `audit dump` wrote, instead of asking the ledger')
    .option('--junit <file>', 'also write the report as JUnit XML')
    .action(act<EvalOptions>(async (session, options, file = '') => evaluate(session, file, options)));
}

async function evaluate(session: Session, file: string, options: EvalOptions): Promise<ExitKind> {
  const { suite, answers } = given(session, file, options);
  const { callsOf, ...capabilities } = await reader(session, options.dump);
  const graded = [];
  for (const one of suite.cases) {
    const run = runIdOf(one, options.run);
    const calls = await callsOf(run);
    const answer = one.answer ?? answers.get(run) ?? null;
    graded.push(
      gradeCase(one, {
        run_id: run,
        calls,
        answer,
        // What a case says itself shows of no run that it was.
        is_known: calls.length > 0 || (one.trajectory === undefined && answers.has(run)),
      }),
    );
  }
  const called = new Set(graded.flatMap(({ calls }) => calls.map(({ tool }) => tool)));
  await refuseUnknown(file, suite, called, capabilities);
  await warnOfIdle(session, suite, called, capabilities);
  const report = evalReport(suite.name, graded);
  if (options.junit !== undefined) written(resolve(session.folder, options.junit), junit(report));
  session.show(report, () => evalText(report));
  return report.passed ? 'done' : 'found';
}

/** Suite and answers, with everything that is wrong with them at once. Errors: CliProblem(SUITE_INVALID, FILE_UNREADABLE). */
function given(
  { folder }: Session,
  file: string,
  { run, answers }: EvalOptions,
): { readonly suite: Suite; readonly answers: ReadonlyMap<string, string> } {
  const read = readSuite(readOne(file, folder).value);
  if (!read.ok) throw invalid(file, read.problems);
  const { suite } = read;
  const ids = new Set(suite.cases.map(({ id }) => id));
  const problems = [
    ...suite.cases.flatMap((one, at) =>
      one.run === undefined && !run.has(one.id)
        ? [
            {
              code: 'CASE_WITHOUT_RUN',
              message: `nothing says which run ${one.id} is about`,
              path: `/cases/${String(at)}/run`,
            },
          ]
        : [],
    ),
    ...[...run.keys()]
      .filter((id) => !ids.has(id))
      .map((id) => ({ code: 'CASE_UNKNOWN', message: `--run names ${id}, which the suite has not` })),
  ];
  if (problems.length > 0) throw invalid(file, problems);
  return { suite, answers: answers === undefined ? new Map() : answersIn(readOne(answers, folder).value, answers) };
}

function invalid(file: string, problems: readonly Rejection[]): CliProblem {
  return new CliProblem(
    'SUITE_INVALID',
    `${file} cannot be graded: ${countText(problems.length, 'problem')}`,
    'usage',
    {
      problems,
      remedy: 'Mend what is listed; docs/guides/gate-your-agent-in-ci.md shows a suite.',
    },
  );
}

function answersIn(value: Json, file: string): ReadonlyMap<string, string> {
  const entries = Object.entries(docOf(value));
  const odd = entries.filter(([, answer]) => typeof answer !== 'string').map(([run]) => run);
  if (entries.length === 0 || odd.length > 0)
    throw new CliProblem(
      'FILE_UNREADABLE',
      `${file} gives no text ${odd.length > 0 ? `for ${odd.join(', ')}` : 'for any run'}`,
      'usage',
      {
        remedy: 'Write one line a run: its id, and its last answer as text.',
      },
    );
  return new Map(entries.map(([run, answer]) => [run, String(answer)]));
}

const runIdOf = ({ id, run }: EvalCase, named: ReadonlyMap<string, string>): string => named.get(id) ?? run ?? '';

/** What is known of capabilities, wherever runs are read. */
interface Capabilities {
  /** Whether a contract is about it, or was: a retired capability may be forbidden. */
  readonly isKnown: (name: string) => Promise<boolean>;
  /** For a hint: some of them are enough. */
  readonly all: () => Promise<readonly string[]>;
}

/** What was called is known; for the rest somebody has to have a contract. Errors: CliProblem(SUITE_INVALID), those of the edge. */
async function refuseUnknown(
  file: string,
  suite: Suite,
  called: ReadonlySet<string>,
  { isKnown, all }: Capabilities,
): Promise<void> {
  const open = forbiddenIn(suite).filter(({ name }) => !called.has(name));
  const unknown = new Set<string>();
  for (const name of new Set(open.map((one) => one.name))) if (!(await isKnown(name))) unknown.add(name);
  if (unknown.size === 0) return;
  const near = [...called, ...askedIn(suite), ...(await all())];
  throw invalid(
    file,
    unknownForbidden(
      open.filter(({ name }) => unknown.has(name)),
      near,
    ),
  );
}

const askedIn = ({ cases }: Suite): readonly string[] =>
  cases.flatMap(({ trajectory }) => (trajectory?.steps ?? []).map(({ tool }) => tool ?? ''));

/** A pattern may be about what is not there yet: nothing is refused. Shape: says nothing where there are more contracts than are looked at. */
async function warnOfIdle(
  { terminal }: Session,
  suite: Suite,
  called: ReadonlySet<string>,
  { all }: Capabilities,
): Promise<void> {
  const seen = [...called, ...askedIn(suite)];
  const open = patternsIn(suite).filter(({ name }) => !seen.some((one) => fits(name, one)));
  if (open.length === 0) return;
  const known = await all();
  if (known.length >= HINTS_MAX) return;
  for (const { code, path, message } of idlePatterns(open, known))
    terminal.note(`${code} at ${String(path)}: ${message}`);
}

/** Contracts that are looked through for a name that comes near. */
const HINTS_MAX = 2_000;

async function reader(
  session: Session,
  dump: string | undefined,
): Promise<Capabilities & { readonly callsOf: (run: string) => Promise<readonly Call[]> }> {
  if (dump === undefined) {
    const { tenant } = session;
    const [ledger, registry] = [session.service('ledger'), session.service('contracts')];
    return {
      callsOf: (run) => callsFromLedger(ledger, run, tenant),
      isKnown: async (name) => (await registry.list('/v1/contracts', { name, tenant }, 1)).items.length > 0,
      all: async () =>
        (await registry.list('/v1/contracts', { tenant }, HINTS_MAX)).items.map((row) => String(row['name'])),
    };
  }
  const records = await acceptedInDump(dumpIn(session, dump), [MUTATIONS_LOG, CONTRACTS_LOG]);
  const all = capabilitiesInLog(records, session.tenant);
  return {
    callsOf: (run) => Promise.resolve(callsFromLog(records, run, session.tenant)),
    isKnown: (name) => Promise.resolve(all.includes(name)),
    all: () => Promise.resolve(all),
  };
}

function written(path: string, content: string): void {
  try {
    writeFileSync(path, content);
  } catch (cause) {
    throw new CliProblem('FILE_UNWRITABLE', `${relative('.', path)} cannot be written`, 'usage', {
      cause,
      remedy: 'Name a file in a folder that is there.',
    });
  }
}

/** Errors: InvalidArgumentError, which commander reports. */
function runOf(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const [id = '', ...rest] = text.split('=');
  const run = rest.join('=');
  if (id === '' || run === '')
    throw new InvalidArgumentError('It must be a case and its run, such as refund_path=run-4711.');
  return new Map([...before, [id, run]]);
}
