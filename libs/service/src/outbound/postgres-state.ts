// What a projection holds as one hash, read in one snapshot; nothing is written.
import { createHash } from 'node:crypto';
import { canonicalRow, columnValue, compareText } from '@recourse/event-log';
import type { ColumnSpec, Row } from '@recourse/event-log';
import type { Pool, PoolClient } from 'pg';
import { coded, createPool, inTransaction, SNAPSHOT } from './postgres-connection.js';
import type { PostgresOptions } from './postgres-connection.js';
import { HEADS_TABLE, tableOf } from './postgres-schema.js';
import type { ProjectedLog } from './postgres-schema.js';
import { rowOf, wholeKind, wholeKindWithColumns } from './postgres-statements.js';
import type { StoredRow } from './postgres-statements.js';

/** The head of a projection and the hash of its rows at that head. */
export interface ProjectedState {
  readonly seq: number;
  readonly hash: Buffer;
  /** SHA-256 in hex. */
  readonly stateHash: string;
  /** Columns that do not hold what their rows say: lists, filters and tenants go by columns, the hash by docs. */
  readonly strays: readonly StrayColumn[];
}

/** A column that does not hold what its row says. */
export interface StrayColumn {
  readonly kind: string;
  readonly group: string;
  readonly key: string;
  readonly column: string;
}

/** Of more, the first ones are named. */
const STRAYS_MAX = 20;

/** Rows of one page are read and hashed in one go: a loop waits for its turn meanwhile. */
const PAGE = 200;

/** Reads the states of a service's projections. Errors: Failure(DATABASE_UNAVAILABLE). */
export interface ProjectedStates {
  /** Head and hash at one moment; null before the first projection. */
  read(log: ProjectedLog, partition: number): Promise<ProjectedState | null>;
  close(): Promise<void>;
}

/** Nothing is connected before the first read. */
export function openProjectedStates(options: PostgresOptions): ProjectedStates {
  const pool = createPool({ ...options, connectionsMax: 1 });
  return { read: (log, partition) => projectedState(pool, log, partition), close: () => pool.end() };
}

function projectedState(pool: Pool, { log, kinds }: ProjectedLog, partition: number): Promise<ProjectedState | null> {
  return coded('read the projection', () =>
    inTransaction(pool, SNAPSHOT, async (client) => {
      const {
        rows: [head],
      } = await client.query<{ seq: string; head_hash: Buffer }>(
        `SELECT seq, head_hash FROM ${tableOf(log, HEADS_TABLE)} WHERE log_partition = $1`,
        [partition],
      );
      if (head === undefined) return null;
      const stateHash = await hashRows(client, { log, kinds }, partition);
      const strays = await strayColumns(client, { log, kinds }, partition);
      return { seq: Number(head.seq), hash: head.head_hash, stateHash, strays };
    }),
  );
}

/** SHA-256 in hex over all rows of a partition, as `PartitionStore.stateHash` says; inside the caller's transaction. */
export async function hashRows(client: PoolClient, { log, kinds }: ProjectedLog, partition: number): Promise<string> {
  const hash = createHash('sha256');
  for (const spec of [...kinds].sort((a, b) => compareText(a.kind, b.kind)))
    await eachStored(client, { statement: wholeKind(log, spec), partition }, (stored) => {
      hash.update(canonicalRow(rowOf(spec.kind, stored)));
    });
  return hash.digest('hex');
}

/** Every column follows from its row; the first that do not. */
async function strayColumns(
  client: PoolClient,
  { log, kinds }: ProjectedLog,
  partition: number,
): Promise<readonly StrayColumn[]> {
  const strays: StrayColumn[] = [];
  for (const spec of kinds)
    await eachStored(client, { statement: wholeKindWithColumns(log, spec), partition }, (stored) => {
      const row = rowOf(spec.kind, stored);
      for (const [n, column] of spec.columns.entries())
        if (strays.length < STRAYS_MAX && stored[`c${n}`] !== textOf(column, row))
          strays.push({ kind: spec.kind, group: row.group, key: row.key, column: column.name });
    });
  return strays;
}

/** What the database makes of a value when it is asked for its text. */
function textOf(column: ColumnSpec, row: Row): string | null {
  const value = columnValue(column, row);
  if (value === null) return null;
  return Buffer.isBuffer(value) ? value.toString('hex') : String(value);
}

/** A row, with columns as text where the statement asks for them. */
type Stored = StoredRow & Readonly<Record<`c${number}`, string | null>>;

async function eachStored(
  client: PoolClient,
  { statement, partition }: { readonly statement: string; readonly partition: number },
  visit: (row: Stored) => void,
): Promise<void> {
  await client.query(`DECLARE state NO SCROLL CURSOR FOR ${statement.replace('$1', String(partition))}`);
  for (;;) {
    const { rows } = await client.query<Stored>(`FETCH ${String(PAGE)} FROM state`);
    for (const row of rows) visit(row);
    if (rows.length < PAGE) break;
  }
  await client.query('CLOSE state');
}
