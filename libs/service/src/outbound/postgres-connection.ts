// Connections to one service's own database, with every time-out set, and what a database error means.
//
// `synchronous_commit=off`: the database is a cache of the log (L8). What a crash of the server takes from it is replayed.
// `enable_seqscan=off`: every statement of the loop goes by the primary key or a partial index; fresh tables have no
// statistics, and a planner that guesses would read whole tables.
import { Failure, InvariantViolation } from '@recourse/kernel';
import { Client, Pool } from 'pg';
import type { ClientConfig, PoolClient } from 'pg';

export interface PostgresOptions {
  /** `postgres://role:password@host:port/database`; database and role are this service's own. */
  readonly url: string;
  /** Connections; the loop uses at most one per partition at a time. Default 8. */
  readonly connectionsMax?: number;
  /** Longest statement, milliseconds. Default 15,000. */
  readonly statementTimeoutMs?: number;
  /** True where nothing can be replayed from a log: commits wait for the disk, and the planner chooses. Default false. */
  readonly isDurable?: boolean;
}

/** Connections that lists for people take from those of the loop, at the most; and how long a statement may take, milliseconds. */
export const LISTS = { connectionsMax: 2, statementTimeoutMs: 10_000 } as const;
/** The same for pages of rows, of all lists; and for single rows that a request stands on: who decides waits behind no list. */
export const PAGES = { connectionsMax: 3, statementTimeoutMs: 10_000 } as const;
export const FINDS = { connectionsMax: 2, statementTimeoutMs: 10_000 } as const;
/** The same for sums over all that is on record. Shorter than a command line waits for an answer. */
export const SUMS = { connectionsMax: 2, statementTimeoutMs: 15_000 } as const;

const CONNECTIONS_MAX = 8;
const STATEMENT_TIMEOUT_MS = 15_000;
export const CONNECT_TIMEOUT_MS = 3_000;
/** Two owners contend for a head for as long as one projection takes; longer means that somebody hangs. */
const LOCK_TIMEOUT_MS = 5_000;
/** A process that was stopped inside its transaction holds the head; it loses it after this. */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** The client gives up after the server should have: a half-open connection answers nothing at all. */
export const CLIENT_GRACE_MS = 2_000;

/**
 * A connection that may break at any time: what is asked of it fails, and the process goes on.
 *
 * Source: a pool listens to what rests in it, and stops before it hands it out; whoever awaits it listens some turns later. An
 *         error in between has no listener, and ends the process.
 */
export class ListenedClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/** How long a server may take to close a connection that said goodbye. */
const GOODBYE_MS = 1_000;

/** Ends a connection; one whose server says nothing is cut off, so that whoever ends waits for no database. */
export async function goodbye(client: Client, withinMs: number = GOODBYE_MS): Promise<void> {
  const cutting = setTimeout(() => client.connection.stream.destroy(), withinMs);
  await client.end().catch(() => undefined);
  clearTimeout(cutting);
}

/** A pool for the loop. Nothing is connected before the first call. */
export function createPool({
  url,
  connectionsMax = CONNECTIONS_MAX,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  isDurable = false,
}: PostgresOptions): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    Client: ListenedClient,
    application_name: 'recourse',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + CLIENT_GRACE_MS,
    statement_timeout: statementTimeoutMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    options: isDurable
      ? '-c synchronous_commit=on -c jit=off'
      : '-c synchronous_commit=off -c jit=off -c enable_seqscan=off',
  });
  // An idle connection that breaks is replaced by the pool; the next call says so if the database is gone.
  pool.on('error', () => undefined);
  return pool;
}

/**
 * Runs database work; whatever the database or the way to it refuses becomes one failure.
 *
 * Errors: Failure(DATABASE_UNAVAILABLE); invariants pass through.
 */
export async function coded<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure || error instanceof InvariantViolation) throw error;
    throw new Failure('DATABASE_UNAVAILABLE', `${what}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** What PostgreSQL says of a statement that it ended, here for its time alone: nobody cancels one otherwise. */
const QUERY_CANCELED = '57014';

/** What the pool says of a read that had no connection in time, because others had them all; of one that is not made it says another thing. */
const NONE_FREE = 'timeout exceeded when trying to connect';

/**
 * As `coded`, for what people read. Errors: as well, Failure(READ_TOO_LONG) where the time of a statement was up,
 * Failure(READS_BUSY) where no connection came free for it.
 */
export function codedRead<T>(what: string, work: () => Promise<T>): Promise<T> {
  return coded(what, async () => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error && error.message === NONE_FREE)
        throw new Failure('READS_BUSY', `${what}: others read all the while`, { cause: error });
      if (!isOverTime(error)) throw error;
      throw new Failure('READ_TOO_LONG', `${what}: it took longer than a read may`, { cause: error });
    }
  });
}

/** TypeORM hands on what the driver says, with its code. */
function isOverTime(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === QUERY_CANCELED;
}

/** How a transaction begins whose statements all see one state, so that what is projected meanwhile changes none of them. */
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Work inside one transaction on one connection; a connection that failed is not used again. */
export async function inTransaction<T>(
  pool: Pool,
  begin: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    failed = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(failed);
  }
}
