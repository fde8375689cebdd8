// SQL of the orchestrator's reports over the rows of steps, rollbacks and limits, as pure functions of what is asked.
//
// Invariants
//   Q1. A read that is narrowed to a tenant has the tenant in every branch of its statement.
import { literals, Parameters, tableOf, whereOf } from '@recourse/service';
import type { Query } from '@recourse/service';
import { RECOVERIES_LOG } from '../application/recoveries.core.js';
import { PHASES_AT_REST } from '../domain/step/step.transitions.js';

const STEPS = tableOf(RECOVERIES_LOG, 'recovery_steps');
const ROLLBACKS = tableOf(RECOVERIES_LOG, 'rollbacks');
const SOURCES = tableOf(RECOVERIES_LOG, 'trigger_sources');
const PACES = tableOf(RECOVERIES_LOG, 'paces');

/** Phases in which a step ended, or waits for a person at the end of automation. What needed nothing was no recovery. */
const ENDED = PHASES_AT_REST.filter((phase) => phase !== 'not_needed');
/** Those in which a person has it or had it. */
const WITH_PERSON = ENDED.filter((phase) => phase !== 'compensated');

/** What a column must be; undefined does not narrow. */
export type ReportFilter = Readonly<Partial<Record<'tenant' | 'capability' | 'source', string | undefined>>>;

/** Why steps landed with a person, the most frequent reason first; one row more than `limit` tells whether there are others. */
export function manualReasonsQuery(filter: ReportFilter, limit: number): Query {
  const given = new Parameters();
  const where = [`phase IN (${literals(ENDED)})`, ...given.equal(filter)];
  const counted = `SELECT tenant, capability, reason, phase IN (${literals(WITH_PERSON)}) AS with_person, count(*) AS steps, sum(count(*)) OVER (PARTITION BY tenant, capability) AS ended FROM ${STEPS}${whereOf(where)} GROUP BY 1, 2, 3, 4`;
  return {
    text: `SELECT tenant, capability, reason, steps::int, ended::int FROM (${counted}) c WHERE with_person ORDER BY c.steps DESC, tenant, capability, reason LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** What was observed of recoveries, per tenant and capability. Times are milliseconds. */
export function recoveriesQuery(filter: ReportFilter, limit: number): Query {
  const given = new Parameters();
  const where = given.equal(filter);
  const took = `updated_at - triggered_at`;
  const sums = [
    `count(*) FILTER (WHERE phase = 'compensated')::int AS compensated`,
    `count(*) FILTER (WHERE phase = 'compensated' AND approvals = 0)::int AS automatic`,
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

/** What people said of the triggers of each source (E42), and how many are open; those who were wrong most often first. A weight is one partition's, the lowest is told. */
export function sourcesQuery(filter: ReportFilter, limit: number): Query {
  const given = new Parameters();
  const where = given.equal(filter);
  const clause = whereOf(where);
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
 * Rollbacks by one of the groups, the most frequent first: steps, and commits without an effect, which have none.
 *
 * Shape:  of those only the source is on record, so that by agent or policy they stand under null.
 */
export function rollbacksQuery(by: RollbackGroup, filter: ReportFilter, limit: number): Query {
  const given = new Parameters();
  const where = given.equal(filter);
  const clause = whereOf(where);
  const group = ROLLBACK_GROUPS[by];
  const steps = `SELECT tenant, ${group} AS name, phase, run_id FROM ${STEPS}${clause}`;
  const bare = `SELECT tenant, ${group === 'source' ? 'source' : 'NULL::text'}, 'no_effect', run_id FROM ${ROLLBACKS} r${whereOf([...where, `phase = 'marked'`, `NOT EXISTS (SELECT 1 FROM ${STEPS} s WHERE s.mutation_id = r.mutation_id AND s.tenant = r.tenant)`])}`;
  const sums = `count(*)::int AS rollbacks, count(*) FILTER (WHERE phase = 'compensated')::int AS compensated, count(*) FILTER (WHERE phase IN (${literals(WITH_PERSON)}))::int AS manual, count(DISTINCT run_id)::int AS runs`;
  return {
    text: `SELECT tenant, name, ${sums} FROM (${steps} UNION ALL ${bare}) r GROUP BY 1, 2 ORDER BY count(*) DESC, tenant, name LIMIT ${given.add(limit + 1)}`,
    values: given.values,
  };
}

/** Triggers of each tenant and source in the newest hour and day, the most frequent first: from this a rise is told (E47). */
export function trendsQuery(filter: ReportFilter, now: number, limit: number): Query {
  const given = new Parameters();
  const [day, hour] = [given.add(now - DAY_MS), given.add(now - HOUR_MS)];
  const where = [`opened_at > ${day}`, ...given.equal(filter)];
  return {
    text: `SELECT tenant, source, count(*) FILTER (WHERE opened_at > ${hour})::int AS short, count(*)::int AS long FROM ${ROLLBACKS}${whereOf(where)} GROUP BY 1, 2 ORDER BY count(*) DESC, tenant, source LIMIT ${given.add(limit + 1)}`,
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

/** The windows a trend is told by, milliseconds. */
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
