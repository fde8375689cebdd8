// SQL of the projection store, as pure functions of the kinds.
import { sha256Hex } from '@recourse/kernel';
import { decodeDoc } from '@recourse/event-log';
import type { ColumnType, Doc, KindSpec, Row } from '@recourse/event-log';
import { HEADS_TABLE, LASTING_COLUMN, tableOf } from './postgres-schema.js';
import { NOW_MS, numberOrNull, quoted } from './sql.js';

/** A statement that is prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A row as the statements here give it. */
export interface StoredRow {
  readonly group_key: string;
  readonly row_key: string;
  /** Decimal text: bigint. */
  readonly due_at: string | null;
  readonly doc: Buffer;
  /** Lasting members; null or missing where the kind has none. */
  readonly lasting?: Buffer | null;
}

export function rowOf(kind: string, { group_key, row_key, due_at, ...stored }: StoredRow): Row {
  return { kind, group: group_key, key: row_key, dueAt: numberOrNull(due_at), doc: docOf(stored) };
}

/** The doc of a row, from where its table keeps it. */
export function docOf({ doc, lasting }: Pick<StoredRow, 'doc' | 'lasting'>): Doc {
  return lasting === null || lasting === undefined ? decodeDoc(doc) : { ...decodeDoc(doc), ...decodeDoc(lasting) };
}

/** One kind's part of a small projection. */
export interface KindPart {
  readonly spec: KindSpec;
  readonly puts: boolean;
  /** Rows that are there and keep their lasting members. */
  readonly updates: boolean;
  readonly deletes: boolean;
}

/** A log and the shape of its tables (`shapeOf`). */
export interface ShapedLog {
  readonly log: string;
  readonly shape: string;
}

const ROW_COLUMNS = ['group_key', 'row_key', 'due_at'] as const;
/** partition, seq, hash, offset, decided_at, reacted_seq, reacted_offset, cursors, from seq, from hash */
const HEAD_SET =
  'seq = $2, head_hash = $3, log_offset = $4, decided_at = $5, reacted_seq = $6, reacted_offset = $7, cursors = $8';

/** A column a row is written with. */
interface ValueColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** Columns of a kind's table in the order in which values are given, without the partition. */
export function valueColumns({ columns, lasting }: KindSpec): readonly ValueColumn[] {
  return [...columnsOf(columns), ...(lasting === undefined ? [] : [{ name: LASTING_COLUMN, type: 'bytea' as const }])];
}

/** Those a row is written with that keeps its lasting members. */
export function updateColumns({ columns }: KindSpec): readonly ValueColumn[] {
  return columnsOf(columns.filter(({ isLasting }) => isLasting !== true));
}

function columnsOf(columns: readonly ValueColumn[]): readonly ValueColumn[] {
  return [
    { name: 'group_key', type: 'text' },
    { name: 'row_key', type: 'text' },
    { name: 'due_at', type: 'bigint' },
    ...columns.map(({ name, type }) => ({ name, type })),
    { name: 'doc', type: 'bytea' },
  ];
}

/** Moves the head, and answers a row iff it stood where the caller thinks (L7). The table refuses a shape that is not its own. */
function moveHead({ log, shape }: ShapedLog, isFirst: boolean): string {
  const heads = tableOf(log, HEADS_TABLE);
  return isFirst
    ? `INSERT INTO ${heads} (log_partition, seq, head_hash, log_offset, decided_at, reacted_seq, reacted_offset, cursors, shape) VALUES ($1::int, $2::bigint, $3::bytea, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bytea, '${shape}') ON CONFLICT DO NOTHING RETURNING 1`
    : `UPDATE ${heads} SET ${HEAD_SET}, shape = '${shape}' WHERE log_partition = $1 AND seq = $9 AND head_hash = $10 RETURNING 1`;
}

/**
 * A whole small projection as one statement: one round trip, one transaction, and every part looks at whether the head moved.
 *
 * Shape:  parameters are those of `moveHead`, then per part its puts (one array per value column), its updates (the same), then its deletes (groups, keys).
 */
export function projectSmall(place: ShapedLog, isFirst: boolean, parts: readonly KindPart[]): Statement {
  const { log } = place;
  let next = isFirst ? 9 : 11;
  const take = (type: string): string => {
    const text = `$${String(next)}::${type}[]`;
    next += 1;
    return text;
  };
  const clauses = parts.flatMap((part, n) => [
    ...(part.puts ? [`p${String(n)} AS (${putClause(log, part.spec, take)})`] : []),
    ...(part.updates
      ? [`u${String(n)} AS (${updateClause(log, part.spec, take)} AND EXISTS (SELECT 1 FROM moved))`]
      : []),
    ...(part.deletes ? [`d${String(n)} AS (${deleteClause(log, part.spec, take)})`] : []),
  ]);
  return named(
    `WITH moved AS (${moveHead(place, isFirst)})${clauses.map((clause) => `, ${clause}`).join('')} SELECT count(*)::int AS moved FROM moved`,
  );
}

