// SQL of the reads of lineage, as pure functions of what is asked: bindings are walked over all partitions at once.
//
// Invariants
//   W1. A walk follows a name only under the tenant and the run it was named with.
//   W2. UNION keeps each commit once: a cycle ends where it began. A walk that is cut says so by one row more.
import { tableOf } from '@recourse/service';
import type { Query } from '@recourse/service';
import { MUTATIONS_LOG } from './mutation-statements.js';
import { refScope } from '../rules/identity.js';
import type { Named } from '../rules/lineage-view/lineage.messages.js';

const table = (name: string): string => tableOf(MUTATIONS_LOG, name);
const [BINDING, MUTATION, COMMIT, HEADS] = [table('binding'), table('mutation'), table('commit'), table('heads')];

/** The same tenant and run, as a filter on what an id found: as an equality PostgreSQL may intersect the index of the id with one that holds the whole tenant, for each id anew. */
const isNamed = (row: string, by: string, run = 'run_id'): string =>
  `${row}.${run} IS NOT DISTINCT FROM ${by}.run_id AND ${row}.tenant IS NOT DISTINCT FROM ${by}.tenant`;

/** Whoever rests on a commit, or on one that does. */
const DOWN = `WITH RECURSIVE walk(tenant, run_id, id) AS (
  SELECT tenant COLLATE "C", run_id COLLATE "C", id COLLATE "C" FROM unnest($1::text[], $2::text[], $3::text[]) AS named(tenant, run_id, id)
  UNION SELECT b.tenant, b.run_id, b.mutation_id FROM walk w JOIN ${BINDING} b ON b.parent_id = w.id AND ${isNamed('b', 'w', 'parent_run_id')}
), reached AS MATERIALIZED (SELECT tenant, run_id, id FROM walk LIMIT $4)`;

/** Whatever a commit rests on. */
const UP = `WITH RECURSIVE walk(tenant, run_id, id) AS (
  SELECT tenant COLLATE "C", run_id COLLATE "C", id COLLATE "C" FROM unnest($1::text[], $2::text[], $3::text[]) AS named(tenant, run_id, id)
  UNION SELECT b.tenant, b.parent_run_id, b.parent_id FROM walk w JOIN ${BINDING} b ON b.mutation_id = w.id AND ${isNamed('b', 'w')} AND b.parent_id IS NOT NULL
)`;

/** The commit of an id, as a mutation or as a commit; `tenant` undefined looks at all. */
export function commitQuery(id: string, tenant: string | undefined): Query {
  const narrowed = tenant === undefined ? '' : ' AND tenant = $2';
  return {
    text: `SELECT tenant, run_id, mutation_id AS id FROM ${MUTATION} WHERE mutation_id = $1${narrowed} UNION ALL SELECT tenant, run_id, commit_id AS id FROM ${COMMIT} WHERE commit_id = $1${narrowed} LIMIT 1`,
    values: tenant === undefined ? [id] : [id, tenant],
  };
}

/** Commits that rest on some, those first; one more than `limit` tells that there are others. */
export function reachedQuery(from: readonly Named[], limit: number): Query {
  return { text: `${DOWN} SELECT tenant, run_id, id FROM reached`, values: [...of(from), limit + 1] };
}

/** Commits that some rest on, those first; likewise. */
export function restsOnQuery(from: readonly Named[], limit: number): Query {
  return { text: `${UP} SELECT tenant, run_id, id FROM walk LIMIT $4`, values: [...of(from), limit + 1] };
}

/** What is known of a closure in columns. */
export function closureQuery(from: readonly Named[], limit: number): Query {
  const join = (name: string): string => `= r.id AND ${isNamed(name, 'r')}`;
  return {
    text: `${DOWN} SELECT 'mutation' AS kind, m.tenant, m.run_id, m.mutation_id AS id, replace(convert_from(m.lasting, 'UTF8'), '\\u0000', '\\ufffd')::json #>> '{execution,agent_id}' AS agent, m.subject_ref, m.value_minor::text, m.value_currency AS currency, m.created_at::text AS recorded_at, m.rollback_id
      FROM reached r JOIN ${MUTATION} m ON m.mutation_id ${join('m')}
      UNION ALL SELECT 'commit', c.tenant, c.run_id, c.commit_id, c.agent_id, c.subject_ref, NULL, NULL, c.recorded_at::text, c.rollback_id FROM reached r JOIN ${COMMIT} c ON c.commit_id ${join('c')}`,
    values: [...of(from), limit + 1],
  };
}

/** Who in a closure rests on whom. */
export function reliancesQuery(from: readonly Named[], limit: number): Query {
  return {
    text: `${DOWN} SELECT b.tenant, b.run_id, b.mutation_id AS child, b.parent_run_id, b.parent_id AS parent FROM reached r JOIN ${BINDING} b ON b.mutation_id = r.id AND ${isNamed('b', 'r')} AND b.parent_id IS NOT NULL`,
    values: [...of(from), limit + 1],
  };
}

