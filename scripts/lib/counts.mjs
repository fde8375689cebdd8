// How many checks passed and failed: out of Jest's JSON, or out of the last `N passed, N failed` a program printed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from './paths.mjs';

/** @typedef {{passed: number, failed: number}} Counts */

/**
 * Counts of a suite's program. Pure. A program that ended badly without counting anything counts as one failure.
 *
 * @param {Counts | null} counted
 * @param {number} exitCode
 * @returns {Counts}
 */
export function settleCounts(counted, exitCode) {
  const counts = counted ?? { passed: exitCode === 0 ? 1 : 0, failed: 0 };
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** @param {string} output @returns {Counts | null} the last `N passed, N failed` on a line of its own */
export function countsIn(output) {
  const lines = [...output.matchAll(/^\s*(\d+) passed, (\d+) failed\s*$/gm)];
  const last = lines.at(-1);
  return last === undefined ? null : { passed: Number(last[1]), failed: Number(last[2]) };
}

/** @param {string} kind @returns {Counts | null} what Jest wrote for the suite in this run */
export function jestCounts(kind) {
  const file = join(cacheDir, 'results', `${kind}.json`);
  if (!existsSync(file)) return null;
  const { numPassedTests, numFailedTests, testResults = [] } = JSON.parse(readFileSync(file, 'utf8'));
  // A spec that does not even load has no failed test in it.
  const broken = testResults.filter(
    (one) => one.status === 'failed' && one.assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  return { passed: numPassedTests, failed: numFailedTests + broken };
}

/** @param {readonly Counts[]} all @returns {Counts} */
export function sumCounts(all) {
  return all.reduce((sum, one) => ({ passed: sum.passed + one.passed, failed: sum.failed + one.failed }), {
    passed: 0,
    failed: 0,
  });
}

/** @param {Counts} counts the line that machines read */
export const lastLine = (counts) => `${counts.passed} passed, ${counts.failed} failed`;
