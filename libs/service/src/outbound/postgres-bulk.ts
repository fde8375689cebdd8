// Many rows at once: COPY straight into the table while rows turn out new, else COPY into a stage and merge.
import { columnValue, docBytes, partedBytes, restBytes } from '@recourse/event-log';
import type { ColumnValue, KindSpec, Row } from '@recourse/event-log';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { encodeArrays } from './postgres-array.js';
import { encodeCopy } from './postgres-copy.js';
import { tableOf } from './postgres-schema.js';
import { copyInto, mergeStage, updateColumns, valueColumns } from './postgres-statements.js';

const UNIQUE_VIOLATION = '23505';
/** A table in which new rows turned out old is merged into this many times before a plain COPY is tried again, at most. */
const MERGES_MAX = 64;

interface Place {
  readonly log: string;
  readonly partition: number;
  readonly spec: KindSpec;
}

/** Puts many rows and remembers, per table, whether they were new. */
export class BulkPuts {
  private readonly merges = new Map<string, { readonly left: number; readonly next: number }>();

  /** Rows of a first projection are new: a plain COPY is tried first, and a merge follows where one was there already. */
  async put(client: PoolClient, { log, partition, spec }: Place, rows: readonly Row[]): Promise<void> {
    const table = tableOf(log, spec.table);
    const types = valueColumns(spec).map(({ type }) => type);
    const bytes = encodeCopy(partition, types, rows, (row) => valuesOf(spec, row));
    if (this.mayBeNew(table)) {
      await client.query('SAVEPOINT plain');
      const areNew = await copyNew(client, copyInto(table, spec), bytes);
      this.learn(table, areNew);
      if (areNew) return;
      await client.query('ROLLBACK TO SAVEPOINT plain');
    }
    const stage = `pg_temp."stage_${spec.table}"`;
    await client.query(`CREATE TEMP TABLE IF NOT EXISTS "stage_${spec.table}" (LIKE ${table}) ON COMMIT DELETE ROWS`);
    await copy(client, copyInto(stage, spec), bytes);
    await client.query(mergeStage(log, spec, stage));
  }

  private mayBeNew(table: string): boolean {
    const merges = this.merges.get(table);
    if (!merges || merges.left <= 0) return true;
    this.merges.set(table, { ...merges, left: merges.left - 1 });
    return false;
  }

  private learn(table: string, wereNew: boolean): void {
    if (wereNew) {
      this.merges.delete(table);
      return;
    }
    const next = Math.min((this.merges.get(table)?.next ?? 1) * 2, MERGES_MAX);
    this.merges.set(table, { left: next, next });
  }
}

/** Rows by column, as `valueColumns` orders them: an array for each. */
export function columnsOf(spec: KindSpec, rows: readonly Row[]): readonly Buffer[] {
  const types = valueColumns(spec).map(({ type }) => type);
  return encodeArrays(types, rows, (row) => valuesOf(spec, row));
}

/** Rows that keep their lasting members by column, as `updateColumns` orders them: an array for each. */
export function updatesOf(spec: KindSpec, rows: readonly Row[]): readonly Buffer[] {
  const types = updateColumns(spec).map(({ type }) => type);
  const columns = spec.columns.filter(({ isLasting }) => isLasting !== true);
  return encodeArrays(types, rows, (row) => [
    row.group,
    row.key,
    row.dueAt,
    ...columns.map((column) => columnValue(column, row)),
    restBytes(spec.lasting ?? [], row.doc),
  ]);
}

/** Groups and keys of rows: an array for each. */
export function addressesOf(addresses: readonly Pick<Row, 'group' | 'key'>[]): readonly Buffer[] {
  return encodeArrays(['text', 'text'], addresses, ({ group, key }) => [group, key]);
}

function valuesOf({ columns, lasting }: KindSpec, row: Row): readonly ColumnValue[] {
  const values = [row.group, row.key, row.dueAt, ...columns.map((column) => columnValue(column, row))];
  if (lasting === undefined) return [...values, docBytes(row.doc)];
  const { rest, lasting: kept } = partedBytes(lasting, row.doc);
  return [...values, rest, kept];
}

/** False when a row was there already. */
async function copyNew(client: PoolClient, statement: string, bytes: Buffer): Promise<boolean> {
  try {
    await copy(client, statement, bytes);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION) return false;
    throw error;
  }
}

async function copy(client: PoolClient, statement: string, bytes: Buffer): Promise<void> {
  await pipeline(Readable.from([bytes]), client.query(copyFrom(statement)));
}
