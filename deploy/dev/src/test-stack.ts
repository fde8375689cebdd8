// The stack of the test suites: one for a whole `npm test`, or one of its own for a suite that is run alone.
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectoryBusy, holderOf } from '../../../scripts/lib/lock.mjs';
import { isOwn } from './private-data.js';
import { removeStack, startStack, type DevStack, type StackFacts, type StackOptions } from './stack.js';

/** Environment variable that hands a running stack's facts to child processes, as JSON. */
export const TEST_STACK_VARIABLE = 'RECOURSE_TEST_STACK';

export interface TestStack extends StackFacts {
  /** Stops the stack if this call started it; nothing when it belongs to somebody else. */
  stop(): Promise<void>;
}

const FOLDER_PREFIX = 'recourse-test-stack-';

/**
 * The stack that the environment names, else a new one on free ports in a temporary directory.
 *
 * Shape:   several suites share it, so each uses topics, groups and databases with names of its own.
 * Errors:  those of startStack.
 */
export async function sharedTestStack(): Promise<TestStack> {
  const given = factsIn(process.env);
  if (given !== null) return { ...given, stop: () => Promise.resolve() };
  return startTestStack();
}

/** Facts that a parent process left in the environment. */
export function factsIn(env: NodeJS.ProcessEnv): StackFacts | null {
  const json = env[TEST_STACK_VARIABLE];
  // Written by factsOf in a parent process of this repository.
  return json === undefined || json === '' ? null : (JSON.parse(json) as StackFacts);
}

/** What another process needs to reach the stack. */
export function factsOf(stack: StackFacts): StackFacts {
  const { kafka, registryUrl, postgres, owner, begunWith = [] } = stack;
  return { kafka, registryUrl, postgres, owner, begunWith };
}

/** Starts a stack of its own, whose servers a test may kill; its data goes away with it. */
export async function startTestStack(
  options: Pick<StackOptions, 'kafkaSettings' | 'onProgress' | 'secure' | 'withSchemas'> = {},
): Promise<DevStack> {
  await removeAbandoned();
  const { stack, dataDir } = await startSomewhere(options);
  const stop = async (): Promise<void> => {
    // Nobody reads their data again: an orderly end of two JVMs takes seconds that every spec would wait for.
    await Promise.all(THROWN_AWAY.map((part) => stack.kill(part, 'SIGKILL')));
    await stack.stop();
    await removeData(dataDir);
  };
  return Object.create(stack, { stop: { value: stop } }) as DevStack;
}

/** PostgreSQL is stopped in order, since it would leave shared memory behind. */
const THROWN_AWAY = ['kafka', 'registry'] as const;

/** A chosen port can be the source of somebody's connection before its server binds it: then the stack starts on others. */
const TRIES_MAX = 3;
const PORT_LOST = /in use|EADDRINUSE/i;

async function startSomewhere(
  options: Pick<StackOptions, 'kafkaSettings' | 'onProgress' | 'secure' | 'withSchemas'>,
): Promise<{ readonly stack: DevStack; readonly dataDir: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const dataDir = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
    try {
      return { stack: await startStack({ dataDir, ...options }), dataDir };
    } catch (cause) {
      if (attempt === TRIES_MAX || !(cause instanceof Error) || !PORT_LOST.test(cause.message)) throw cause;
      await removeData(dataDir);
    }
  }
}

/** Earlier test runs that were killed left servers and data behind. */
async function removeAbandoned(): Promise<void> {
  const folders = readdirSync(tmpdir())
    .filter((name) => name.startsWith(FOLDER_PREFIX))
    .map((name) => join(tmpdir(), name))
    .filter(isOwn);
  for (const folder of folders.filter((one) => holdsSomething(one) && holderOf(one) === null)) {
    await removeData(folder).catch(() => undefined);
  }
}

/** False also for a folder that another run has just removed. */
function holdsSomething(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

/** Removes a folder that nobody holds; where another run is about to, it is left to it. */
async function removeData(dataDir: string): Promise<void> {
  try {
    await removeStack(dataDir);
  } catch (cause) {
    if (!(cause instanceof DataDirectoryBusy)) throw cause;
  }
}
