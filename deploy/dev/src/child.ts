// One supervised child: started with a deadline, probed until it answers, killed and tried once more when it does not.
//
// Boundary: knows processes, log files and time; what is started and how it is probed comes in as a plan.
//
// Invariants
//   I1. A child leads its own process group and is killed with all of it.
//   I2. A child that was not asked to end and ends anyway is reported once.
//   I3. No child outlives this process, unless this process is killed; then the state file names the child.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StateBook } from './state-file.js';

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
}

export interface ChildPlan {
  readonly name: string;
  readonly logFile: string;
  /** Called before every try, so that it can choose ports again. */
  command(): ChildCommand | Promise<ChildCommand>;
  /** True once the real thing answers; false or a throw means not yet. */
  probe(): Promise<boolean>;
  readonly readyWithinMs: number;
  /** Default 2: killed and tried once more. */
  readonly triesMax?: number;
  /** Pause before another try. Default 0. */
  readonly retryAfterMs?: number;
  readonly stopSignal: NodeJS.Signals;
  readonly stopWithinMs: number;
}

export interface SupervisedChild {
  readonly name: string;
  readonly pid: number | null;
  /** Resolves when it is ready. Errors: the reason with the last lines of its log. */
  start(): Promise<void>;
  /** Asks it to end and kills it after the deadline. Resolves when it has ended. */
  stop(): Promise<void>;
  /** Sends a signal to its whole group. SIGKILL resolves when it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

const PROBE_EVERY_MS = 40;
const LOG_TAIL_LINES = 15;
const liveGroups = new Set<number>();
let exitGuard = false;

export function superviseChild(
  plan: ChildPlan,
  book: StateBook | null,
  onUnexpectedExit: (name: string, how: string) => void = () => undefined,
): SupervisedChild {
  return new Supervised(plan, book, onUnexpectedExit);
}

class Supervised implements SupervisedChild {
  #process: ChildProcess | null = null;
  #gone: Promise<string> = Promise.resolve('never started');
  #expected = false;
  #ready = false;

  constructor(
    private readonly plan: ChildPlan,
    private readonly book: StateBook | null,
    private readonly onUnexpectedExit: (name: string, how: string) => void,
  ) {}

  get name(): string {
    return this.plan.name;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  async start(): Promise<void> {
    if (this.#process !== null) throw new Error(`${this.name} is already running`);
    const tries = this.plan.triesMax ?? 2;
    for (let attempt = 1; ; attempt += 1) {
      await this.#spawn();
      const failure = await this.#untilReady();
      if (failure === null) return;
      const stopped = this.#expected;
      await this.kill('SIGKILL');
      if (attempt < tries && !stopped) {
        await after(this.plan.retryAfterMs ?? 0, null);
      } else {
        throw new Error(
          `${this.name} did not become ready: ${failure}.\n${lastLines(this.plan.logFile)}\nFull log: ${this.plan.logFile}`,
        );
      }
    }
  }

  async stop(): Promise<void> {
    this.#expected = true;
    if (this.#process === null) return;
    this.#signal(this.plan.stopSignal);
    // A child stopped with SIGSTOP takes no other signal before it goes on.
    this.#signal('SIGCONT');
    const ended = await Promise.race([this.#gone.then(() => true), after(this.plan.stopWithinMs, false)]);
    if (!ended) await this.kill('SIGKILL');
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (this.#process === null) return;
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.#expected = true;
    this.#signal(signal);
    if (signal === 'SIGKILL') await this.#gone;
  }

  async #spawn(): Promise<void> {
    const command = await this.plan.command();
    mkdirSync(dirname(this.plan.logFile), { recursive: true });
    const log = openSync(this.plan.logFile, 'a');
    const child = spawn(command.file, [...command.args], {
      cwd: command.cwd,
      env: command.env ?? process.env,
      stdio: ['ignore', log, log],
      detached: true,
      ...(command.uid === undefined ? {} : { uid: command.uid }),
      ...(command.gid === undefined ? {} : { gid: command.gid }),
    });
    closeSync(log);
    this.#expected = false;
    this.#ready = false;
    this.#process = child;
    this.#gone = new Promise((resolve) => {
      child.once('error', (cause) => {
        resolve(`it could not be started: ${cause.message}`);
      });
      child.once('exit', (code, signal) => {
        resolve(`it ended with ${signal ?? `code ${String(code)}`}`);
      });
    });
    const { pid } = child;
    if (pid !== undefined) {
      guardExit();
      liveGroups.add(pid);
      this.book?.add(this.name, pid);
    }
    void this.#gone.then((how) => {
      this.#ended(child, how);
    });
  }

  #ended(child: ChildProcess, how: string): void {
    if (child.pid !== undefined) {
      liveGroups.delete(child.pid);
      this.book?.remove(child.pid);
    }
    if (this.#process === child) this.#process = null;
    if (this.#ready && !this.#expected) this.onUnexpectedExit(this.name, how);
  }

  async #untilReady(): Promise<string | null> {
    const deadlineAt = Date.now() + this.plan.readyWithinMs;
    const gone = this.#gone;
    for (;;) {
      const seen = await Promise.race([
        this.plan.probe().then(
          (ok) => (ok ? 'ready' : 'not yet'),
          () => 'not yet' as const,
        ),
        gone.then((how) => ({ how })),
      ]);
      if (typeof seen === 'object') return seen.how;
      if (this.#process === null) return 'it ended';
      if (seen === 'ready') {
        this.#ready = true;
        return null;
      }
      if (Date.now() > deadlineAt) return `no answer within ${String(this.plan.readyWithinMs / 1000)} s`;
      await after(PROBE_EVERY_MS, null);
    }
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid !== undefined) signalGroup(pid, signal);
  }
}

/** Resolves to the value after some time, without keeping the process alive for it. */
export function after<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, value);
  });
}

/** The last lines of a log, for an error message. */
export function lastLines(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(-LOG_TAIL_LINES)
      .map((line) => `    ${line}`)
      .join('\n');
  } catch {
    return '    (no log)';
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}

function guardExit(): void {
  if (exitGuard) return;
  exitGuard = true;
  process.on('exit', () => {
    for (const pid of liveGroups) signalGroup(pid, 'SIGKILL');
  });
}
