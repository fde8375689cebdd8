// SQL of the lists of people, as pure functions of what is asked.
//
// Invariants
//   G1. A read that names the group of its rows goes by the primary key, which begins with the partition: so it names all of these.
import { columnText } from '@recourse/event-log';
import type { ColumnValue, KindSpec } from '@recourse/event-log';
import { HEADS_TABLE, LASTING_COLUMN, tableOf } from './postgres-schema.js';
import { identifier, Parameters, whereOf } from './sql.js';
import type { Query, SqlValue } from './sql.js';
import type { PageQuery } from '../projection-reads.js';

type Narrowed = Pick<PageQuery, 'log' | 'where'>;

const PLACE = 'log_partition, group_key, row_key';
const KEYS: readonly string[] = ['group_key', 'row_key'];

/** Rows of a page and one more, which tells whether there is another, in the order of their places. */
export function pageStatement(spec: KindSpec, { log, where, after, limit }: Omit<PageQuery, 'kind'>): Query {
  const given = new Parameters();
  const behind = after === undefined ? [] : [`(${PLACE}) > (${given.list([after.partition, after.group, after.key])})`];
  const narrowed = [...conditionsOf(spec, { log, where }, given), ...behind];
  const lasting = spec.lasting === undefined ? '' : `, ${LASTING_COLUMN}`;
  return {
    text: `SELECT ${PLACE}, due_at, doc${lasting} FROM ${tableOf(log, spec.table)}${whereOf(narrowed)} ORDER BY ${PLACE} LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** How many there are. */
export function countStatement(spec: KindSpec, { log, where }: Narrowed): Query {
  const given = new Parameters();
  const narrowed = whereOf(conditionsOf(spec, { log, where }, given));
  return { text: `SELECT count(*)::int AS count FROM ${tableOf(log, spec.table)}${narrowed}`, values: given.values };
}

/** Rows of every partition of a log lie in these; the primary key of its tables begins with them. */
export function anyPartition(log: string): string {
  return `log_partition = ANY(ARRAY(SELECT log_partition FROM ${tableOf(log, HEADS_TABLE)}))`;
}

function conditionsOf(spec: KindSpec, { log, where }: Narrowed, given: Parameters): readonly string[] {
  const named = Object.entries(where).map(([name, value]) => {
    if (!KEYS.includes(name) && !spec.columns.some((column) => column.name === name))
      throw new TypeError(`no column ${name} in ${spec.kind}`);
    const column = identifier(name);
    if (value === null) return `${column} IS NULL`;
    return isList(value)
      ? `${column} = ANY(${given.add(value.map((one) => textIn(name, one)))})`
      : `${column} = ${given.add(comparable(name, value))}`;
  });
  return 'group_key' in where ? [anyPartition(log), ...named] : named;
}

function isList(value: ColumnValue | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}

function comparable(name: string, value: Exclude<ColumnValue, null>): SqlValue {
  return typeof value === 'string' ? textIn(name, value) : value;
}

/** Columns hold shortened text; keys do not. */
function textIn(name: string, value: string): string {
  return KEYS.includes(name) ? value : columnText(value);
}
