// Secrets of a development stack: made at the first start, kept with its data.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A secret of 32 bytes, as hex; made when it is not there. */
export function secretIn(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  if (!existsSync(path)) writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 });
  return readFileSync(path, 'utf8').trim();
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
