// SQL of the orchestrator's reports over the rows of steps and rates, as pure functions of what is asked.
//
// Invariants
//   Q1. A read that is narrowed to a tenant has the tenant in every branch of its statement.
//   Q2. Pages are cut by the last row seen, in an order that no two rows share: a row that does not change is shown once.
import { columnText } from '@recourse/event-log';
import { anyPartition, literals, Parameters, tableOf, whereOf } from '@recourse/service';
import type { Query } from '@recourse/service';
import { RECOVERIES_LOG } from '../core.js';
import { ownerOfLeg } from '../rules/policy.messages.js';
import { PHASES_ASKED, PHASES_AT_REST } from '../rules/step/step.transitions.js';

const STEPS = tableOf(RECOVERIES_LOG, 'recovery_steps');
const PACES = tableOf(RECOVERIES_LOG, 'paces');
const FORWARDS = tableOf(RECOVERIES_LOG, 'forward_approvals');

/** Kinds that are listed in the order of a time, and which: all questions of a stack have the same patience, so that the first asked ends first. */
export const TIMED = { step: 'deadline_at', forward: 'requested_at' } as const;
export type TimedKind = keyof typeof TIMED;
const TIMED_ROWS = {
  step: { table: STEPS, lasting: 'lasting' },
  forward: { table: FORWARDS, lasting: 'NULL::bytea AS lasting' },
} as const satisfies Record<TimedKind, { readonly table: string; readonly lasting: string }>;
/** What has no such time stands last. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** Where a row stands in such a list: its time, in epoch milliseconds, then partition, group and key. */
export type TimedPlace = readonly [at: number, partition: number, group: string, key: string];

export interface TimedAsked {
  readonly kind: TimedKind;
  /** Equal to, or one of, per column; undefined does not narrow. */
  readonly where: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly after?: TimedPlace | undefined;
  /** Rows at most. */
  readonly limit: number;
}

/** Phases in which a step ended, or waits for a person at the end of automation. What needed nothing was no recovery. */
const ENDED = PHASES_AT_REST.filter((phase) => phase !== 'not_needed');
/** Those in which a person has it or had it. */
const WITH_PERSON = ENDED.filter((phase) => phase !== 'compensated');

/** What a column must be; undefined does not narrow. */
export type ReportFilter = Readonly<Partial<Record<'tenant' | 'capability', string | undefined>>>;

const PLACE = 'log_partition, group_key, row_key';

/**
 * Rows of a page, the soonest first, and one more, which tells whether there is another.
 *
 * Shape:  each phase is cut by itself, in the order of its time, which an index has; what has no time stands behind all that have one.
 *         Sorted together are a page of each and no more, however many rows wait.
 */
export function timedQuery({ kind, where: { phase, ...where }, after, limit }: TimedAsked): Query {
  const given = new Parameters();
  const { table, lasting } = TIMED_ROWS[kind];
  const narrowed = Object.entries(where).flatMap(([name, value]) => narrowing(given, name, value));
  const phases = phase === undefined ? [[]] : [phase].flat().map((one) => narrowing(given, 'phase', one));
  const parts = partsOf(TIMED[kind], after, given);
  const rows = given.add(limit + 1);
  const cut = phases.flatMap((inPhase) =>
    parts.map(
      ({ at, order, behind }) =>
        `(SELECT ${at} AS at, ${PLACE}, doc, ${lasting} FROM ${table}${whereOf([...narrowed, ...inPhase, ...behind])} ORDER BY ${order} LIMIT ${rows})`,
    ),
  );
  return {
    text: `SELECT * FROM (${cut.join(' UNION ALL ')}) c ORDER BY at, ${PLACE} LIMIT ${rows}`,
    values: given.values,
  };
}

interface Part {
  readonly at: string;
  readonly order: string;
  readonly behind: readonly string[];
}

/** Rows that have this time, and those that have none, each behind the last one seen. */
function partsOf(column: string, after: TimedPlace | undefined, given: Parameters): readonly Part[] {
  const timed = `${column}, ${PLACE}`;
  const isPast = after?.[0] === NEVER;
  const behindTimed = after === undefined || isPast ? [] : [`(${timed}) > (${given.list(after)})`];
  const behindRest = isPast ? [`(${PLACE}) > (${given.list(after.slice(1))})`] : [];
  const rest = { at: String(NEVER), order: PLACE, behind: [`${column} IS NULL`, ...behindRest] };
  return isPast ? [rest] : [{ at: column, order: timed, behind: [`${column} IS NOT NULL`, ...behindTimed] }, rest];
}

