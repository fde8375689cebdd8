// npm run simulate: seeds, ranges and mutants from the command line.
//
// Exit: 0 all well, or a mutant survived alone; 1 a seed failed or a mutant survived among all; 3 a single mutant was noticed.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { CRASH_POINTS } from './faults.js';
import { MUTANTS, mutantOf } from './mutants.js';
import { optionsOf } from './options.js';
import type { Options } from './options.js';
import { runJobs, serveJobs } from './pool.js';
import type { Job } from './pool.js';
import { run } from './run.js';
import type { RunOptions, RunResult } from './run.js';
import { Tally } from './tally.js';
import { traceLine } from './trace.js';

function runOptions({ seed, events, mutant, isControl }: Job): RunOptions {
  if (mutant === null) return { seed, events };
  const { bias, mutation } = mutantOf(mutant);
  return { seed, events, ...(bias === undefined ? {} : { bias }), ...(isControl ? {} : { mutation }) };
}

function commit(): string {
  try {
    const head = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    return execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], { encoding: 'utf8' }).trim() === ''
      ? head
      : `${head} with changes`;
  } catch {
    return 'unknown';
  }
}

/** What a person needs to see a failure again. */
function tellFailure(result: RunResult, job: Job): void {
  const how = job.mutant === null ? '' : ` ${job.isControl ? '--control' : '--mutant'} ${job.mutant}`;
  const events = job.events === 300 ? '' : ` --events ${String(job.events)}`;
  console.log(`FAILED seed ${String(result.seed)} at commit ${commit()}`);
  for (const { promise, rule, detail } of result.violations.slice(0, 5)) console.log(`  ${promise} ${rule}: ${detail}`);
  if (result.violations.length > 5) console.log(`  and ${String(result.violations.length - 5)} more`);
  console.log(`  again: npm run simulate -- --seed ${String(result.seed)}${how}${events}`);
}

async function one(options: Options): Promise<number> {
  const job: Job = {
    seed: options.seeds.from,
    events: options.events,
    mutant: options.mutant,
    isControl: options.isControl,
  };
  const result = await run({
    ...runOptions(job),
    trace: (at, line) => {
      console.log(traceLine(at, line));
    },
  });
  const tally = new Tally();
  tally.add(result);
  console.log(tally.text());
  if (result.violations.length > 0) tellFailure(result, job);
  console.log(result.violations.length === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed');
  return result.violations.length === 0 ? 0 : options.mutant === null || options.isControl ? 1 : 3;
}

function jobsOf({ seeds, events, mutant, isControl }: Options): readonly Job[] {
  return Array.from({ length: seeds.to - seeds.from + 1 }, (_, index) => ({
    seed: seeds.from + index,
    events,
    mutant,
    isControl,
  }));
}

/** Seeds between two lines of progress. */
const PROGRESS_EVERY = 100;

async function range(options: Options): Promise<number> {
  const tally = new Tally();
  const jobs = jobsOf(options);
  let failed = 0;
  await runJobs(jobs, options.workers, (result, job) => {
    tally.add(result);
    if (tally.seeds % PROGRESS_EVERY === 0)
      console.log(`${String(tally.seeds)} of ${String(jobs.length)} seeds, ${String(failed)} failed`);
    if (result.violations.length > 0) {
      failed += 1;
      tellFailure(result, job);
    }
    return failed < 20 ? 'go_on' : 'enough';
  });
  console.log(tally.text());
  const shortfalls = options.mutant === null ? tally.shortfalls(CRASH_POINTS) : [];
  for (const shortfall of shortfalls) console.log(`NOT VALID: ${shortfall}`);
  if (options.jsonFile !== null)
    writeFileSync(
      options.jsonFile,
      `${JSON.stringify({ name: 'simulation', commit: commit(), ...tally.json(), failed, shortfalls }, null, 2)}\n`,
    );
  if (tally.uncounted > 0)
    console.log(`${String(tally.uncounted)} seeds do not count: less than 60 % of their operations were accepted`);
  console.log(`${String(tally.seeds - failed - tally.uncounted)} passed, ${String(failed)} failed`);
  return failed > 0 || shortfalls.length > 0 ? 1 : 0;
}

interface Hunt {
  readonly caughtBy: RunResult | null;
  readonly seeds: number;
}

/** Looks for a seed in which the checker notices the mutant. */
async function hunt(options: Options, mutant: string): Promise<Hunt> {
  let caughtBy: RunResult | null = null;
  let seeds = 0;
  await runJobs(jobsOf({ ...options, mutant, isControl: false }), options.workers, (result) => {
    seeds += 1;
    if (result.violations.length === 0) return 'go_on';
    caughtBy ??= result;
    return 'enough';
  });
  return { caughtBy, seeds };
}

async function mutantAlone(options: Options, mutant: string): Promise<number> {
  const { caughtBy, seeds } = await hunt(options, mutant);
  if (caughtBy !== null)
    tellFailure(caughtBy, { seed: caughtBy.seed, events: options.events, mutant, isControl: false });
  console.log(
    caughtBy === null
      ? `${mutant} survived ${String(seeds)} seeds`
      : `${mutant} was noticed: ${caughtBy.violations[0]?.promise ?? ''}`,
  );
  console.log(caughtBy === null ? '0 passed, 1 failed' : '1 passed, 0 failed');
  return caughtBy === null ? 0 : 3;
}

async function allMutants(options: Options): Promise<number> {
  const rows: string[] = [];
  let survivors = 0;
  for (const name of Object.keys(MUTANTS)) {
    const { caughtBy, seeds } = await hunt(options, name);
    const control =
      caughtBy === null
        ? null
        : await run(runOptions({ seed: caughtBy.seed, events: options.events, mutant: name, isControl: true }));
    const isClean = control?.violations.length === 0;
    if (!isClean) survivors += 1;
    const verdict =
      caughtBy === null
        ? 'SURVIVED'
        : isClean
          ? `${caughtBy.violations[0]?.promise ?? ''} ${caughtBy.violations[0]?.rule ?? ''}`
          : 'FAILS WITHOUT THE MUTANT TOO';
    const row = `${name.padEnd(16)} ${String(seeds).padStart(4)} seeds  ${caughtBy === null ? '' : `seed ${String(caughtBy.seed)}`.padEnd(10)} ${verdict}`;
    console.log(row);
    rows.push(row);
  }
  if (options.jsonFile !== null)
    writeFileSync(
      options.jsonFile,
      `${JSON.stringify({ name: 'mutants', commit: commit(), rows, survivors }, null, 2)}\n`,
    );
  console.log(`${String(rows.length - survivors)} passed, ${String(survivors)} failed`);
  return survivors > 0 ? 1 : 0;
}

async function main(options: Options): Promise<number> {
  if (options.mutant !== null) mutantOf(options.mutant);
  if (options.isTraced) return one(options);
  if (options.areMutants) return allMutants(options);
  return options.mutant !== null && !options.isControl ? mutantAlone(options, options.mutant) : range(options);
}

// Errors are data here and thrown by the thousand; their stacks would cost more than the runs.
Error.stackTraceLimit = 0;

try {
  const options = optionsOf(process.argv.slice(2));
  if (options.isShare) serveJobs((job) => run(runOptions(job)));
  else process.exitCode = await main(options);
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 64;
}
