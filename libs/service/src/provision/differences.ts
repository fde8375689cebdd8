// What of a cluster is not as planned, and how each is mended. Pure.
import type { AccessRule, TopicFacts, TopicSpec } from '@recourse/kafka';
import { plannedAccess } from './access.js';
import type { ClusterPlan } from './plan.js';
import { COMPATIBILITY, plannedSubjects, plannedTopics } from './topics.js';

/** Every way in which a cluster can differ, and the mend. */
export const DIFFERENCES = {
  TOPIC_MISSING: 'Create it with the settings of schemas/topics.json; a log that was deleted is restored from a copy.',
  PARTITIONS_DIFFER:
    'Partitions cannot be taken away: restore the topic with its count from a copy, since keys now go elsewhere.',
  REPLICATION_DIFFERS: 'Reassign its partitions to as many brokers as are planned.',
  SETTING_DIFFERS: 'Set it as planned: kafka-configs --alter --entity-type topics.',
  ACCESS_OPEN: 'Switch on an authorizer (authorizer.class.name) and listeners that ask who somebody is (SASL or TLS).',
  ACCESS_MISSING: 'Add the rule (kafka-acls --add): its user cannot do its work.',
  ACCESS_SURPLUS: 'Remove the rule (kafka-acls --remove), or plan it: it allows more than schemas/topics.json.',
  SUBJECT_MISSING: 'Register it again from schemas/; records that name its old id stay readable to who knows the id.',
  SCHEMA_MISSING: 'Register the schema of this release under the subject, before the services of this release start.',
  COMPATIBILITY_DIFFERS: `Set the subject to ${COMPATIBILITY}; look what was registered meanwhile.`,
} as const;

export type DifferenceCode = keyof typeof DIFFERENCES;

export interface Difference {
  readonly code: DifferenceCode;
  /** Topic, user or subject, and what of it. */
  readonly where: string;
  readonly planned: string;
  readonly found: string;
  readonly mend: string;
}

export interface SubjectFacts {
  /** The subject's own setting; null where it has none. */
  readonly compatibility: string | null;
  /** Is the schema of this release among its versions? */
  readonly isCurrent: boolean;
}

/** A cluster as it stands. */
export interface ClusterFacts {
  readonly topics: readonly TopicFacts[];
  /** Null: it asks nobody who they are. */
  readonly access: readonly AccessRule[] | null;
  /** Those that exist. */
  readonly subjects: ReadonlyMap<string, SubjectFacts>;
}

/** In the order of the table above, and of the catalogue. */
export function differencesOf(plan: ClusterPlan, facts: ClusterFacts): readonly Difference[] {
  const order = Object.keys(DIFFERENCES);
  return [...ofTopics(plan, facts), ...ofAccess(plan, facts), ...ofSubjects(plan, facts)].sort(
    (one, other) => order.indexOf(one.code) - order.indexOf(other.code),
  );
}

function difference(code: DifferenceCode, where: string, planned: string, found: string): Difference {
  return { code, where, planned, found, mend: DIFFERENCES[code] };
}

function ofTopics(plan: ClusterPlan, { topics }: ClusterFacts): readonly Difference[] {
  const found = new Map(topics.map((topic) => [topic.name, topic]));
  return plannedTopics(plan).flatMap((planned) => {
    const topic = found.get(planned.name);
    return topic === undefined
      ? [difference('TOPIC_MISSING', planned.name, `${String(planned.partitions)} partitions`, 'no such topic')]
      : ofTopic(planned, topic);
  });
}

function ofTopic(planned: TopicSpec, found: TopicFacts): readonly Difference[] {
  const { name, partitions, replicationFactor = 1, config = {} } = planned;
  const counts = (
    [
      ['PARTITIONS_DIFFER', partitions, found.partitions],
      ['REPLICATION_DIFFERS', replicationFactor, found.replicationFactor],
    ] as const
  )
    .filter(([, wanted, has]) => wanted !== has)
    .map(([code, wanted, has]) => difference(code, name, String(wanted), String(has)));
  const settings = Object.entries(config)
    .filter(([setting, value]) => found.config[setting] !== value)
    .map(([setting, value]) =>
      difference('SETTING_DIFFERS', `${name} ${setting}`, value, found.config[setting] ?? 'not set'),
    );
  return [...counts, ...settings];
}

function ofAccess(plan: ClusterPlan, { access }: ClusterFacts): readonly Difference[] {
  if (plan.users === null) return [];
  if (access === null) return [difference('ACCESS_OPEN', 'cluster', 'rules of access', 'anybody may do anything')];
  const planned = plannedAccess(plan);
  const key = (rule: AccessRule): string => `${rule.permission} ${rule.host} ${whereOf(rule)} ${rule.operation}`;
  const [wanted, standing] = [new Set(planned.map(key)), new Set(access.map(key))];
  return [
    ...planned
      .filter((rule) => !standing.has(key(rule)))
      .map((rule) => difference('ACCESS_MISSING', whereOf(rule), wordsOf(rule), 'no such rule')),
    ...access
      .filter((rule) => !wanted.has(key(rule)))
      .map((rule) => difference('ACCESS_SURPLUS', whereOf(rule), 'no such rule', wordsOf(rule))),
  ];
}

function whereOf({ principal, resource, name, pattern }: AccessRule): string {
  return `${principal} ${resource.toLowerCase()} ${name}${pattern === 'PREFIXED' ? '…' : ''}`;
}

function wordsOf({ permission, operation, host }: AccessRule): string {
  return `${permission} ${operation}${host === '*' ? '' : ` from ${host}`}`;
}

function ofSubjects(plan: ClusterPlan, { subjects }: ClusterFacts): readonly Difference[] {
  return plannedSubjects(plan).flatMap(({ subject }) => {
    const found = subjects.get(subject);
    if (found === undefined) return [difference('SUBJECT_MISSING', subject, 'registered', 'no such subject')];
    return [
      ...(found.isCurrent
        ? []
        : [difference('SCHEMA_MISSING', subject, 'the schema of this release', 'other versions only')]),
      ...(found.compatibility === COMPATIBILITY
        ? []
        : [difference('COMPATIBILITY_DIFFERS', subject, COMPATIBILITY, found.compatibility ?? 'not set')]),
    ];
  });
}
