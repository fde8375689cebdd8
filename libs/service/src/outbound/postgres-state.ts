// What a projection holds as one hash, read in one snapshot; nothing is written.
import { createHash } from 'node:crypto';
import { canonicalRow, compareText } from '@recourse/event-log';
import type { KindSpec, Row } from '@recourse/event-log';
import type { Pool, PoolClient } from 'pg';
import { coded, createPool, inTransaction } from './postgres-connection.js';
import type { PostgresOptions } from './postgres-connection.js';
import { HEADS_TABLE, tableOf } from './postgres-schema.js';
import type { ProjectedLog } from './postgres-schema.js';
import { rowOf, wholeKind } from './postgres-statements.js';
import type { StoredRow } from './postgres-statements.js';

/** The head of a projection and the hash of its rows at that head. */
export interface ProjectedState {
  readonly seq: number;
  readonly hash: Buffer;
  /** SHA-256 in hex. */
  readonly stateHash: string;
}

/** One snapshot, so that what is projected meanwhile changes nothing. */
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
const PAGE = 2_000;

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
      } = await client.query<{ seq: string; hash: Buffer }>(
        `SELECT seq, hash FROM ${tableOf(log, HEADS_TABLE)} WHERE log_partition = $1`,
        [partition],
      );
      return head === undefined
        ? null
        : { seq: Number(head.seq), hash: head.hash, stateHash: await hashRows(client, { log, kinds }, partition) };
    }),
  );
}

/** SHA-256 in hex over all rows of a partition, as `PartitionStore.stateHash` says; inside the caller's transaction. */
export async function hashRows(client: PoolClient, { log, kinds }: ProjectedLog, partition: number): Promise<string> {
  const hash = createHash('sha256');
  for (const spec of [...kinds].sort((a, b) => compareText(a.kind, b.kind)))
    await eachRow(client, { log, spec, partition }, (row) => {
      hash.update(canonicalRow(row));
    });
  return hash.digest('hex');
}

interface KindPlace {
  readonly log: string;
  readonly spec: KindSpec;
  readonly partition: number;
}

async function eachRow(
  client: PoolClient,
  { log, spec, partition }: KindPlace,
  visit: (row: Row) => void,
): Promise<void> {
  await client.query(`DECLARE state NO SCROLL CURSOR FOR ${wholeKind(log, spec).replace('$1', String(partition))}`);
  for (;;) {
    const { rows } = await client.query<StoredRow>(`FETCH ${String(PAGE)} FROM state`);
    for (const row of rows) visit(rowOf(spec.kind, row));
    if (rows.length < PAGE) break;
  }
  await client.query('CLOSE state');
}
