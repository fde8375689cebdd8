// The projection of one partition as it lies in a service's database: its head, and dropping it.
//
// Boundary: knows the heads table and that every table of a log's schema has a column log_partition; no kinds, no rows. The
// service rebuilds what is dropped from offset 0 at its next start.
import { Failure } from '@recourse/kernel';
import pg from 'pg';

/** How far a log was projected. */
export interface Projected {
  readonly seq: number;
  readonly hash: Buffer;
  /** Offset of the next record. */
  readonly offset: number;
  readonly decidedAt: number;
}

export interface ProjectionPlace {
  readonly databaseUrl: string;
  /** Topic of the log. */
  readonly log: string;
  readonly partition: number;
}

export interface Projection {
  /** null when nothing was projected. */
  head(): Promise<Projected | null>;
  /** Database time, epoch milliseconds. */
  now(): Promise<number>;
  /** Removes rows and head of the partition, all or nothing, unless the head has moved. Errors: Failure(PROJECTION_FENCED). */
  drop(head: Projected): Promise<void>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const IDENTIFIER = /^[a-z][a-z0-9_]*$/;

/** Connects. Errors: Failure(DATABASE_UNAVAILABLE), here and from every call. */
export async function openProjection({ databaseUrl, log, partition }: ProjectionPlace): Promise<Projection> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  const schema = quoted(log.replace(/^[^.]*\./, '').replaceAll(/[^a-z0-9]/g, '_'));
  await coded('connect', () => client.connect());

  async function head(lock = ''): Promise<Projected | null> {
    const { rows } = await client.query<{ seq: string; hash: Buffer; log_offset: string; decided_at: string }>(
      `SELECT seq, hash, log_offset, decided_at FROM ${schema}.heads WHERE log_partition = $1 ${lock}`,
      [partition],
    );
    const [row] = rows;
    return row === undefined
      ? null
      : { seq: Number(row.seq), hash: row.hash, offset: Number(row.log_offset), decidedAt: Number(row.decided_at) };
  }

  async function tables(): Promise<readonly string[]> {
    const { rows } = await client.query<{ table_name: string }>(
      "SELECT table_name FROM information_schema.columns WHERE table_schema = $1 AND column_name = 'log_partition'",
      [schema.slice(1, -1)],
    );
    return rows.map(({ table_name }) => quoted(table_name));
  }

  async function drop(expected: Projected): Promise<void> {
    await client.query('BEGIN');
    try {
      const now = await head('FOR UPDATE');
      if (now?.seq !== expected.seq || !now.hash.equals(expected.hash))
        throw new Failure('PROJECTION_FENCED', `${log}/${partition} is projected by somebody else`);
      for (const table of await tables())
        await client.query(`DELETE FROM ${schema}.${table} WHERE log_partition = $1`, [partition]);
      await client.query('COMMIT');
    } catch (problem) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw problem;
    }
  }

  return {
    head: () => coded('read the head', () => head()),
    now: () =>
      coded('read the clock', async () =>
        Number(
          (
            await client.query<{ now: string }>(
              'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
            )
          ).rows[0]?.now,
        ),
      ),
    drop: (expected) => coded('drop the projection', () => drop(expected)),
    close: () => client.end().catch(() => undefined),
  };
}

async function coded<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure(
      'DATABASE_UNAVAILABLE',
      `could not ${what}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function quoted(name: string): string {
  if (!IDENTIFIER.test(name)) throw new TypeError(`not a name for a schema or table: ${name}`);
  return `"${name}"`;
}
