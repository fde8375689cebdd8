// The tables of a service's projection: one schema per log, one table per kind, one table of heads.
//
// Everything here is a cache of the log (L8). So there is one migration, named after the digest of its own statements:
// when a kind changes shape, or what records leave in it, the old tables go, the new ones come empty, and the loop fills them from offset 0.
// Whoever moves a head says which shape it writes, and the table takes its own alone: an instance of another version that still runs
// (a rolling upgrade) changes no row of the tables that replaced its own.
import { Failure, sha256Hex } from '@recourse/kernel';
import type { ColumnType, KindSpec } from '@recourse/event-log';
import { DatabaseError } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { identifier, quoted } from './sql.js';

/** A log whose rows live in this database. */
export interface ProjectedLog {
  /** Topic of the log. */
  readonly log: string;
  readonly kinds: readonly KindSpec[];
  readonly views?: readonly ProjectedView[];
  /** Of what its records leave in the rows; 1 without it. */
  readonly edition?: number;
}

/** A view over the tables of a log, for people and programs with a database role. */
export interface ProjectedView {
  readonly name: string;
  /** The statement behind it, a constant of the service. */
  readonly select: string;
}

export const HEADS_TABLE = 'heads';

/** TypeORM wants 13 digits at the end of a migration's name and orders by them; ours has no order to keep. */
const MIGRATION_EPOCH = '1700000000000';

/** Schema a log's tables live in: `recourse.mutations` has `mutations`. */
export function schemaOf(log: string): string {
  return identifier(log.replace(/^[^.]*\./, '').replaceAll(/[^a-z0-9]/g, '_'));
}

/** Qualified name of a table; names are checked, so they need no quoting beyond the quotes. */
export function tableOf(log: string, table: string): string {
  return `${quoted(schemaOf(log))}.${quoted(table)}`;
}

/** Qualified names of all tables. */
export function tablesOf(logs: readonly ProjectedLog[]): readonly string[] {
  return logs.flatMap(({ log, kinds }) =>
    [HEADS_TABLE, ...kinds.map(({ table }) => table)].map((table) => tableOf(log, table)),
  );
}

/** Statements that make all tables from nothing. */
export function schemaStatements(logs: readonly ProjectedLog[]): readonly string[] {
  return logs.flatMap((log) => statementsOf(log, shapeOf(log)));
}

/** Of a log's tables: 16 hex digits that two versions share iff they make the same tables and leave the same in them. */
export function shapeOf(log: ProjectedLog): string {
  return sha256Hex(statementsOf(log, '').join(';\n')).slice(0, 16);
}

/** What an instance meets whose tables another version has replaced. */
export function otherVersion(log: string): Failure {
  return new Failure(
    'TABLES_REPLACED',
    `the tables of ${log} are those of another version of this service, so this instance neither reads nor writes them; end it, or go back to its version on all instances`,
  );
}

const CHECK_VIOLATION = '23514';

/** Was a head refused by its table? The one check there is that of a head's shape. */
export function isOtherShape(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === CHECK_VIOLATION;
}

function statementsOf({ log, kinds, views = [], edition = 1 }: ProjectedLog, shape: string): readonly string[] {
  return [
    `DROP SCHEMA IF EXISTS "${schemaOf(log)}" CASCADE`,
    `CREATE SCHEMA "${schemaOf(log)}"`,
    ...(edition === 1 ? [] : [`COMMENT ON SCHEMA "${schemaOf(log)}" IS 'edition ${String(edition)} of its rows'`]),
    headsStatement(log, shape),
    ...kinds.flatMap((spec) => kindStatements(log, spec)),
    ...emptiedStatements(log, [HEADS_TABLE, ...kinds.map(({ table }) => table)]),
    ...views.map(({ name, select }) => `CREATE VIEW ${tableOf(log, name)} AS ${select}`),
  ];
}

/** The one migration of a service, as TypeORM runs it, and its name. */
export function migrationOf(logs: readonly ProjectedLog[]): {
  readonly name: string;
  readonly migration: new () => MigrationInterface;
} {
  const statements = schemaStatements(logs);
  const name = `Projection${sha256Hex(statements.join(';\n')).slice(0, 16)}${MIGRATION_EPOCH}`;
  return { name, migration: projection(name, logs, statements) };
}

function projection(
  name: string,
  logs: readonly ProjectedLog[],
  statements: readonly string[],
): new () => MigrationInterface {
  return class Projection implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      // An earlier shape that is put back later has to be made again.
      await runner.query('DELETE FROM migrations');
      for (const statement of statements) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const { log } of logs) await runner.query(`DROP SCHEMA IF EXISTS "${schemaOf(log)}" CASCADE`);
    }
  };
}

export const LASTING_COLUMN = 'lasting';

/** The hash is no longer called `hash`: versions that know no shape find no head here and move none. */
function headsStatement(log: string, shape: string): string {
  return `CREATE TABLE ${tableOf(log, HEADS_TABLE)} (log_partition int PRIMARY KEY, seq bigint NOT NULL, head_hash bytea NOT NULL, log_offset bigint NOT NULL,
    decided_at bigint NOT NULL, reacted_seq bigint NOT NULL, reacted_offset bigint NOT NULL, cursors bytea NOT NULL,
    shape text NOT NULL CHECK (shape = '${shape}'))`;
}

function kindStatements(log: string, { table, columns, indexes = [], lasting }: KindSpec): readonly string[] {
  const name = tableOf(log, table);
  const own = columns.map((column) => `${quoted(column.name)} ${sqlType(column.type)}`);
  return [
    `CREATE TABLE ${name} (${[
      'log_partition int NOT NULL',
      'group_key text COLLATE "C" NOT NULL',
      'row_key text COLLATE "C" NOT NULL',
      'due_at bigint',
      ...own,
      'doc bytea NOT NULL',
      ...(lasting === undefined ? [] : [`${LASTING_COLUMN} bytea NOT NULL`]),
      'PRIMARY KEY (log_partition, group_key, row_key)',
    ].join(', ')})`,
    `CREATE INDEX "${identifier(table)}_due" ON ${name} (log_partition, due_at) WHERE due_at IS NOT NULL`,
    ...indexes.map(
      (on, n) => `CREATE INDEX "${identifier(table)}_${String(n)}" ON ${name} (${on.map(quoted).join(', ')})`,
    ),
  ];
}

/** A table that somebody empties takes all others and the heads along: rows that lack some would be decided on as if they were all. */
function emptiedStatements(log: string, tables: readonly string[]): readonly string[] {
  const empty = `"${schemaOf(log)}".emptied()`;
  const names = tables.map((table) => tableOf(log, table));
  return [
    `CREATE FUNCTION ${empty} RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${names.map((name) => `DELETE FROM ${name};`).join(' ')} RETURN NULL; END $$`,
    ...names.map((name) => `CREATE TRIGGER emptied AFTER TRUNCATE ON ${name} EXECUTE FUNCTION ${empty}`),
  ];
}

function sqlType(type: ColumnType): string {
  return type === 'text' ? 'text COLLATE "C"' : type;
}