function narrowing(given: Parameters, name: string, value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  if (name === 'group_key') return [anyPartition(RECOVERIES_LOG), `group_key = ${given.add(value)}`];
  return typeof value === 'string'
    ? [`${name} = ${given.add(columnText(value))}`]
    : [`${name} = ANY(${given.add(value.map(columnText))})`];
}

/** Why steps landed with a person, the most frequent reason first; one row more than `limit` tells whether there are others. */
export function manualReasonsQuery(filter: ReportFilter, limit: number): Query {
  const given = new Parameters();
  const where = [`phase IN (${literals(ENDED)})`, ...given.equal(filter)];
  const counted = `SELECT tenant, capability, reason, phase IN (${literals(WITH_PERSON)}) AS with_person, count(*) AS times, sum(count(*)) OVER (PARTITION BY tenant, capability) AS ended FROM ${STEPS}${whereOf(where)} GROUP BY 1, 2, 3, 4`;
  return {
    text: `SELECT tenant, capability, reason, times::int, ended::int FROM (${counted}) c WHERE with_person ORDER BY c.times DESC, tenant, capability, reason LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** What was observed of recoveries, per tenant and capability. Times are milliseconds. */
export function recoveriesQuery(filter: ReportFilter, limit: number): Query {
  const given = new Parameters();
  const where = given.equal(filter);
  const took = `updated_at - failed_at`;
  const sums = [
    `count(*) FILTER (WHERE phase = 'compensated')::int AS compensated`,
    `count(*) FILTER (WHERE unattended)::int AS automatic`,
    `count(*) FILTER (WHERE phase IN (${literals(WITH_PERSON)}))::int AS manual`,
    `count(*) FILTER (WHERE phase NOT IN (${literals([...ENDED, 'not_needed'])}))::int AS open`,
    `count(*) FILTER (WHERE phase = 'not_needed')::int AS not_needed`,
    `sum(attempt)::text AS attempts`,
    `round(avg(${took}) FILTER (WHERE phase = 'compensated'))::text AS mean_ms`,
    `(max(${took}) FILTER (WHERE phase = 'compensated'))::text AS max_ms`,
  ];
  return {
    text: `SELECT tenant, capability, ${sums.join(', ')} FROM ${STEPS}${whereOf(where)} GROUP BY tenant, capability ORDER BY tenant, capability LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** What is asked of the workers of each adapter, and who of them is late; the longest wait first. Instants are epoch milliseconds. */
export function askedQuery(filter: ReportFilter, now: number, limit: number): Query {
  const given = new Parameters();
  const late = `deadline_at < ${given.add(now)}`;
  const where = [`owner LIKE '${ownerOfLeg('%')}'`, `phase IN (${literals(PHASES_ASKED)})`, ...given.equal(filter)];
  return {
    text: `SELECT tenant, substr(owner, ${String(ownerOfLeg('').length + 1)}) AS adapter, count(*)::int AS asked, (count(*) FILTER (WHERE ${late}))::int AS silent, min(updated_at)::text AS oldest_at FROM ${STEPS}${whereOf(where)} GROUP BY 1, 2 ORDER BY min(updated_at), 1, 2 LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** Schedules of rates that are in use, the busiest first; and how many steps of the tenant wait for their place. */
export function pacesQuery(filter: ReportFilter, now: number, limit: number): Query {
  const given = new Parameters();
  const from = given.add(now);
  const where = [`next_at > ${from}`, ...given.equal(filter)];
  const waiting = `(SELECT count(*) FROM ${STEPS} w WHERE w.tenant = p.tenant AND w.phase = 'waiting' AND w.reason = 'RATE_LIMITED')::int`;
  return {
    text: `SELECT tenant, scope, name, next_at::text, ${waiting} AS waiting FROM (SELECT tenant, scope, name, max(next_at) AS next_at FROM ${PACES}${whereOf(where)} GROUP BY 1, 2, 3) p ORDER BY p.next_at DESC, tenant, scope, name LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}
