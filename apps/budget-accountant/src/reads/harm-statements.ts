// SQL of expected harm, as pure functions of what is asked: sums over the debits of reservations, which lie in their docs.
//
// Invariants
//   Q1. A read that is narrowed to a tenant has the tenant in every branch of its statement.
import { literals, Parameters, tableOf, whereOf } from '@recourse/service';
import type { Query } from '@recourse/service';
import { HOLDING_PHASES } from '../rules/budget/budget.transitions.js';
import type { HarmGroup } from '../rules/harm/harm.messages.js';
import type { UsersOf } from '../rules/harm/uses.decisions.js';

const BUDGETS_LOG = 'recourse.budgets';
const RESERVATIONS = tableOf(BUDGETS_LOG, 'reservations');
const TOTALS = tableOf(BUDGETS_LOG, 'debt_totals');
const CLOSINGS = tableOf(BUDGETS_LOG, 'debt_closings');
const ESCALATIONS = tableOf(BUDGETS_LOG, 'escalations');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Phases of effects that happened and stand. */
const STANDING = "phase IN ('settled', 'overrun')";
const HOLDING = `phase IN (${literals(HOLDING_PHASES)})`;
const DOC = "replace(convert_from(doc, 'UTF8'), '\\u0000', '\\ufffd')::json";
const DEBITS = `CROSS JOIN LATERAL json_to_recordset(${DOC} -> 'debits') AS d(currency text, value_minor bigint, debit_minor bigint)`;
/** The key under which a recovery compensates a mutation. */
const UNDOES = "substring(effect_key from '^rev_(mut_[0-9a-f]+)')";

/** Which debits, and what sums are made by. */
export interface HarmFilter {
  readonly by: HarmGroup;
  readonly tenant?: string | undefined;
  /** Under all of these spellings. */
  readonly agent_id?: readonly string[] | undefined;
  readonly capability?: string | undefined;
}

/** Columns of a group: what sums are not made by is null. */
function dimensionsOf(by: HarmGroup): string {
  const shown = (name: string, isShown: boolean): string => (isShown ? name : `NULL::text AS ${name}`);
  return `tenant, ${shown('agent_id', by === 'agent')}, ${shown('capability', by === 'capability')}`;
}

const GROUP = 'tenant, agent_id, capability';
const sumOf = (name: string, which: string, as: string): string =>
  `coalesce(sum(${name}) FILTER (WHERE ${which}), 0)::float8 AS ${as}`;

/** Debt that stands per group and unit, and what compensations of its effects were debited themselves. */
export function standingDebtQuery({ by, ...equal }: HarmFilter, now: number): Query {
  const given = new Parameters();
  const at = `${given.add(now)}::bigint`;
  const conditions = given.equal(equal);
  const held = `SELECT ${GROUP}, phase, expires_at, currency, value_minor, debit_minor, NULL::bigint AS recovery_minor FROM ${RESERVATIONS} ${DEBITS}${whereOf([HOLDING, ...conditions])}`;
  const undoing = whereOf([STANDING, `effect_key LIKE 'rev\\_mut\\_%'`, ...given.equal({ tenant: equal.tenant })]);
  const costs = `SELECT tenant, ${UNDOES} AS mutation_id, currency, debit_minor FROM ${RESERVATIONS} ${DEBITS}${undoing}`;
  const undone = `SELECT tenant, agent_id, capability, mutation_id FROM ${RESERVATIONS}${whereOf(conditions)}`;
  const recovered = `SELECT u.tenant, u.agent_id, u.capability, NULL, NULL, c.currency, NULL, NULL, c.debit_minor FROM (${costs}) c JOIN (${undone}) u ON u.tenant = c.tenant AND u.mutation_id = c.mutation_id`;
  const sums = [
    sumOf('debit_minor', `phase = 'reserved'`, 'reserved_minor'),
    sumOf('debit_minor', `${STANDING} AND expires_at > ${at}`, 'open_minor'),
    sumOf('debit_minor', `${STANDING} AND (expires_at IS NULL OR expires_at <= ${at})`, 'beyond_minor'),
    sumOf('value_minor', STANDING, 'moved_minor'),
    `coalesce(sum(recovery_minor), 0)::float8 AS recovery_minor`,
    `(min(expires_at) FILTER (WHERE ${STANDING} AND expires_at > ${at}))::float8 AS closes_first_at`,
  ];
  return {
    text: `SELECT ${GROUP}, currency, ${sums.join(', ')} FROM (SELECT ${dimensionsOf(by)}, phase, expires_at, currency, value_minor, debit_minor, recovery_minor FROM (${held} UNION ALL ${recovered}) h) g GROUP BY ${GROUP}, currency`,
    values: given.values,
  };
}

