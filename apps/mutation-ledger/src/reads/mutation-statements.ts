// SQL of the ledger's own reads, as pure functions of what is asked.
//
// Invariants
//   Q1. A read that is narrowed to a tenant has the tenant in every branch of its statement.
//   Q2. Pages are cut by the last row seen, in an order that no two rows share: a row that does not change is shown once.
import { EXECUTION_STATE_VALUES } from '@recourse/messages';
import { anyPartition, literals, Parameters, tableOf, whereOf } from '@recourse/service';
import type { Query } from '@recourse/service';

export const MUTATIONS_LOG = 'recourse.mutations';
const MUTATION = tableOf(MUTATIONS_LOG, 'mutation');
const COMPENSATION = tableOf(MUTATIONS_LOG, 'compensation');
const RECOVERED = tableOf(MUTATIONS_LOG, 'recovered');
const ROLLBACKS = tableOf(MUTATIONS_LOG, 'rollbacks');

/** Orders of a list, each with a last column that is unique within it. */
export const ORDERS = {
  /** Where rows lie; served by the primary key. */
  place: ['log_partition', 'group_key', 'row_key'],
  /** Longest untouched first; served by (status, updated_at). */
  updated: ['updated_at', 'row_key'],
  /** What closes next; served by (tenant, recoverability, expires_at). */
  expiry: ['expires_at', 'row_key'],
  /** What was heard of last comes first; served by (tenant, created_at). */
  newest: ['created_at', 'row_key'],
} as const satisfies Record<string, readonly string[]>;
export type Order = keyof typeof ORDERS;

/** Which way an order runs: how the next page compares with the last row of this one, and how a page is sorted. */
function directionOf(order: Order): { readonly isBehind: '<' | '>'; readonly by: string } {
  const [isBehind, way] = order === 'newest' ? (['<', ' DESC'] as const) : (['>', ''] as const);
  return { isBehind, by: ORDERS[order].map((name) => `${name}${way}`).join(', ') };
}

/** Values of the columns of an order at the last row of a page. */
export type Position = readonly (string | number)[];

/** What a column must be; undefined does not narrow. */
export type Filter = Readonly<
  Partial<
    Record<
      'tenant' | 'mutation_id' | 'run_id' | 'capability' | 'subject_ref' | 'status' | 'recoverability',
      string | undefined
    >
  >
>;

/** Bounds of the end of a window, epoch milliseconds: later than, and not later than. */
export interface Closing {
  readonly after: number;
  readonly until: number | null;
}

export interface PageAsked {
  readonly filter: Filter;
  readonly order: Order;
  readonly closing?: Closing;
  readonly after?: Position | undefined;
  /** Rows at most. */
  readonly limit: number;
}

