// What statements are made of, and how they are asked: names, values, conditions, limits.
//
// Boundary: text and values. What a caller named is always a value; names and words in the text are constants of ours.
import type { ClientBase, Pool } from 'pg';
import { codedRead, inTransaction, SNAPSHOT } from './postgres-connection.js';

export type SqlValue = string | number | boolean | Buffer | null | readonly (string | number | null)[];

/** A statement with the values of its parameters. */
export interface Query {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** What columns must be, or one of; undefined does not narrow. */
export type Equal = Readonly<Record<string, SqlValue | undefined>>;

/** The values of a statement, collected while its text is written. */
export class Parameters {
  readonly values: SqlValue[] = [];

  /** Adds a value and returns how the text names it: `$1`, `$2`, … */
  add(value: SqlValue): string {
    return `$${String(this.values.push(value))}`;
  }

  /** Adds several and returns how the text names them, separated by commas. */
  list(values: readonly SqlValue[]): string {
    return values.map((value) => this.add(value)).join(', ');
  }

  /** A condition per column that is given. */
  equal(columns: Equal): readonly string[] {
    return Object.entries(columns).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name} = ${Array.isArray(value) ? `ANY(${this.add(value)})` : this.add(value)}`],
    );
  }
}

/** A WHERE clause with a blank before it; nothing without conditions. */
export function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** Words of ours as literals, separated by commas. */
export function literals(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}

const IDENTIFIER = /^[a-z][a-z0-9_]{0,50}$/;

/** A name that needs no quoting beyond the quotes. Errors: TypeError for any other. */
export function identifier(name: string): string {
  if (!IDENTIFIER.test(name)) throw new TypeError(`not a name for a table or column: ${name}`);
  return name;
}

export function quoted(name: string): string {
  return `"${identifier(name)}"`;
}

/** Time of the database, whole epoch milliseconds: windows are judged by no other clock (P6). */
export const NOW_MS = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Rows up to a limit, and whether there are more. */
export interface Limited<Row> {
  readonly items: readonly Row[];
  readonly more: boolean;
}

/** Cuts the answer of a statement that asked for one row more than the limit. */
export function limitTo<Row>(rows: readonly Row[], limit: number): Limited<Row> {
  return { items: rows.slice(0, limit), more: rows.length > limit };
}

/** A 64-bit number, which the driver gives as text. */
export function numberOrNull(decimal: string | null): number | null {
  return decimal === null ? null : Number(decimal);
}

/** Time of the database, epoch milliseconds: windows are judged by no other clock (P6). */
const NOW_QUERY: Query = {
  text: `SELECT (${NOW_MS})::text AS now`,
  values: [],
};

/** Asks one statement; `what` says in errors what was read. */
export type Ask = <Row extends object>(what: string, query: Query) => Promise<readonly Row[]>;

/** Reads from a database. Errors of every read: Failure(DATABASE_UNAVAILABLE, READ_TOO_LONG, READS_BUSY). */
export abstract class Queries {
  /** @param sums connections for what reads whole tables, so that no list waits behind it; those of the lists unless told */
  constructor(
    private readonly pool: Pool,
    private readonly sums: Pool = pool,
  ) {}

  protected rows<Row extends object>(what: string, query: Query): Promise<readonly Row[]> {
    return rowsOf(this.pool, what, query);
  }

  /** Rows of a statement that reads as many as there are. */
  protected summed<Row extends object>(what: string, query: Query): Promise<readonly Row[]> {
    return rowsOf(this.sums, what, query);
  }

  /** Statements whose answers stand beside each other: all see one state, one after the other on one connection. */
  protected atOnce<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    return snapshotOf(this.pool, work);
  }

  /** The same for statements that read as many rows as there are. */
  protected summedAtOnce<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    return snapshotOf(this.sums, work);
  }

  /** The database's time, epoch milliseconds. */
  async now(): Promise<number> {
    return Number((await this.rows<{ now: string }>('read the time', NOW_QUERY))[0]?.now);
  }

  async close(): Promise<void> {
    await Promise.all([...new Set([this.pool, this.sums])].map((pool) => pool.end()));
  }

  /** Nest calls it when the process ends, once the requests under way are answered. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

function snapshotOf<T>(pool: Pool, work: (ask: Ask) => Promise<T>): Promise<T> {
  return codedRead('read at one moment', () =>
    inTransaction(pool, SNAPSHOT, (client) => work((what, query) => rowsOf(client, what, query))),
  );
}

function rowsOf<Row extends object>(
  pool: Pool | ClientBase,
  what: string,
  { text, values }: Query,
): Promise<readonly Row[]> {
  return codedRead(what, async () => (await pool.query<Row>(text, [...values])).rows);
}