/** All rows of the groups and the time, in one answer. Parameters: partition, then one array of groups per kind. */
export function loadGroups(log: string, specs: readonly KindSpec[]): Statement {
  const kinds = specs.map(
    (spec, n) =>
      `(SELECT ${String(n)} AS n, group_key, row_key, due_at, doc, ${lastingOf(spec)} FROM ${tableOf(log, spec.table)} WHERE log_partition = $1 AND group_key = ANY($${String(n + 2)}::text[]))`,
  );
  const time = `(SELECT -1 AS n, NULL::text COLLATE "C" AS group_key, (SELECT seq FROM ${tableOf(log, HEADS_TABLE)} WHERE log_partition = $1)::text COLLATE "C" AS row_key, ${NOW_MS} AS due_at, NULL::bytea AS doc, NULL::bytea AS lasting)`;
  return named(`${[time, ...kinds].join(' UNION ALL ')} ORDER BY n, group_key, row_key`);
}

/** The head, then groups that have rows, in one answer. Parameters: partition, limit, then the group they come after, unless it is the first page. */
export function groupsOf(log: string, spec: KindSpec, isFirst: boolean): Statement {
  const behind = isFirst ? '' : ' AND group_key > $3';
  const head = `SELECT NULL::text COLLATE "C" AS group_key, (SELECT seq FROM ${tableOf(log, HEADS_TABLE)} WHERE log_partition = $1)::text AS head`;
  const groups = `(SELECT DISTINCT group_key, NULL::text FROM ${tableOf(log, spec.table)} WHERE log_partition = $1${behind} ORDER BY group_key LIMIT $2)`;
  return named(`${head} UNION ALL ${groups} ORDER BY group_key NULLS FIRST`);
}

/** Timers of all kinds. Parameters: partition, until, limit. */
export function dueTimers(log: string, specs: readonly KindSpec[]): Statement {
  const kinds = specs.map(
    (spec, n) =>
      `(SELECT ${String(n)} AS n, group_key, row_key, due_at FROM ${tableOf(log, spec.table)} WHERE log_partition = $1 AND due_at <= $2 ORDER BY due_at, group_key, row_key LIMIT $3)`,
  );
  return named(`${kinds.join(' UNION ALL ')} ORDER BY due_at, n, group_key, row_key LIMIT $3`);
}

/** All rows of a kind in order of group and key. Parameter: partition. */
export function wholeKind(log: string, spec: KindSpec): string {
  return `SELECT group_key, row_key, due_at, doc, ${lastingOf(spec)} FROM ${tableOf(log, spec.table)} WHERE log_partition = $1 ORDER BY group_key, row_key`;
}

/** The same, with what each column holds as text: c0, c1, … in the order of the kind. */
export function wholeKindWithColumns(log: string, spec: KindSpec): string {
  const texts = spec.columns.map(({ name, type }, n) => {
    const text = type === 'bytea' ? `encode(${quoted(name)}, 'hex')` : `${quoted(name)}::text`;
    return `, ${text} AS c${String(n)}`;
  });
  return wholeKind(log, spec).replace(' FROM ', `${texts.join('')} FROM `);
}

/** Puts what a stage holds. */
export function mergeStage(log: string, spec: KindSpec, stage: string): string {
  const names = ['log_partition', ...valueColumns(spec).map(({ name }) => name)].map(quoted).join(', ');
  return `INSERT INTO ${tableOf(log, spec.table)} (${names}) SELECT ${names} FROM ${stage} ${onConflict(spec)}`;
}

export function copyInto(table: string, spec: KindSpec): string {
  return `COPY ${table} (${['log_partition', ...valueColumns(spec).map(({ name }) => name)].map(quoted).join(', ')}) FROM STDIN (FORMAT binary)`;
}

function putClause(log: string, spec: KindSpec, take: (type: string) => string): string {
  const columns = valueColumns(spec);
  const arrays = columns.map(({ type }) => take(type)).join(', ');
  return `INSERT INTO ${tableOf(log, spec.table)} (log_partition, ${columns.map(({ name }) => quoted(name)).join(', ')}) SELECT $1::int, u.* FROM unnest(${arrays}) AS u WHERE EXISTS (SELECT 1 FROM moved) ${onConflict(spec)}`;
}

function updateClause(log: string, spec: KindSpec, take: (type: string) => string): string {
  const columns = updateColumns(spec);
  const arrays = columns.map(({ type }) => take(type)).join(', ');
  const names = columns.map(({ name }) => quoted(name));
  const set = names.slice(2).map((name) => `${name} = u.${name}`);
  return `UPDATE ${tableOf(log, spec.table)} t SET ${set.join(', ')} FROM unnest(${arrays}) AS u (${names.join(', ')}) WHERE t.log_partition = $1::int AND t.group_key = u.group_key AND t.row_key = u.row_key`;
}

function lastingOf({ lasting }: KindSpec): string {
  return lasting === undefined ? 'NULL::bytea AS lasting' : LASTING_COLUMN;
}

function deleteClause(log: string, spec: KindSpec, take: (type: string) => string): string {
  return `DELETE FROM ${tableOf(log, spec.table)} t USING unnest(${take('text')}, ${take('text')}) AS u (g, k) WHERE t.log_partition = $1 AND t.group_key = u.g AND t.row_key = u.k AND EXISTS (SELECT 1 FROM moved)`;
}

function onConflict(spec: KindSpec): string {
  const set = valueColumns(spec)
    .map(({ name }) => name)
    .filter((name) => name !== ROW_COLUMNS[0] && name !== ROW_COLUMNS[1]);
  return `ON CONFLICT (log_partition, group_key, row_key) DO UPDATE SET ${set.map((name) => `${quoted(name)} = EXCLUDED.${quoted(name)}`).join(', ')}`;
}

function named(text: string): Statement {
  return { name: `recourse_${sha256Hex(text).slice(0, 24)}`, text };
}
