// npm ci when it is needed: nothing installed, something half installed, or another lockfile than the installed one.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepDir, pinnedNode, root } from './paths.mjs';
import { CommandFailed, runQuiet } from './run.mjs';

const lockfile = join(root, 'package-lock.json');
// npm writes this one last, so it is also the mark of a complete installation.
const installedFile = join(root, 'node_modules', '.package-lock.json');
const markerFile = join(keepDir, 'installed.sha256');

/**
 * Says whether what is installed is what the lockfile asks for. Pure.
 *
 * A package of the lockfile may be missing when it is optional (made for another platform).
 *
 * @param {{packages: Record<string, {version?: string, optional?: boolean, devOptional?: boolean, link?: boolean}>}} wanted
 * @param {{packages: Record<string, {version?: string}>}} installed
 */
export function isInstalled(wanted, installed) {
  return Object.entries(wanted.packages)
    .filter(([path]) => path.includes('node_modules/'))
    .every(([path, entry]) => {
      const there = installed.packages[path];
      // A package of our own that came since is only a link, and as needed as any other.
      if (entry.link === true) return there !== undefined;
      return there === undefined
        ? entry.optional === true || entry.devOptional === true || entry.peer === true
        : there.version === entry.version;
    });
}

/** @returns {boolean} whether `npm ci` has to run */
export function needsInstall() {
  if (!existsSync(installedFile) || !existsSync(pinnedNode)) return true;
  const text = readFileSync(lockfile, 'utf8');
  if (existsSync(markerFile) && readFileSync(markerFile, 'utf8') === digestOf(text)) return false;
  if (!isInstalled(JSON.parse(text), JSON.parse(readFileSync(installedFile, 'utf8')))) return true;
  remember();
  return false;
}

/** Runs `npm ci`. Errors: with npm's own output. */
export async function install() {
  const [command, first] = process.env.npm_execpath?.endsWith('.js')
    ? [process.execPath, [process.env.npm_execpath]]
    : ['npm', []];
  try {
    await runQuiet(command, [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      env: { ...process.env, NODE_ENV: '' },
    });
  } catch (cause) {
    if (!(cause instanceof CommandFailed)) throw cause;
    throw new Error(`npm ci failed. Check the network and npm's settings, then start again.\n${cause.output.trim()}`);
  }
  if (!existsSync(pinnedNode))
    throw new Error(
      `npm ci installed no Node for ${process.platform}-${process.arch}; it comes from the optional packages node-*. Check that npm's "omit" setting does not exclude "optional".`,
    );
  remember();
}

function remember() {
  mkdirSync(keepDir, { recursive: true });
  writeFileSync(markerFile, digestOf(readFileSync(lockfile, 'utf8')));
}

const digestOf = (text) => createHash('sha256').update(`${process.platform}-${process.arch}\n${text}`).digest('hex');
