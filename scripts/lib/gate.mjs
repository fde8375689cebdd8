// Gates: steps that are independent of each other, two at a time; what a step says is shown only when it fails.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jestCounts, lastLine, settleCounts, sumCounts } from './counts.mjs';
import { cacheDir, root } from './paths.mjs';
import { step } from './progress.mjs';
import { table } from './table.mjs';
import { runTee } from './tee.mjs';
import { noteTiming } from './timings.mjs';

/**
 * @typedef {{name: string, command: readonly string[], kind?: string}} Step `kind`: counts come from Jest's results
 * @typedef {{name: string, passed: number, failed: number, output: string, seconds: number}} Outcome
 */

const STEPS_AT_ONCE = 2;
const bin = (name) => join(root, 'node_modules', '.bin', name);
const node = bin('node');

/** A step that runs a tool of node_modules on the pinned Node. */
export const tool = (name, ...args) => [node, bin(name), ...args];

/** A step that runs one of our scripts on it. */
export const script = (name, ...args) => [node, join(root, 'scripts', name), ...args];

/** Only what git knows to have changed since the last run is read again. */
export const formatCheck = () =>
  tool(
    'prettier',
    '--check',
    '.',
    '--cache',
    '--cache-strategy',
    'content',
    '--cache-location',
    join(cacheDir, 'prettier'),
    '--log-level',
    'warn',
  );

/**
 * Runs the steps and prints a table of what each took.
 *
 * @param {'verify' | 'check'} name
 * @param {readonly Step[]} steps
 * @param {{isWhole: boolean}} options only a whole gate is noted in the timings
 * @returns {Promise<number>} the exit code
 */
export async function runGate(name, steps, { isWhole }) {
  const startedAt = performance.now();
  const done = await step(`${name}: ${steps.map((one) => one.name).join(', ')}`, (say) => runAll(steps, say));
  for (const one of done) if (one.failed > 0) console.log(`\n=== ${one.name} failed ===\n${one.output.trimEnd()}`);
  const rows = done.map((one) => [one.name, one.failed > 0 ? 'FAILED' : 'ok', one.passed, one.failed, one.seconds]);
  console.log(`\n${table(['step', 'status', 'passed', 'failed', 'seconds'], rows)}\n`);
  const sum = sumCounts(done);
  if (isWhole && sum.failed === 0) console.log(`npm run ${name} took ${noteTiming(name, startedAt, done)} s`);
  console.log(lastLine(sum));
  return sum.failed > 0 ? 1 : 0;
}

async function runAll(steps, say) {
  mkdirSync(cacheDir, { recursive: true });
  const waiting = [...steps];
  const done = new Map();
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      done.set(next.name, await runStep(next));
      const { failed, seconds } = done.get(next.name);
      say(`${next.name}: ${failed > 0 ? 'FAILED' : 'ok'} (${seconds} s)`);
    }
  };
  await Promise.all(Array.from({ length: STEPS_AT_ONCE }, worker));
  return steps.map((one) => done.get(one.name));
}

async function runStep({ name, command: [file, ...args], kind }) {
  const startedAt = performance.now();
  // What an earlier run counted must not stand for a step that does not get as far as counting.
  if (kind !== undefined) rmSync(join(cacheDir, 'results', `${kind}.json`), { force: true });
  // What is shown is a part of a longer text; FORCE_COLOR of any value turns the colours of some tools on.
  const env = { ...process.env, NO_COLOR: '1' };
  delete env.FORCE_COLOR;
  const { code, output } = await runTee(file, args, { quiet: true, env });
  const counts = settleCounts(kind === undefined ? null : jestCounts(kind), code);
  return { name, ...counts, output, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}
