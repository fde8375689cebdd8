// How long the last `npm test` and `npm run check` took, part by part: .cache/timings.json.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDir } from './paths.mjs';

/** @typedef {{seconds: number, finishedAt: string, parts: readonly {name: string, seconds: number}[]}} Timing */

export const timingsFile = (folder = cacheDir) => join(folder, 'timings.json');

/** @param {string} [file] @returns {Record<string, Timing>} nothing when no run has written any */
export function readTimings(file = timingsFile()) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    if (cause.code === 'ENOENT') return {};
    throw cause;
  }
}

/**
 * Notes a whole run; runs of only some parts are not noted, since they would look fast.
 *
 * @param {'test' | 'test:all' | 'ci' | 'check' | 'verify'} name
 * @param {number} startedAt `performance.now()` at the start
 * @param {readonly {name: string, seconds: number}[]} parts
 */
export function noteTiming(name, startedAt, parts) {
  const file = timingsFile();
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const timing = {
    seconds,
    finishedAt: new Date().toISOString(),
    parts: parts.map((part) => ({ name: part.name, seconds: part.seconds })),
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...readTimings(file), [name]: timing }, null, 2)}\n`);
  return seconds;
}
