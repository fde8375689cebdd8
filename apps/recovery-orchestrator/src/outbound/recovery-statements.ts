// SQL of the orchestrator's reports over the rows of steps, as pure functions of what is asked.
//
// Invariants
//   Q1. A read that is narrowed to a tenant has the tenant in every branch of its statement.
import { tableOf } from '@recourse/service';
import { RECOVERIES_LOG } from '../application/recoveries.core.js';
import { PHASES_AT_REST } from '../domain/step/step.transitions.js';

const STEPS = tableOf(RECOVERIES_LOG, 'recovery_steps');

/** Phases in which a step ended, or waits for a person at the end of automation. What needed nothing was no recovery. */
const ENDED = PHASES_AT_REST.filter((phase) => phase !== 'not_needed');
/** Those in which a person has it or had it. */
const WITH_PERSON = ENDED.filter((phase) => phase !== 'compensated');

/** A statement with the values of its parameters. */
export interface Query { readonly text: string; readonly values: readonly (string | number)[] }

/** What a column must be; undefined does not narrow. */
export type ReportFilter = Readonly<Partial<Record<'tenant' | 'capability', string | undefined>>>;

/** Why steps landed with a person, the most frequent reason first; one row more than `limit` tells whether there are others. */
export function manualReasonsQuery(filter: ReportFilter, limit: number): Query {
  const values: (string | number)[] = [];
  const where = [`phase IN (${words(ENDED)})`, ...conditions(filter, values)];
  const counted = `SELECT tenant, capability, reason, phase IN (${words(WITH_PERSON)}) AS with_person, count(*) AS steps, sum(count(*)) OVER (PARTITION BY tenant, capability) AS ended FROM ${STEPS} WHERE ${where.join(' AND ')} GROUP BY 1, 2, 3, 4`;
  return { text: `SELECT tenant, capability, reason, steps::int, ended::int FROM (${counted}) c WHERE with_person ORDER BY c.steps DESC, tenant, capability, reason LIMIT ${parameter(values, limit + 1)}`, values };
}

/** What was observed of recoveries, per tenant and capability. Times are milliseconds. */
export function recoveriesQuery(filter: ReportFilter, limit: number): Query {
  const values: (string | number)[] = [];
  const where = conditions(filter, values);
  const took = `updated_at - triggered_at`;
  const sums = [
    `count(*) FILTER (WHERE phase = 'compensated')::int AS compensated`, `count(*) FILTER (WHERE phase = 'compensated' AND approvals = 0)::int AS automatic`,
    `count(*) FILTER (WHERE phase IN (${words(WITH_PERSON)}))::int AS manual`, `count(*) FILTER (WHERE phase NOT IN (${words([...ENDED, 'not_needed'])}))::int AS open`,
    `count(*) FILTER (WHERE phase = 'not_needed')::int AS not_needed`, `sum(attempt)::text AS attempts`,
    `round(avg(${took}) FILTER (WHERE phase = 'compensated'))::text AS mean_ms`, `(max(${took}) FILTER (WHERE phase = 'compensated'))::text AS max_ms`,
  ];
  return { text: `SELECT tenant, capability, ${sums.join(', ')} FROM ${STEPS}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`} GROUP BY tenant, capability ORDER BY tenant, capability LIMIT ${parameter(values, limit + 1)}`, values };
}

function conditions(filter: ReportFilter, values: (string | number)[]): readonly string[] {
  return Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${parameter(values, value)}`]));
}

/** Words of ours as SQL literals. */
function words(list: readonly string[]): string { return list.map((word) => `'${word}'`).join(', '); }

function parameter(values: (string | number)[], value: string | number): string { return `$${String(values.push(value))}`; }