/** As reliancesQuery, of commits that are named. */
export function reliancesAmongQuery(tenant: string, ids: readonly string[]): Query {
  return {
    text: `SELECT tenant, run_id, mutation_id AS child, parent_run_id, parent_id AS parent FROM ${BINDING} WHERE mutation_id = ANY($2::text[]) AND tenant = $1 AND parent_id IS NOT NULL`,
    values: [tenant, ids],
  };
}

/** Stands in the row of each commit that was reattached; in those of others only where somebody wrote it into a text. */
export const REATTACHED_MARK = '"reattached":[{';

/** What columns know of commits by run and id; a commit that was reattached says to whom: its row is read only then, for ten thousand take a quarter of a second. */
export function placedQuery(tenant: string, commits: readonly Named[]): Query {
  const json = (column: string): string => `replace(convert_from(${column}, 'UTF8'), '\\u0000', '\\ufffd')::json`;
  const join = (name: string): string =>
    `= r.id AND ${name}.run_id IS NOT DISTINCT FROM r.run_id AND ${name}.tenant IS NOT DISTINCT FROM $1`;
  return {
    text: `WITH reached AS MATERIALIZED (SELECT run_id COLLATE "C" AS run_id, id COLLATE "C" AS id FROM unnest($2::text[], $3::text[]) AS named(run_id, id))
      SELECT 'mutation' AS kind, m.run_id, m.mutation_id AS id, ${json('m.lasting')} #>> '{execution,agent_id}' AS agent, m.capability AS label, m.subject_ref, m.rollback_id, false AS is_beyond, NULL::json AS reattached
      FROM reached r JOIN ${MUTATION} m ON m.mutation_id ${join('m')}
      UNION ALL SELECT 'commit', c.run_id, c.commit_id, c.agent_id, c.step_id, c.subject_ref, c.rollback_id, c.standing = 'beyond', CASE WHEN position('\\x${Buffer.from(REATTACHED_MARK).toString('hex')}'::bytea IN c.doc) > 0 THEN ${json('c.doc')} -> 'reattached' END
      FROM reached r JOIN ${COMMIT} c ON c.commit_id ${join('c')}`,
    values: [tenant, commits.map(({ run_id }) => run_id), commits.map(({ id }) => id)],
  };
}

/** Commits of a tenant that rely on a ref, in one run or in all; one more than `limit` tells that there are others. */
export function relyingQuery(
  { tenant, ref, runId }: { readonly tenant: string; readonly ref: string; readonly runId: string | null },
  partitions: number,
  limit: number,
): Query {
  const columns = (table: string, id: string): string =>
    `SELECT r.tenant, r.run_id, r.${id} AS id FROM bound b JOIN ${table} r ON r.${id} = b.id WHERE r.tenant = $3 AND ($4::text IS NULL OR r.run_id = $4)`;
  return {
    text: `WITH bound AS MATERIALIZED (SELECT row_key AS id FROM ${BINDING} WHERE log_partition = ANY($1::int[]) AND group_key = $2)
      ${columns(MUTATION, 'mutation_id')} UNION ALL ${columns(COMMIT, 'commit_id')} ORDER BY id LIMIT $5`,
    values: [
      Array.from({ length: partitions }, (_, partition) => partition),
      refScope(tenant, ref),
      tenant,
      runId,
      limit + 1,
    ],
  };
}

/** Rows of commits as they are stored. */
export function rowsQuery(table: 'mutation' | 'commit', tenant: string, ids: readonly string[]): Query {
  return {
    text: `SELECT ${table === 'mutation' ? 'doc, lasting' : 'doc'} FROM ${table === 'mutation' ? MUTATION : COMMIT} WHERE ${table}_id = ANY($2::text[]) AND tenant = $1`,
    values: [tenant, ids],
  };
}

/** Consumers that were waited for. */
export function heardQuery(tenant: string, ids: readonly string[]): Query {
  return {
    text: `SELECT mutation_id, consumer, phase FROM ${tableOf(MUTATIONS_LOG, 'delivery')} WHERE mutation_id = ANY($2::text[]) AND tenant = $1`,
    values: [tenant, ids],
  };
}

/** How far each partition of the ledger has read its inputs. */
export const CURSORS_QUERY: Query = { text: `SELECT log_partition, cursors FROM ${HEADS}`, values: [] };

/** Every edge there is, child and parent, as EdgeLines takes them. */
export const EDGES_COPY = `COPY (SELECT mutation_id, parent_id FROM ${BINDING} WHERE parent_id IS NOT NULL) TO STDOUT`;

function of(commits: readonly Named[]): readonly (readonly string[])[] {
  return [commits.map(({ tenant }) => tenant), commits.map(({ run_id }) => run_id), commits.map(({ id }) => id)];
}
