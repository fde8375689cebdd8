// The projection of one partition as it lies in a service's database: its head, and dropping it.
//
// Boundary: knows the heads table and that every table of a log's schema has a column log_partition; no kinds, no rows. The
// service rebuilds what is dropped from offset 0 at its next start.
import { Failure } from '@recourse/kernel';
import pg from 'pg';
import { addressIn } from '../unreached.js';

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
export async function openProjection({ databaseUrl, ...place }: ProjectionPlace): Promise<Projection> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await coded(`connect to ${addressIn(databaseUrl)}`, () => client.connect());
  return new PostgresProjection(client, place);
}

class PostgresProjection implements Projection {
  private readonly schema: string;

  constructor(
    private readonly client: pg.Client,
    private readonly place: Omit<ProjectionPlace, 'databaseUrl'>,
  ) {
    this.schema = place.log.replace(/^[^.]*\./, '').replaceAll(/[^a-z0-9]/g, '_');
  }

  head(): Promise<Projected | null> {
    return coded('read the head', () => this.readHead());
  }

  now(): Promise<number> {
    return coded('read the clock', async () => {
      const { rows } = await this.client.query<{ now: string }>(
        'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
      );
      return Number(rows[0]?.now);
    });
  }

  drop(head: Projected): Promise<void> {
    return coded('drop the projection', () => this.dropRows(head));
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private async readHead(lock = ''): Promise<Projected | null> {
    const { rows } = await this.client.query<{
      seq: string;
      head_hash: Buffer;
      log_offset: string;
      decided_at: string;
    }>(
      `SELECT seq, head_hash, log_offset, decided_at FROM ${quoted(this.schema)}.heads WHERE log_partition = $1 ${lock}`,
      [this.place.partition],
    );
    const [row] = rows;
    return row === undefined
      ? null
      : {
          seq: Number(row.seq),
          hash: row.head_hash,
          offset: Number(row.log_offset),
          decidedAt: Number(row.decided_at),
        };
  }

  private async tables(): Promise<readonly string[]> {
    const { rows } = await this.client.query<{ table_name: string }>(
      "SELECT table_name FROM information_schema.columns WHERE table_schema = $1 AND column_name = 'log_partition'",
      [this.schema],
    );
    return rows.map(({ table_name }) => quoted(table_name));
  }

  private async dropRows(expected: Projected): Promise<void> {
    const { log, partition } = this.place;
    await this.client.query('BEGIN');
    try {
      const now = await this.readHead('FOR UPDATE');
      if (now?.seq !== expected.seq || !now.hash.equals(expected.hash))
        throw new Failure('PROJECTION_FENCED', `${log}/${partition} is projected by somebody else`);
      for (const table of await this.tables())
        await this.client.query(`DELETE FROM ${quoted(this.schema)}.${table} WHERE log_partition = $1`, [partition]);
      await this.client.query('COMMIT');
    } catch (problem) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw problem;
    }
  }
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
