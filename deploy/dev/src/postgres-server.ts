// PostgreSQL 18 from npm, supervised here rather than by the package, so that crash runs can kill the server.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { startOf } from '../../../scripts/lib/identity.mjs';
import type { ChildPlan } from './child.js';
import { ownedFolder, postgresPrograms, type Account, type PostgresPrograms } from './postgres-binaries.js';
import { isTraversable } from './private-data.js';

/** How to reach the server as its superuser. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export interface ServerPlace {
  readonly account: Account | null;
  /** The server's own data directory; nothing else is in it. */
  readonly folder: string;
  readonly logFile: string;
  readonly address: PostgresAddress;
}

/** Making empty data takes a second or two; on a machine that is busy with other work, a minute. */
const CREATE_WITHIN_MS = 120_000;
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;
const TRIES_BEFORE_UNLOCKING = 4;
export const SUPERUSER = 'postgres';

/** A password for this data directory, kept in the state file only its owner may read. */
export function newPassword(): string {
  return randomBytes(18).toString('base64url');
}

/** The server's folder: below the stack's data, or in the temporary directory when the server's account cannot get there. */
export function serverFolder(dataDir: string, account: Account | null): string {
  if (account === null || isTraversable(dataDir)) return join(dataDir, 'postgres');
  const tag = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  return join(tmpdir(), `recourse-postgres-data-${tag}`);
}

/** Makes an empty cluster. Errors: initdb's own output. */
export async function initServer(place: ServerPlace): Promise<void> {
  rmSync(place.folder, { recursive: true, force: true });
  ownedFolder(place.folder, place.account, chownSync);
  const passwordFile = `${place.folder}.password`;
  writeFileSync(passwordFile, `${place.address.password}\n`, { mode: 0o600 });
  if (place.account !== null) chownSync(passwordFile, place.account.uid, place.account.gid);
  try {
    const args = [
      '-D',
      place.folder,
      '-U',
      place.address.user,
      '--encoding=UTF8',
      '--locale=C',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--no-sync',
    ];
    await promisify(execFile)(postgresPrograms(place.account).initdb, args, {
      timeout: CREATE_WITHIN_MS,
      ...runAs(place),
    });
  } catch (cause) {
    // execFile rejects with an Error that carries both streams.
    const { stdout, stderr, message } = cause as Error & { stdout?: string; stderr?: string };
    throw new Error(`could not create PostgreSQL's data directory: ${message}\n${stdout ?? ''}${stderr ?? ''}`, {
      cause,
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** How the server is run. It is ready when it answers a query from this very data directory. */
export function serverPlan(place: ServerPlace, settings: Readonly<Record<string, string>> = {}): ChildPlan {
  let programs: PostgresPrograms | null = null;
  let tries = 0;
  return {
    name: 'postgres',
    logFile: place.logFile,
    command: () => {
      programs ??= postgresPrograms(place.account);
      tries += 1;
      if (tries > TRIES_BEFORE_UNLOCKING) removeDeadLock(place.folder);
      const all = { ...serverSettings(place.address.port), ...settings };
      return {
        file: programs.postgres,
        args: ['-D', place.folder, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        ...runAs(place),
      };
    },
    probe: async () => (await dataDirectoryOf(place.address)) === place.folder,
    readyWithinMs: READY_WITHIN_MS,
    // A killed server's sessions hold its shared memory until they notice; the server refuses to start before.
    triesMax: 20,
    retryAfterMs: 250,
    // Fast shutdown: sessions are ended, nothing is lost.
    stopSignal: 'SIGINT',
    stopWithinMs: STOP_WITHIN_MS,
  };
}

/**
 * Removes the lock of a server that is dead but was never reaped: where process 1 reaps nobody, its zombie still looks
 * alive to PostgreSQL, for ever. Its sessions had a second to notice by then.
 */
function removeDeadLock(folder: string): void {
  const file = join(folder, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (startOf(pid) === null) rmSync(file, { force: true });
}

/** Settings of the server; durability stays on, so that what crash runs show is what production would. */
function serverSettings(port: number): Readonly<Record<string, string>> {
  return {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    max_wal_size: '1GB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
  };
}

function runAs(place: ServerPlace): { readonly cwd: string; readonly uid?: number; readonly gid?: number } {
  const cwd = dirname(place.folder);
  return place.account === null ? { cwd } : { cwd, uid: place.account.uid, gid: place.account.gid };
}

async function dataDirectoryOf(address: PostgresAddress): Promise<string> {
  const client = new Client({ ...address, database: 'postgres', connectionTimeoutMillis: 1_000, query_timeout: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return rows[0]?.data_directory ?? '';
  } finally {
    await client.end().catch(() => undefined);
  }
}
