// The topics and subjects a cluster should have: schemas/topics.json with the numbers and adapters of a plan. Pure.
import type { TopicSpec } from '@recourse/kafka';
import { recordsOf, SCHEMAS, TOPICS } from '@recourse/messages';
import type { ClusterPlan } from './plan.js';

/** One row of schemas/topics.json. */
export interface CatalogueTopic {
  readonly name: string;
  readonly kind: 'wire' | 'log' | 'derived';
  readonly partitioned: boolean;
  readonly written_by: string;
  readonly read_by: string;
  readonly config: Readonly<Record<string, string>>;
}

/** Request topics stand in the catalogue as one of them. */
export const REQUESTS = 'recourse.tool-requests.';

/** The rows of a plan: one of the requests of each adapter. */
export function catalogueOf({ adapters }: Pick<ClusterPlan, 'adapters'>): readonly CatalogueTopic[] {
  const rows: readonly CatalogueTopic[] = TOPICS;
  return rows.flatMap((row) => {
    if (!row.name.startsWith(REQUESTS)) return [row];
    const siblings = adapters.map((adapter) => `${REQUESTS}${adapter}`).filter((name) => name !== row.name);
    return [row, ...siblings.map((name) => ({ ...row, name }))];
  });
}

export function plannedTopics(plan: Omit<ClusterPlan, 'users'>): readonly TopicSpec[] {
  return catalogueOf(plan).map(({ name, partitioned, config }) => ({
    name,
    partitions: partitioned ? plan.partitions : 1,
    replicationFactor: plan.replication,
    config: { ...config, 'min.insync.replicas': String(plan.min_insync_replicas) },
  }));
}

/** Setting of every subject: old readers read new records, and new readers old ones, of any version. */
export const COMPATIBILITY = 'FULL_TRANSITIVE';

export interface PlannedSubject {
  readonly subject: string;
  readonly schema: string;
}

export function plannedSubjects(plan: Pick<ClusterPlan, 'adapters'>): readonly PlannedSubject[] {
  const schemas: Readonly<Record<string, string>> = SCHEMAS;
  return catalogueOf(plan).flatMap(({ name }) =>
    recordsOf(name).map((record) => ({ subject: `${name}-${record}`, schema: schemas[record] ?? '' })),
  );
}
