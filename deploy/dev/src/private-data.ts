// Who reads what a stack keeps: its owner, and nobody else on this machine. Rules of the broker end where its files are read.
//
// PostgreSQL does not run as root: started by root it runs as an account of its own, which must get through to its folder, and
// reads nothing on the way.
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Layout } from './stack-data.js';

const [OWN, PASSED, OWN_FILE] = [0o700, 0o711, 0o600];
const STICKY = 0o1000;
const OTHERS = 0o077;

/** What this process and its children make from now on is its owner's alone; the folder itself is closed by `closeData`. */
export function makePrivately(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true });
  process.umask(OTHERS);
}

/** Closes a data directory to others, also one that an earlier version left open. */
export function closeData({ dataDir, logDir, kafka, registry, programs, completeFile }: Layout, isRoot: boolean): void {
  const { uid, mode } = statSync(dataDir);
  // A folder that everybody shares, or somebody else's, is not ours to close.
  if (uid === process.getuid?.() && (mode & STICKY) === 0)
    chmodSync(dataDir, isRoot && isTraversable(dataDir) ? PASSED : OWN);
  for (const folder of [logDir, kafka, registry, programs]) if (existsSync(folder)) chmodSync(folder, OWN);
  if (existsSync(completeFile)) chmodSync(completeFile, OWN_FILE);
}

/** A folder that this user made and nobody else writes to: what it says of processes and folders is believed. */
export function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/** Whether other users can get to the path: every folder above it lets them through. */
export function isTraversable(path: string): boolean {
  const folder = existsSync(path) && statSync(path).isDirectory() ? path : dirname(path);
  if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
  return folder === dirname(folder) || isTraversable(dirname(folder));
}

/** Makes something that other accounts are to use. */
export function forOthers<T>(make: () => T): T {
  const before = process.umask(0o022);
  try {
    return make();
  } finally {
    process.umask(before);
  }
}
