// The command line, as the demo runs it for people to see what they may run themselves.
import { spawnSync } from 'node:child_process';
import { defaultDataDir } from '../../../scripts/lib/paths.mjs';
import { adaptersIn } from './adapters.js';

/** The scenario that is none. */
export const NO_STORY = 'none';

/** The program starts and asks once; milliseconds. */
const TIMEOUT_MS = 60_000;

export interface Ran {
  /** Null where it did not end in time. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `recourse` and waits for its end. */
export function recourse(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Ran {
  return spawnSync(process.execPath, ['apps/cli/bin/recourse.mjs', ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...variables },
    timeout: TIMEOUT_MS,
    maxBuffer: 64_000_000,
  });
}

/** Names a stack to the command line, which looks for the default one unless another is named. */
export function nameOf(dataDir: string): string {
  return dataDir === defaultDataDir ? '' : `--data-dir ${quoted(dataDir)} `;
}

/** One word of a shell. */
export function quoted(path: string): string {
  return /^[\w./:@%+=-]+$/u.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** As what a stack was started. */
export interface Start {
  readonly dataDir: string;
  readonly secure: boolean;
  /** The story it played; one that plays none was started for tools of somebody's own. */
  readonly scenario: string;
  readonly adapters: readonly string[];
}

/** What a person types to start the same stack again. Pure. */
export function startAgain({ dataDir, secure, scenario, adapters }: Start): string {
  const none = scenario === NO_STORY ? `--scenario ${NO_STORY} ` : '';
  const flags = `${secure ? '--secure ' : ''}${none}${nameOf(dataDir)}`.trimEnd();
  const named = adapters.join() === adaptersIn({}).join() ? '' : `RECOURSE_ADAPTERS=${adapters.join()} `;
  return `${named}npm start${flags === '' ? '' : ` -- ${flags}`}`;
}
