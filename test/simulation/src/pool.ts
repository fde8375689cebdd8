// Shares seeds among processes; each runs one seed after the other and reports a line per seed.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { RunResult } from './run.js';

export interface Job {
  readonly seed: number;
  readonly events: number;
  readonly mutant: string | null;
  readonly isControl: boolean;
}

/** Nearly everything a seed allocates dies with it: a larger nursery is emptied less often. */
const FEWER_COLLECTIONS = ['--max-semi-space-size=64'];

/**
 * Runs jobs until all are done or `onResult` says that it has seen enough.
 *
 * Errors: Error when a process ends before its job.
 */
export async function runJobs(
  jobs: readonly Job[],
  workers: number,
  onResult: (result: RunResult, job: Job) => 'go_on' | 'enough',
): Promise<void> {
  const queue = [...jobs];
  const children = Array.from({ length: Math.min(workers, jobs.length) }, () =>
    fork(process.argv[1] ?? '', ['--share'], { execArgv: [...process.execArgv, ...FEWER_COLLECTIONS] }),
  );
  try {
    await Promise.all(children.map((child) => serve(child, queue, onResult)));
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}

function serve(
  child: ChildProcess,
  queue: Job[],
  onResult: (result: RunResult, job: Job) => 'go_on' | 'enough',
): Promise<void> {
  return new Promise((resolve, reject) => {
    let current: Job | undefined;
    const next = (): void => {
      current = queue.shift();
      if (current === undefined) resolve();
      else child.send(current);
    };
    child.on('message', (message) => {
      const job = current;
      // A share sends results and nothing else.
      if (job !== undefined && onResult(message as RunResult, job) === 'enough') queue.length = 0;
      next();
    });
    child.on('exit', (code) => {
      if (current !== undefined)
        reject(new Error(`the process of seed ${String(current.seed)} ended with ${String(code)}`));
    });
    next();
  });
}

/** The other side: runs what it is sent. */
export function serveJobs(runJob: (job: Job) => Promise<RunResult>): void {
  process.on('message', (message) => {
    // Jobs are all that is sent here.
    void runJob(message as Job).then(
      (result) => process.send?.(result),
      (cause: unknown) => {
        console.error(cause);
        process.exit(70);
      },
    );
  });
}
