// SQL of reports over rollbacks and limits, as pure functions of what is asked.
//
// Invariants
//   Q1. A read that is narrowed to a tenant has the tenant in every branch of its statement.
import { Parameters, tableOf, whereOf } from '@recourse/service';
import type { Query } from '@recourse/service';
import { MUTATIONS_LOG } from './mutation-statements.js';

const MUTATION = tableOf(MUTATIONS_LOG, 'mutation');
const ROLLBACKS = tableOf(MUTATIONS_LOG, 'rollbacks');
const SOURCES = tableOf(MUTATIONS_LOG, 'trigger_sources');

/** What a column must be; undefined does not narrow. */
export type RollbackFilter = Readonly<Partial<Record<'tenant' | 'source', string | undefined>>>;

/** What people said of the triggers of each source (E42), and how many are open; those who were wrong most often first. A weight is one partition's, the lowest is told. */
export function sourcesQuery(filter: RollbackFilter, limit: number): Query {
  const given = new Parameters();
  const clause = whereOf(given.equal(filter));
  const judged = `SELECT tenant, source, min(weight_permille) AS weight_permille, sum(confirmed) AS confirmed, sum(rejected) AS rejected, 0::bigint AS rollbacks, 0::bigint AS held FROM ${SOURCES}${clause} GROUP BY 1, 2`;
  const opened = `SELECT tenant, source, NULL::bigint, 0, 0, count(*) FILTER (WHERE phase IN ('opened', 'escalated', 'marked')), count(*) FILTER (WHERE phase = 'held') FROM ${ROLLBACKS}${clause} GROUP BY 1, 2`;
  const sums = `min(weight_permille)::int AS weight_permille, sum(confirmed)::int AS confirmed, sum(rejected)::int AS rejected, sum(rollbacks)::int AS rollbacks, sum(held)::int AS held`;
  return {
    text: `SELECT tenant, source, ${sums} FROM (${judged} UNION ALL ${opened}) s GROUP BY tenant, source ORDER BY sum(rejected) DESC, sum(held) DESC, tenant, source LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** What rollbacks can be counted by (E48): whose action fell, under which policy, on whose word. */
export const ROLLBACK_GROUPS = { agent: 'agent_id', policy: 'policy', source: 'source' } as const;
export type RollbackGroup = keyof typeof ROLLBACK_GROUPS;

/**
 * Rollbacks by one of the groups, the most frequent first, and how their recoveries ended; commits without an effect have none.
 *
 * Shape:  what has no policy stands under null.
 */
export function rollbacksQuery(by: RollbackGroup, filter: RollbackFilter, limit: number): Query {
  const given = new Parameters();
  const where = [`phase = 'marked'`, ...given.equal(filter)];
  const marked = `SELECT tenant, ${ROLLBACK_GROUPS[by]} AS name, mutation_id, run_id FROM ${ROLLBACKS}${whereOf(where)}`;
  const manual = `m.recoverability = 'manual_resolution_required' OR (m.recoverability = 'compensation_failed' AND m.reason LIKE 'RESOLVED:%')`;
  const sums = `count(*)::int AS rollbacks, count(*) FILTER (WHERE m.recoverability = 'compensated')::int AS compensated, count(*) FILTER (WHERE ${manual})::int AS manual, count(DISTINCT r.run_id)::int AS runs`;
  return {
    text: `SELECT r.tenant, r.name, ${sums} FROM (${marked}) r LEFT JOIN ${MUTATION} m ON m.mutation_id = r.mutation_id AND m.tenant = r.tenant GROUP BY 1, 2 ORDER BY count(*) DESC, r.tenant, r.name LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}
