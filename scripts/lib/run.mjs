// Child programs of the scripts: quiet ones, whose output is shown only when they fail, and loud ones.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pinnedNode, root } from './paths.mjs';

/** A program that was run for us ended badly. `output` is all it said. */
export class CommandFailed extends Error {
  constructor(command, code, output) {
    super(`${command} ended with ${code}`);
    this.name = 'CommandFailed';
    this.code = code;
    this.output = output;
  }
}

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
let relaying = false;
let ending = false;

/** A signal told this process to end: what a child did not finish is not tried again. */
export function isEnding() {
  return ending;
}

function relaySignals() {
  if (relaying) return;
  relaying = true;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      ending = true;
      for (const child of running) passOn(child, signal === 'SIGHUP' ? 'SIGTERM' : signal);
      if (running.size === 0) process.exit(130);
      // Children get the time to stop what they started; a second signal does not wait.
      process.once(signal, () => process.exit(130));
    });
  }
}

/** Children that lead a process group: a signal goes to all of it. */
const leaders = new WeakSet();

function passOn(child, signal) {
  if (!leaders.has(child)) return child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch (cause) {
    if (cause.code === 'ESRCH') return false;
    throw cause;
  }
}

/** Passes the signals of this process on to the child for as long as it lives. */
export function relay(child) {
  relaySignals();
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/**
 * Runs a program and keeps its output to itself.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void}} [options]
 * @returns {Promise<string>} all it printed. Errors: CommandFailed with the same.
 */
export function runQuiet(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = relay(
      spawn(command, args, {
        cwd: options.cwd ?? root,
        env: options.env ?? process.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    let output = '';
    const take = (chunk) => {
      const text = chunk.toString();
      output += text;
      if (options.onLine) for (const line of text.split('\n')) if (line.trim() !== '') options.onLine(line.trim());
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', (cause) => reject(new CommandFailed(command, cause.code ?? cause.message, output)));
    child.once('close', (code, signal) =>
      code === 0 ? resolve(output) : reject(new CommandFailed(`${command} ${args.join(' ')}`, signal ?? code, output)),
    );
  });
}

/**
 * Runs a program on this terminal.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, leadsGroup?: boolean}} [options] `leadsGroup`: a signal also ends the
 *   processes that the program starts and would leave behind
 * @returns {Promise<number>} its exit code; 128 + signal number is folded into 1
 */
export function runLoud(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = relay(
      spawn(command, args, {
        cwd: options.cwd ?? root,
        env: options.env ?? process.env,
        stdio: 'inherit',
        detached: options.leadsGroup === true,
      }),
    );
    if (options.leadsGroup === true) leaders.add(child);
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal === 'SIGINT' ? 130 : (code ?? 1)));
  });
}

/** Runs a program of the product on the pinned Node. */
export function runNode(args, options = {}) {
  return runLoud(existsSync(pinnedNode) ? pinnedNode : process.execPath, args, options);
}
