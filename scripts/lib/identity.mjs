// Which process is meant by a pid. A pid alone is recycled, so it is kept together with its start.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Says when the process with this pid started, in a form only good for comparing.
 *
 * Shape: `<boot id>:<clock ticks since boot>` on Linux, the start date of `ps` elsewhere; null when there is none.
 * A zombie counts as gone: it holds no port and no file.
 *
 * @param {number} pid
 * @returns {string | null}
 */
export function startOf(pid) {
  return process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
}

/**
 * @param {{pid: number, started: string}} identity
 * @returns {boolean} whether that very process still runs
 */
export function isRunning(identity) {
  const started = startOf(identity.pid);
  return started !== null && started === identity.started;
}

/** @param {number} pid @returns {{pid: number, started: string} | null} */
export function identify(pid) {
  const started = startOf(pid);
  return started === null ? null : { pid, started };
}

/**
 * Kills a process group that was started by us, if it is still the one we started.
 *
 * @param {{pid: number, started: string}} identity
 * @param {NodeJS.Signals} signal
 * @returns {boolean} whether there was something to kill
 */
export function killGroup(identity, signal) {
  if (!isRunning(identity)) return false;
  for (const target of [-identity.pid, identity.pid]) {
    try {
      process.kill(target, signal);
      return true;
    } catch (cause) {
      if (cause.code !== 'ESRCH') throw cause;
    }
  }
  return false;
}

function startOnLinux(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${bootId()}:${fields[19]}`;
  } catch {
    return null;
  }
}

function bootId() {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'boot';
  }
}

function startByPs(pid) {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    if (line === '' || line.startsWith('Z')) return null;
    return line.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}
