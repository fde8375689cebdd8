// What the processes complained of, in a few lines: their logs go with the machine that ran them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { factsOf } from './edge.js';

/** pino's level of a warning. */
const WARNING = 40;
/** Complaints told per process. */
const TOLD_MAX = 4;
const MESSAGE_MAX = 200;

interface Complaint {
  readonly message: string;
  readonly first: string;
  readonly last: string;
  readonly times: number;
}

/** The complaints in all logs of a folder, a line each; a process that died every minute has some. */
export function complaintsIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) =>
      complaintsOf(readFileSync(join(folder, name), 'utf8')).map(
        ({ message, first, last, times }) =>
          `${name.slice(0, -'.log'.length)}: ${String(times)} x ${first}..${last} ${message}`,
      ),
    );
}

/** The most frequent complaints of one log, in order of their first time; connections that a kill broke are no news. Pure. */
export function complaintsOf(log: string): readonly Complaint[] {
  const found = new Map<string, Complaint>();
  for (const line of log.split('\n')) {
    const { level, kafka, msg, time, err } = factsIn(line);
    if (typeof level !== 'number' || level < WARNING || kafka !== undefined) continue;
    const message = [msg, factsOf(err)['message']]
      .filter((part) => typeof part === 'string')
      .join(': ')
      .slice(0, MESSAGE_MAX);
    const at = String(time).slice(11, 19);
    const known = found.get(message);
    found.set(message, { message, first: known?.first ?? at, last: at, times: (known?.times ?? 0) + 1 });
  }
  const told = new Set([...found.values()].sort((a, b) => b.times - a.times).slice(0, TOLD_MAX));
  return [...found.values()].filter((complaint) => told.has(complaint));
}

function factsIn(line: string): ReturnType<typeof factsOf> {
  try {
    const parsed: unknown = JSON.parse(line);
    return factsOf(parsed);
  } catch {
    return {};
  }
}