/** Rows of a page and one more, which tells whether there is another. */
export function pageQuery({ filter, order, closing, after, limit }: PageAsked): Query {
  const given = new Parameters();
  const narrowed = conditions(filter, closing, given);
  const columns = ORDERS[order];
  const { isBehind, by } = directionOf(order);
  const behind = after === undefined ? [] : [`(${columns.join(', ')}) ${isBehind} (${given.list(after)})`];
  const where = [...narrowed, ...behind];
  return {
    text: `SELECT log_partition, ${columns.filter((name) => name !== 'log_partition').join(', ')}, doc, lasting FROM ${MUTATION}${whereOf(where)} ORDER BY ${by} LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** Rows of a page of effects and one more: mutations, and the compensations that were executed for some of them (A62). */
export function effectsQuery({ filter, order, after, limit }: Omit<PageAsked, 'closing'>): Query {
  const given = new Parameters();
  const columns = ORDERS[order].join(', ');
  const behind = after === undefined ? [] : [`(${columns}) > (${given.list(after)})`];
  const where = whereOf([...conditions(filter, undefined, given), ...behind]);
  const places = [...new Set(['log_partition', ...ORDERS[order]])].join(', ');
  const cut = ` ORDER BY ${columns} LIMIT ${given.add(limit + 1)}`;
  // Each is cut in its own order, which an index has: of both together all would be sorted.
  const mutations = `(SELECT ${places}, doc, lasting FROM ${MUTATION}${where}${cut})`;
  const compensations = `(SELECT ${places}, doc, NULL::bytea FROM ${COMPENSATION}${where}${cut})`;
  return {
    text: `SELECT * FROM (${mutations} UNION ALL ${compensations}) effects${cut}`,
    values: given.values,
  };
}

/** Sums per tenant and currency over everything that closes, not over a page of it. */
export function stakeQuery(filter: Filter, closing: Closing): Query {
  const given = new Parameters();
  const where = conditions(filter, closing, given);
  return {
    text: `SELECT tenant, value_currency AS currency, sum(value_minor)::text AS amount_minor, count(*)::int AS mutations, min(expires_at)::text AS closes_first_at FROM ${MUTATION}${whereOf(where)} GROUP BY tenant, value_currency ORDER BY tenant, value_currency`,
    values: given.values,
  };
}

/**
 * How an effect that was told stands. What closed a moment ago counts as beyond reversal before its row says so; what a
 * person has repaired or corrected is settled, what one has accepted stands. A read leaves nothing.
 */
const STANDING = (
  now: string,
): string => `CASE WHEN reason = 'READ_ONLY' THEN 'absent' WHEN execution_state IN ('executing', 'uncertain') THEN 'uncertain' WHEN execution_state <> 'succeeded' THEN 'absent'
  WHEN recoverability = 'reversal_available' AND expires_at > ${now} THEN 'open' WHEN recoverability = 'compensating' THEN 'recovering'
  WHEN recoverability = 'compensated' OR reason IN ('RESOLVED:repaired', 'RESOLVED:corrected') THEN 'settled' ELSE 'beyond' END`;

/**
 * Exposure per tenant, capability, contract and currency: what can be reversed, what no longer can, what nobody knows.
 *
 * Shape:  one row more than `limit` tells whether there are others.
 * Units:  `now` is epoch milliseconds of database time; money is minor units.
 */
export function exposureQuery(filter: Pick<Filter, 'tenant' | 'capability'>, now: number, limit: number): Query {
  const given = new Parameters();
  const standing = STANDING(`${given.add(now)}::bigint`);
  const told = `SELECT tenant, capability, contract_digest, value_currency AS currency, value_minor, expires_at, rollback_id, recoverability, ${standing} AS standing FROM ${MUTATION}${whereOf(conditions(filter, undefined, given))}`;
  const sums = [
    ...['open', 'recovering', 'beyond', 'uncertain', 'settled'].map(
      (name) => `count(*) FILTER (WHERE standing = '${name}')::int AS ${name}`,
    ),
    ...['open', 'recovering', 'beyond', 'uncertain'].map(
      (name) => `(sum(value_minor) FILTER (WHERE standing = '${name}'))::text AS ${name}_minor`,
    ),
    `(min(expires_at) FILTER (WHERE standing = 'open'))::text AS closes_first_at`,
    `count(*) FILTER (WHERE standing = 'beyond' AND recoverability IN ('reversal_expired', 'reversal_available'))::int AS expired`,
    `count(*) FILTER (WHERE standing NOT IN ('absent', 'uncertain'))::int AS happened`,
    `count(rollback_id) FILTER (WHERE standing NOT IN ('absent', 'uncertain'))::int AS contradicted`,
  ];
  return {
    text: `SELECT tenant, capability, contract_digest, currency, ${sums.join(', ')} FROM (${told}) m WHERE standing <> 'absent' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 4, 3 LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/**
 * Why people were asked about what agents did, the most frequent reason first, out of all that ended or landed with them.
 *
 * Shape:  one row more than `limit` tells whether there are others; a read can end in no way that matters.
 */
export function manualReasonsQuery(filter: Pick<Filter, 'tenant' | 'capability'>, limit: number): Query {
  const given = new Parameters();
  const where = [
    `(execution_state NOT IN ('planned', 'executing') OR asked_because IS NOT NULL)`,
    `reason IS DISTINCT FROM 'READ_ONLY'`,
    ...given.equal(filter),
  ];
  const counted = `SELECT tenant, capability, asked_because AS reason, count(*) AS times, sum(count(*)) OVER (PARTITION BY tenant, capability) AS ended FROM ${MUTATION}${whereOf(where)} GROUP BY 1, 2, 3`;
  return {
    text: `SELECT tenant, capability, reason, times::int, ended::int FROM (${counted}) c WHERE reason IS NOT NULL ORDER BY c.times DESC, tenant, capability, reason LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** What an id of the orchestrator's is about. */
export function namedQuery(id: string, tenant: string | undefined): Query {
  const given = new Parameters();
  const name = given.add(id);
  const narrowed = conditions({ tenant }, undefined, given);
  const rollback = `SELECT 'rollback' AS names, tenant, run_id, mutation_id FROM ${ROLLBACKS}${whereOf([`rollback_id = ${name}`, ...narrowed])}`;
  const recovery = `SELECT 'recovery', tenant, run_id, NULL FROM ${RECOVERED}${whereOf([`id = ${name}`, ...narrowed])}`;
  return { text: `${rollback} UNION ALL ${recovery} ORDER BY tenant LIMIT 1`, values: given.values };
}

/** Mutations of a run. */
export function runQuery(runId: string, tenant: string | undefined): Query {
  const given = new Parameters();
  const where = conditions({ run_id: runId, tenant }, undefined, given);
  return {
    text: `SELECT tenant, count(*)::int AS mutations FROM ${MUTATION}${whereOf(where)} GROUP BY tenant ORDER BY tenant LIMIT 1`,
    values: given.values,
  };
}

function conditions(filter: Filter, closing: Closing | undefined, given: Parameters): readonly string[] {
  // The index of capabilities has the state before them, and tells them apart by it.
  const states = filter.capability === undefined ? [] : [`execution_state IN (${literals(EXECUTION_STATE_VALUES)})`];
  // Rows of a run are one group, which the primary key finds.
  const { run_id: group_key, ...columns } = filter;
  const places = group_key === undefined ? [] : [anyPartition(MUTATIONS_LOG)];
  const equal = [...places, ...given.equal({ ...columns, group_key }), ...states];
  if (closing === undefined) return equal;
  const after = `expires_at > ${given.add(closing.after)}`;
  return [...equal, after, ...(closing.until === null ? [] : [`expires_at <= ${given.add(closing.until)}`])];
}
