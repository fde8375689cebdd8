// A child process of a bench: gets its task as JSON in its environment, answers once over IPC, and ends.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TASK_VARIABLE = 'RECOURSE_BENCH_TASK';
const FLAGS = ['--disable-warning=TimeoutNegativeWarning', '--disable-warning=ExperimentalWarning'];

/** Runs a program of this folder to its answer. Errors: Error when it ends without one. */
export function answerOf<Answer>(program: string, task: object, flags: readonly string[] = []): Promise<Answer> {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [], {
    env: { ...process.env, [TASK_VARIABLE]: JSON.stringify(task) },
    execArgv: [...FLAGS, ...flags, ...extraFlags()],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    let answer: { readonly is: Answer } | null = null;
    child.on('message', (message) => {
      answer = { is: message as Answer };
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (answer !== null) resolve(answer.is);
      else reject(new Error(`${program} ended without an answer (${String(signal ?? code)})`));
    });
  });
}

/** Flags for Node in the measured processes, for profiles: `RECOURSE_BENCH_NODE_FLAGS=--cpu-prof`. */
function extraFlags(): readonly string[] {
  return (process.env['RECOURSE_BENCH_NODE_FLAGS'] ?? '').split(' ').filter((flag) => flag !== '');
}

/** The task of this process, as its parent stated it; the process ends with its parent. */
export function task<Task>(): Task {
  process.once('disconnect', () => {
    process.exit(1);
  });
  // Written by answerOf in the parent.
  return JSON.parse(process.env[TASK_VARIABLE] ?? '{}') as Task;
}

/** Answers the parent and ends this process. */
export function answer(value: object): void {
  process.send?.(value, () => {
    process.exit(0);
  });
}

/** A clock that all processes of one machine share, milliseconds. */
export function sharedClockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** A child process that says things until it is closed. */
export interface Companion {
  close(): Promise<void>;
}

/** Starts a program of this folder; resolves once it said `{ kind: 'ready' }`. Errors: Error when it ends before. */
export async function openCompanion<Says extends { readonly kind: string }>(
  program: string,
  task: object,
  onSaid: (said: Exclude<Says, { readonly kind: 'ready' }>) => void,
): Promise<Companion> {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [], {
    env: { ...process.env, [TASK_VARIABLE]: JSON.stringify(task) },
    execArgv: [...FLAGS],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      const said = message as Says; // the program says nothing else
      if (said.kind === 'ready') resolve();
      else onSaid(said as Exclude<Says, { readonly kind: 'ready' }>); // the branch above took the other
    });
    child.on('exit', (code) => {
      reject(new Error(`${program} ended with ${String(code)}`));
    });
  });
  return {
    close: async () => {
      const ended = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      child.disconnect();
      await ended;
    },
  };
}

/** A child process that answers questions, one at a time, until it is closed. */
export interface Helper<Question, Answer, Ready = object> extends Companion {
  readonly pid: number | null;
  /** What it said when it was ready. */
  readonly ready: Ready;
  /** Errors: Error when it ends before it has answered. */
  ask(question: Question): Promise<Answer>;
}

/** Starts a program of this folder that calls `serve`. Errors: Error when it ends before it is ready. */
export async function openHelper<Question extends object, Answer, Ready = object>(
  program: string,
  task: object,
): Promise<Helper<Question, Answer, Ready>> {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [], {
    env: { ...process.env, [TASK_VARIABLE]: JSON.stringify(task) },
    execArgv: [...FLAGS, ...extraFlags()],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ready = await nextFrom<Ready>(child);
  return {
    pid: child.pid ?? null,
    ready,
    ask: (question) => {
      const answered = nextFrom<Answer>(child);
      child.send(question);
      return answered;
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      child.disconnect();
      await ended;
    },
  };
}

/** The next thing a child says. Errors: Error when it ends before. */
function nextFrom<Said>(child: ChildProcess): Promise<Said> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => {
      child.off('message', heard);
      reject(new Error(`${child.spawnargs.at(-1) ?? 'a helper'} ended with ${String(code)}`));
    };
    const heard = (said: unknown): void => {
      child.off('exit', gone);
      resolve(said as Said); // the caller knows what the program says
    };
    child.once('message', heard);
    child.once('exit', gone);
  });
}

/** Says that this process is ready, then answers each question of the parent; ends with the parent. */
export function serve<Question, Answer extends object>(
  ready: object,
  answerTo: (question: Question) => Promise<Answer>,
): void {
  process.once('disconnect', () => {
    process.exit(0);
  });
  process.on('message', (question) => {
    void answerTo(question as Question).then((said) => process.send?.(said)); // the parent asks nothing else
  });
  process.send?.(ready);
}
