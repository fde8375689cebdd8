// Reads about consumers that the shared lists do not give: the rolled-back set behind a position, and what was measured of each consumer.
//
// Invariants
//   R1. A read that is narrowed to a tenant has the tenant in its statement.
//   R2. A poll that passes the cursor of the one before misses no row: rows of a partition appear in the order of their
//       marks, and the cursor holds the last one read of each partition.
import { isInScope } from '@recourse/contract';
import { decodeDoc } from '@recourse/event-log';
import { coded, tableOf } from '@recourse/service';
import type { createPool } from '@recourse/service';
import type { RolledBack, Scoped } from '../domain/consumer/consumer.messages.js';
import type { Measured } from '../domain/consumer/misfit.decisions.js';
import { MUTATIONS_LOG } from './mutation-statements.js';
import type { Query } from './mutation-statements.js';

const ROLLED_BACK = tableOf(MUTATIONS_LOG, 'rolled_back');
const DELIVERY = tableOf(MUTATIONS_LOG, 'delivery');

/** Last mark that was read of each partition, by number. */
export type PollCursor = readonly (readonly [partition: number, seq: number])[];

export interface PollAsked {
  /** Parts of the scope, from the tenant down; `*` stands for one part. */
  readonly scope: readonly string[];
  /** Undefined for who sees all tenants. */
  readonly tenant: string | undefined;
  readonly after: PollCursor;
  /** Rows at most. */
  readonly limit: number;
}

export interface Polled {
  readonly items: readonly RolledBack[];
  readonly cursor: PollCursor;
  /** There are more rows behind the cursor now. */
  readonly more: boolean;
}

/** Acknowledgements of one consumer in one mode. */
export interface ConsumerReport extends Measured {
  readonly tenant: string;
  readonly consumer: string;
  readonly due: number;
  readonly acknowledged: number;
  readonly late: number;
  readonly overdue: number;
  readonly waiting: number;
  readonly p50_ms: number | null;
  /** From the evidence, milliseconds. */
  readonly trigger_p50_ms: number | null;
  readonly trigger_p99_ms: number | null;
  readonly emissions: number;
  /** Rollbacks that reached it after its users had seen what fell. */
  readonly late_containments: number;
  /** How long after a mark the last emission went out, milliseconds. */
  readonly latest_ms: number | null;
}

type Pool = ReturnType<typeof createPool>;
interface PollRow {
  readonly log_partition: number;
  readonly seq: string;
  readonly doc: Buffer;
}

/** Errors of every read: Failure(DATABASE_UNAVAILABLE). */
export class ConsumerQueries {
  constructor(private readonly pool: Pool) {}

  async rolledBack(asked: PollAsked): Promise<Polled> {
    const rows = await this.rows<PollRow>('read what was rolled back', rolledBackQuery(asked));
    const read = rows.slice(0, asked.limit);
    const cursor = new Map(asked.after);
    for (const { log_partition, seq } of read) cursor.set(log_partition, Number(seq));
    const scope = asked.scope.join('/');
    // Rows of this table are written from rolled-back commits alone. The statement reads a little more than a scope covers.
    const items = read.map(({ doc }) => decodeDoc(doc) as RolledBack).filter((row) => isInScope(scope, scopedOf(row)));
    return { items, cursor: [...cursor].sort(([a], [b]) => a - b), more: rows.length > asked.limit };
  }

  async report(
    tenant: string | undefined,
    consumer: string | undefined,
    limit: number,
  ): Promise<readonly ConsumerReport[]> {
    const rows = await this.rows<{ readonly [Name in keyof ConsumerReport]: ConsumerReport[Name] | string }>(
      'sum what consumers answered',
      reportQuery(tenant, consumer, limit),
    );
    return rows.map(
      (row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            TEXTS.includes(name) || value === null ? value : Number(value),
          ]),
        ) as unknown as ConsumerReport,
    ); // the statement has these columns
  }

  /** Nest calls it when the process ends. */
  async onModuleDestroy(): Promise<void> {
    await this.pool.end();
  }

  private rows<Row extends object>(what: string, { text, values }: Query): Promise<readonly Row[]> {
    return coded(what, async () => (await this.pool.query<Row>(text, [...values])).rows);
  }
}