/** Effects per group and contract: those that can be taken back, those that happened, and those that were taken back. */
export function effectCountsQuery({ by, ...equal }: HarmFilter, now: number): Query {
  const given = new Parameters();
  const at = `${given.add(now)}::bigint`;
  const where = whereOf([`phase IN ('settled', 'overrun', 'refunded')`, ...given.equal(equal)]);
  const effects = `SELECT ${dimensionsOf(by)}, phase, expires_at, ${DOC} ->> 'contract_digest' AS contract_digest FROM ${RESERVATIONS}${where}`;
  const counts = [
    `(count(*) FILTER (WHERE ${STANDING} AND expires_at > ${at}))::int AS open`,
    'count(*)::int AS happened',
    `(count(*) FILTER (WHERE phase = 'refunded'))::int AS undone`,
  ];
  return {
    text: `SELECT ${GROUP}, contract_digest, ${counts.join(', ')} FROM (${effects}) e GROUP BY ${GROUP}, contract_digest`,
    values: given.values,
  };
}

/** Value whose windows close within a day, and within its first hour, per group and unit; the most first. */
export function closingQuery({ by, ...equal }: HarmFilter, now: number, limit: number): Query {
  const given = new Parameters();
  const where = whereOf([
    STANDING,
    `expires_at > ${given.add(now)}`,
    `expires_at <= ${given.add(now + DAY_MS)}`,
    ...given.equal(equal),
  ]);
  const soon = `expires_at <= ${given.add(now + HOUR_MS)}`;
  const closing = `SELECT ${dimensionsOf(by)}, expires_at, currency, value_minor FROM ${RESERVATIONS} ${DEBITS}${where}`;
  const sums = [
    sumOf('value_minor', soon, 'within_hour_minor'),
    'sum(value_minor)::float8 AS within_day_minor',
    `(count(*) FILTER (WHERE ${soon}))::int AS within_hour`,
    'count(*)::int AS within_day',
    'min(expires_at)::float8 AS closes_first_at',
  ];
  return {
    text: `SELECT ${GROUP}, currency, ${sums.join(', ')} FROM (${closing}) c GROUP BY ${GROUP}, currency ORDER BY within_hour_minor DESC, within_day_minor DESC, ${GROUP}, currency LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** The effects that use a bound, largest first. */
export function usersQuery(tenant: string, users: UsersOf, limit: number): Query {
  const { currency, measure, since, isOverrun, ...place } = users;
  const given = new Parameters();
  const named = given.add(tenant);
  const amount = measure === 'debt' ? 'debit_minor' : 'value_minor';
  const conditions = [
    `tenant = ${named}`,
    HOLDING,
    ...given.equal({ ...place }),
    ...(currency === null ? [] : [`currency = ${given.add(currency)}`, `${amount} > 0`]),
    ...(since === 0 ? [] : [`(${DOC} ->> 'counted_at')::bigint >= ${given.add(since)}`]),
    ...(isOverrun
      ? [
          `EXISTS (SELECT 1 FROM ${ESCALATIONS} e WHERE e.tenant = ${named} AND e.reservation_id = r.reservation_id AND e.about = 'overrun' AND e.phase <> 'approved')`,
        ]
      : []),
  ];
  const [units, shown] =
    currency === null ? ['', 'NULL::float8 AS amount_minor'] : [` ${DEBITS}`, `${amount}::float8 AS amount_minor`];
  return {
    text: `SELECT CASE WHEN ${UNDOES} IS NULL THEN mutation_id END AS mutation_id, ${UNDOES} AS undoes, reservation_id, run_id, agent_id, capability, phase, ${shown}, expires_at::float8 AS expires_at FROM ${RESERVATIONS} r${units}${whereOf(conditions)} ORDER BY amount_minor DESC NULLS LAST, reservation_id LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** What stands of all tenants, by unit: the running sums of every partition. */
export const STANDING_TOTALS_QUERY: Query = {
  text: `SELECT u.key AS currency, sum((u.value ->> 'reserved_minor')::bigint)::float8 AS reserved, sum((u.value ->> 'standing_minor')::bigint)::float8 AS standing FROM ${TOTALS} CROSS JOIN LATERAL json_each(${DOC} -> 'units') AS u GROUP BY u.key`,
  values: [],
};

/** What of it can still be taken back, by unit, and how much value that is no more soon; what is over is not looked at. */
export function closingTotalsQuery(now: number): Query {
  const given = new Parameters();
  const at = given.add(now);
  const closes = (withinMs: number): string => `closes_at <= ${given.add(now + withinMs)}`;
  const sums = [
    'sum(debit_minor)::float8 AS open',
    sumOf('value_minor', closes(HOUR_MS), 'hour'),
    sumOf('value_minor', closes(DAY_MS), 'day'),
  ];
  return {
    text: `SELECT currency, ${sums.join(', ')} FROM ${CLOSINGS} WHERE closes_at > ${at} GROUP BY currency`,
    values: given.values,
  };
}

/** Questions that wait for a person, by what they are about. */
export const OPEN_ESCALATIONS_QUERY: Query = {
  text: `SELECT about, count(*)::int AS open FROM ${ESCALATIONS} WHERE phase = 'open' GROUP BY about`,
  values: [],
};
