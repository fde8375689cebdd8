// Secrets of a development stack: made at the first start, kept with its data.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOnce } from '../../../scripts/lib/lock.mjs';

/** A secret of 32 bytes, as hex; made when it is not there. */
export function secretIn(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  makeOnce(path, () => randomBytes(32).toString('hex'));
  return readFileSync(path, 'utf8').trim();
}

/**
 * Makes a secret unless it is there; an empty file is none.
 *
 * Shape:  written aside and then named: a start that is ended meanwhile leaves no part of a secret under its name, and of two at
 *         one moment both keep the one that was named first.
 */
export function makeOnce(path: string, make: () => string | Buffer): void {
  const isThere = existsSync(path);
  if (isThere && readFileSync(path, 'utf8').trim() !== '') return;
  const partial = `${path}.${String(process.pid)}.new`;
  writeFileSync(partial, make(), { mode: 0o600 });
  if (isThere) renameSync(partial, path);
  else nameFirst(partial, path);
}

/** Gives the file its name unless another has it. */
function nameFirst(partial: string, path: string): void {
  try {
    nameOnce(partial, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  } finally {
    rmSync(partial, { force: true });
  }
}

/** The key under which edges sign commands, and the one of leases, as paths of files. */
export function keysIn(folder: string): SystemSecrets {
  secretIn(folder, 'edge.key');
  secretIn(folder, 'lease.key');
  return { edgeKeyFile: join(folder, 'edge.key'), leaseKeyFile: join(folder, 'lease.key') };
}

/** Id of the logs of this data directory: as old as its data. */
export function logIdIn(folder: string): string {
  return `dev-${secretIn(folder, 'log.id').slice(0, 16)}`;
}

export interface SystemSecrets {
  readonly edgeKeyFile: string;
  readonly leaseKeyFile: string;
}

/** Name of the stack's own user: the broker itself, who makes users and rules, and who writes to the schema registry. */
export const OWNER = 'stack';

/** The file that holds a user's password; made when it is not there. */
export function passwordFileOf(folder: string, user: string): string {
  const users = join(folder, 'users');
  secretIn(users, `${user}.password`);
  return join(users, `${user}.password`);
}

/** The file that holds a user's signing key; made when it is not there. */
export function signingKeyOf(folder: string, user: string): string {
  const keys = join(folder, 'keys');
  mkdirSync(keys, { recursive: true, mode: 0o700 });
  const path = join(keys, `${user}.pem`);
  makeOnce(path, () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
  return path;
}

/** Where the keyring of a secure stack stands. */
export function keyringFileOf(folder: string): string {
  return join(folder, 'keyring.json');
}

/** The password itself. */
export function passwordOf(folder: string, user: string): string {
  return readFileSync(passwordFileOf(folder, user), 'utf8').trim();
}
