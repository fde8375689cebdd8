// The lock of a data directory: one launcher at a time.
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { identify, isRunning } from './identity.mjs';

/** A live launcher holds the data directory. */
export class DataDirectoryBusy extends Error {
  constructor(dataDir, holder) {
    const { message, remedy } = busyProblem(dataDir, holder);
    super(`${message}\n    remedy: ${remedy}`);
    this.name = 'DataDirectoryBusy';
    this.holder = holder;
  }
}

/** What the check before the start and the start itself say. */
export function busyProblem(dataDir, holder) {
  return {
    code: 'DATA_DIR_BUSY',
    message: `data directory busy: ${dataDir} is used by the running launcher with pid ${holder.pid}.`,
    remedy: `stop it (Ctrl-C in its terminal, or kill ${holder.pid}), or start a second stack beside it with --data-dir <another directory>.`,
  };
}

/**
 * Says what a lock found in a data directory means. Pure.
 *
 * @param {{pid: number, started: string} | null} holder what the lock file says, null when there is none or it is torn
 * @param {(identity: {pid: number, started: string}) => boolean} runs
 * @param {number} ownPid
 * @returns {'free' | 'stale' | 'busy' | 'own'}
 */
export function judgeLock(holder, runs, ownPid) {
  if (holder === null) return 'free';
  if (!runs(holder)) return 'stale';
  return holder.pid === ownPid ? 'own' : 'busy';
}

/** @param {string} dataDir @returns {{pid: number, started: string} | null} the live launcher that holds it */
export function holderOf(dataDir) {
  const holder = readLock(lockFile(dataDir));
  return judgeLock(holder, isRunning, process.pid) === 'busy' ? holder : null;
}

/**
 * Takes the lock for this process. A dead launcher's lock is taken over.
 *
 * @param {string} dataDir
 * @returns {() => void} gives it back. Errors: DataDirectoryBusy.
 */
export function takeLock(dataDir) {
  mkdirSync(dataDir, { recursive: true });
  const file = lockFile(dataDir);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (createLock(file)) return () => releaseLock(file);
    const holder = readLock(file);
    const judged = judgeLock(holder, isRunning, process.pid);
    if (judged === 'busy' || judged === 'own') throw new DataDirectoryBusy(dataDir, holder);
    setAside(file, holder);
  }
  throw new Error(`could not lock ${dataDir}: another launcher is starting on it; try again`);
}

const lockFile = (dataDir) => join(dataDir, 'launcher.lock');

/** Written aside and then named: nobody finds a lock that does not say yet whose it is. */
function createLock(file) {
  const partial = `${file}.${process.pid}.new`;
  writeFileSync(partial, JSON.stringify(identify(process.pid)), { mode: 0o600 });
  try {
    nameOnce(partial, file);
    return true;
  } catch (cause) {
    if (cause.code === 'EEXIST') return false;
    throw cause;
  } finally {
    rmSync(partial, { force: true });
  }
}

/** What file systems without links say of one. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Gives a file its name unless another has it, at once; where there are no links, as nearly so as can be. Errors: EEXIST. */
export function nameOnce(partial, file) {
  try {
    linkSync(partial, file);
  } catch (cause) {
    if (!NO_LINKS.includes(cause.code)) throw cause;
    copyFileSync(partial, file, constants.COPYFILE_EXCL);
  }
}

function readLock(file) {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8'));
    return Number.isInteger(found?.pid) && typeof found.started === 'string'
      ? { pid: found.pid, started: found.started }
      : null;
  } catch {
    return null;
  }
}

/** Moves a stale lock away; puts it back if somebody renewed it between the look and the move. */
function setAside(file, judgedHolder) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch (cause) {
    if (cause.code === 'ENOENT') return;
    throw cause;
  }
  const moved = readLock(aside);
  const renewed =
    moved !== null &&
    (judgedHolder === null || moved.pid !== judgedHolder.pid || moved.started !== judgedHolder.started);
  if (renewed && !existsSync(file)) renameSync(aside, file);
  else rmSync(aside, { force: true });
}

function releaseLock(file) {
  if (readLock(file)?.pid === process.pid) rmSync(file, { force: true });
}