const TEXTS: readonly string[] = ['tenant', 'consumer', 'mode'];

/** Rows behind a cursor and one more, in order of partition and mark; at least those that the scope covers. The mark is ordered as a number: no column of the answer may take its name. */
export function rolledBackQuery({ scope, tenant, after, limit }: PollAsked): Query {
  const values: (string | number)[] = [];
  const [scoped, agent, run, ...subject] = scope;
  const named = { tenant: tenant ?? part(scoped), agent_id: part(agent), run_id: part(run) };
  const equal = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} = ${parameter(values, value)}`],
  );
  const about =
    part(subject[0]) === undefined ? [] : [`starts_with(subject_ref, ${parameter(values, subject[0] ?? '')})`];
  const passed = after.map(
    ([partition, seq]) => `(log_partition = ${parameter(values, partition)} AND seq > ${parameter(values, seq)})`,
  );
  const fresh =
    after.length === 0
      ? []
      : [
          `(${[...passed, `log_partition NOT IN (${after.map(([partition]) => parameter(values, partition)).join(', ')})`].join(' OR ')})`,
        ];
  const where = [...equal, ...about, ...fresh];
  return {
    text: `SELECT log_partition, seq, doc FROM ${ROLLED_BACK}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`} ORDER BY log_partition, seq LIMIT ${parameter(values, limit + 1)}`,
    values,
  };
}

/** One row per tenant, consumer and mode; the shortest time to users that it declared counts. */
export function reportQuery(tenant: string | undefined, consumer: string | undefined, limit: number): Query {
  const values: (string | number)[] = [];
  const where = Object.entries({ tenant, consumer }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} = ${parameter(values, value)}`],
  );
  const quantile = (part: number, column: string, name: string): string =>
    `round(percentile_cont(${String(part)}) WITHIN GROUP (ORDER BY ${column}))::text AS ${name}`;
  const sums = [
    'min(commit_to_user_ms)::text AS commit_to_user_ms',
    'count(*)::text AS due',
    ...['acknowledged', 'overdue', 'waiting'].map(
      (phase) => `count(*) FILTER (WHERE phase = '${phase}')::text AS ${phase}`,
    ),
    'count(*) FILTER (WHERE is_late)::text AS late',
    quantile(0.5, 'after_ms', 'p50_ms'),
    quantile(0.99, 'after_ms', 'p99_ms'),
    quantile(0.5, 'trigger_ms', 'trigger_p50_ms'),
    quantile(0.99, 'trigger_ms', 'trigger_p99_ms'),
    'coalesce(sum(emissions), 0)::text AS emissions',
    'coalesce(sum(late_emissions), 0)::text AS late_emissions',
    'count(*) FILTER (WHERE late_emissions > 0)::text AS late_containments',
    'max(latest_ms)::text AS latest_ms',
  ];
  return {
    text: `SELECT tenant, consumer, mode, ${sums.join(', ')} FROM ${DELIVERY}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`} GROUP BY tenant, consumer, mode ORDER BY tenant, consumer, mode LIMIT ${parameter(values, limit + 1)}`,
    values,
  };
}

/** A part that narrows; undefined for one that does not. */
function part(text: string | undefined): string | undefined {
  return text === '*' ? undefined : text;
}

function scopedOf({ tenant, agent_id, run_id, subject_ref }: RolledBack): Scoped {
  return { tenant, agent: agent_id, run: run_id, subject: subject_ref ?? '' };
}

function parameter(values: (string | number)[], value: string | number): string {
  return `$${values.push(value)}`;
}
