// Reads about consumers that the shared lists do not give: the rolled-back set behind a position, and what was measured of each consumer.
//
// Invariants
//   R1. A read that is narrowed to a tenant has the tenant in its statement.
//   R2. A poll that passes the cursor of the one before misses no row: rows of a partition appear in the order of their
//       marks, and the cursor holds the last one read of each partition.
import { isInScope } from '@recourse/contract';
import { decodeDoc } from '@recourse/event-log';
import { Parameters, Queries, tableOf, whereOf } from '@recourse/service';
import type { Query } from '@recourse/service';
import type { RolledBack, Scoped } from '../rules/consumer/consumer.messages.js';
import { polledOf } from '../rules/rollback/rollback.messages.js';
import type { RollbackDoc } from '../rules/rollback/rollback.messages.js';
import type { Measured } from '../rules/consumer/misfit.decisions.js';
import { MUTATIONS_LOG } from './mutation-statements.js';

const ROLLBACKS = tableOf(MUTATIONS_LOG, 'rollbacks');
const DELIVERY = tableOf(MUTATIONS_LOG, 'delivery');

/** Last mark that was read of each partition: its record, by number, and its place in that. */
export type PollCursor = readonly (readonly [partition: number, seq: number, member: number])[];

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

interface PollRow {
  readonly log_partition: number;
  readonly seq: string;
  readonly member: string;
  readonly doc: Buffer;
}

export class ConsumerQueries extends Queries {
  async rolledBack(asked: PollAsked): Promise<Polled> {
    const rows = await this.rows<PollRow>('read what was rolled back', rolledBackQuery(asked));
    const read = rows.slice(0, asked.limit);
    const cursor = new Map(asked.after.map((place) => [place[0], place]));
    for (const { log_partition, seq, member } of read)
      cursor.set(log_partition, [log_partition, Number(seq), Number(member)]);
    const scope = asked.scope.join('/');
    // Rows of this table are rollbacks. The statement reads a little more than a scope covers.
    const items = read
      .flatMap(({ doc }) => polledOf(decodeDoc(doc) as RollbackDoc))
      .filter((row) => isInScope(scope, scopedOf(row)));
    return { items, cursor: [...cursor.values()].sort(([a], [b]) => a - b), more: rows.length > asked.limit };
  }

  report(tenant: string | undefined, consumer: string | undefined, limit: number): Promise<readonly ConsumerReport[]> {
    return this.summed('sum what consumers answered', reportQuery(tenant, consumer, limit));
  }
}

/** Rows behind a cursor and one more, in order of partition and mark; at least those that the scope covers. The mark is ordered as a number: no column of the answer may take its name. */
export function rolledBackQuery({ scope, tenant, after, limit }: PollAsked): Query {
  const given = new Parameters();
  const [scoped, agent, run, ...subject] = scope;
  const named = { tenant: tenant ?? part(scoped), agent_id: part(agent), run_id: part(run) };
  const equal = given.equal(named);
  const about = part(subject[0]) === undefined ? [] : [`starts_with(subject_ref, ${given.add(subject[0] ?? '')})`];
  const passed = after.map(
    ([partition, seq, member]) =>
      `(log_partition = ${given.add(partition)} AND (seq, member) > (${given.add(seq)}, ${given.add(member)}))`,
  );
  const fresh =
    after.length === 0
      ? []
      : [
          `(${[...passed, `log_partition NOT IN (${given.list(after.map(([partition]) => partition))})`].join(' OR ')})`,
        ];
  const where = ['seq IS NOT NULL', ...equal, ...about, ...fresh];
  return {
    text: `SELECT log_partition, seq, member, doc FROM ${ROLLBACKS}${whereOf(where)} ORDER BY log_partition, seq, member LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** Silence that a person has looked at is silence. */
const COUNTED = { acknowledged: ['acknowledged'], overdue: ['overdue', 'reviewed'], waiting: ['waiting'] };

/** One row per tenant, consumer and mode, its figures as float8: what the driver gives as numbers. The shortest time to users that it declared counts. */
export function reportQuery(tenant: string | undefined, consumer: string | undefined, limit: number): Query {
  const given = new Parameters();
  const where = given.equal({ tenant, consumer });
  const quantile = (part: number, column: string, name: string): string =>
    `round(percentile_cont(${String(part)}) WITHIN GROUP (ORDER BY ${column}))::float8 AS ${name}`;
  const sums = [
    'min(commit_to_user_ms)::float8 AS commit_to_user_ms',
    'count(*)::float8 AS due',
    ...Object.entries(COUNTED).map(
      ([name, phases]) => `count(*) FILTER (WHERE phase IN ('${phases.join("', '")}'))::float8 AS ${name}`,
    ),
    'count(*) FILTER (WHERE is_late)::float8 AS late',
    quantile(0.5, 'after_ms', 'p50_ms'),
    quantile(0.99, 'after_ms', 'p99_ms'),
    quantile(0.5, 'trigger_ms', 'trigger_p50_ms'),
    quantile(0.99, 'trigger_ms', 'trigger_p99_ms'),
    'coalesce(sum(emissions), 0)::float8 AS emissions',
    'coalesce(sum(late_emissions), 0)::float8 AS late_emissions',
    'count(*) FILTER (WHERE late_emissions > 0)::float8 AS late_containments',
    'max(latest_ms)::float8 AS latest_ms',
  ];
  return {
    text: `SELECT tenant, consumer, mode, ${sums.join(', ')} FROM ${DELIVERY}${whereOf(where)} GROUP BY tenant, consumer, mode ORDER BY tenant, consumer, mode LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** A part that narrows; undefined for one that does not. */
function part(text: string | undefined): string | undefined {
  return text === '*' ? undefined : text;
}

function scopedOf({ tenant, agent_id, run_id, subject_ref }: RolledBack): Scoped {
  return { tenant, agent: agent_id, run: run_id, subject: subject_ref ?? '' };
}
