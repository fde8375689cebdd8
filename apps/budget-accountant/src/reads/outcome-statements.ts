// SQL of the report of outcomes, as pure functions of what is asked.
//
// Invariants
//   Q1. A read that is narrowed to a tenant has the tenant in every branch of its statement.
import { Parameters, tableOf, whereOf } from '@recourse/service';
import type { Query } from '@recourse/service';

const BUDGETS_LOG = 'recourse.budgets';
const OUTCOMES = tableOf(BUDGETS_LOG, 'outcomes');
const RECOVERY_COSTS = tableOf(BUDGETS_LOG, 'recovery_costs');
const GROUP = 'tenant, workflow_id, intent, version';

/** Which outcomes; undefined does not narrow. Epoch milliseconds, `to` excluded. */
export interface OutcomeFilter {
  readonly tenant?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly intent?: string | undefined;
  readonly version?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

function conditionsOf({ from, to, ...equal }: OutcomeFilter, given: Parameters): readonly string[] {
  return [
    ...given.equal({ ...equal }),
    ...(from === undefined ? [] : [`ended_at >= ${given.add(from)}`]),
    ...(to === undefined ? [] : [`ended_at < ${given.add(to)}`]),
  ];
}

/** Counts and sums per workflow, intent and version; the most frequent first. */
export function outcomeSumsQuery(filter: OutcomeFilter, limit: number): Query {
  const given = new Parameters();
  const clause = whereOf(conditionsOf(filter, given));
  const sum = (name: string): string => `coalesce(sum(${name}), 0)::float8 AS ${name}`;
  const asked = (name: string, as: string): string => `count(${name})::int AS ${as}`;
  const yes = (name: string): string => `count(*) FILTER (WHERE ${name})::int AS ${name}`;
  const columns = [
    'count(*)::int AS outcomes',
    yes('trusted'),
    ...['total_tokens', 'retry_tokens', 'eval_tokens', 'cache_lookups', 'cache_hits', 'csat_permille'].map(sum),
    asked('succeeded', 'success_asked'),
    asked('converted', 'conversion_asked'),
    asked('deflected', 'deflection_asked'),
    asked('csat_permille', 'csat_asked'),
    ...['succeeded', 'converted', 'deflected'].map(yes),
  ].join(', ');
  return {
    text: `SELECT ${GROUP}, ${columns} FROM ${OUTCOMES}${clause} GROUP BY ${GROUP} ORDER BY count(*) DESC, ${GROUP} LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/**
 * Money per workflow, intent, version and currency.
 *
 * Shape:  null where nobody said anything in that currency. A run that is part of several groups counts its recoveries in each.
 */
export function outcomeMoneyQuery(filter: OutcomeFilter): Query {
  const given = new Parameters();
  const conditions = conditionsOf(filter, given);
  const of = (name: string): string => whereOf([...conditions, `${name} IS NOT NULL`]);
  const cost = `SELECT ${GROUP}, cost_currency AS currency, cost_minor, NULL::bigint AS revenue_minor, NULL::bigint AS recovery_cost_minor FROM ${OUTCOMES}${of('cost_currency')}`;
  const revenue = `SELECT ${GROUP}, revenue_currency, NULL, revenue_minor, NULL FROM ${OUTCOMES}${of('revenue_currency')}`;
  const runs = `SELECT DISTINCT ${GROUP}, run_id FROM ${OUTCOMES}${of('run_id')}`;
  const recovery = `SELECT o.tenant, o.workflow_id, o.intent, o.version, r.currency, NULL, NULL, r.amount_minor FROM (${runs}) o JOIN ${RECOVERY_COSTS} r ON r.tenant = o.tenant AND r.run_id = o.run_id`;
  const sums = ['cost_minor', 'revenue_minor', 'recovery_cost_minor'].map((name) => `sum(${name})::float8 AS ${name}`);
  return {
    text: `SELECT ${GROUP}, currency, ${sums.join(', ')} FROM (${cost} UNION ALL ${revenue} UNION ALL ${recovery}) s GROUP BY ${GROUP}, currency ORDER BY ${GROUP}, currency`,
    values: given.values,
  };
}
