// Who may do what on a broker: one table, from the writers and readers of schemas/topics.json. Pure.
//
// Invariants
//   A1. What stands in no row is denied: rules only ever allow.
//   A2. A log has one writer, the service that owns it; nobody else is let near it but to read.
//   A3. A group is joined by the users it is named after, and by nobody else.
import type { AccessRule } from '@recourse/kafka';
import type { ClusterPlan, ClusterUser } from './plan.js';
import { catalogueOf, REQUESTS } from './topics.js';
import type { CatalogueTopic } from './topics.js';

type Right = Pick<AccessRule, 'resource' | 'name' | 'operation'>;

/** The word for a user's kind in `written_by` and `read_by`; a service stands there by its name. */
const WORD_OF = { producer: 'producers', worker: 'workers', consumer: 'consumers', critic: 'critics' } as const;

/** The word for the auditor in `written_by`. */
const AUDITOR = 'auditor';

/** The rules of a plan's users; none where it has no users. */
export function plannedAccess({ users, adapters }: Pick<ClusterPlan, 'users' | 'adapters'>): readonly AccessRule[] {
  const topics = catalogueOf({ adapters });
  return (users ?? []).flatMap((user) =>
    rightsOf(user, topics).map((right) => ({
      ...right,
      principal: `User:${user.name}`,
      host: '*',
      permission: 'ALLOW' as const,
      pattern: 'LITERAL' as const,
    })),
  );
}

function rightsOf(user: ClusterUser, topics: readonly CatalogueTopic[]): readonly Right[] {
  return [...topics.flatMap((topic) => onTopic(user, topic)), ...beyondTopics(user)];
}

function onTopic(user: ClusterUser, topic: CatalogueTopic): readonly Right[] {
  const may = (operation: AccessRule['operation']): Right => ({ resource: 'TOPIC', name: topic.name, operation });
  if (user.as === 'operator')
    return [may('DESCRIBE'), may('DESCRIBE_CONFIGS'), ...(topic.kind === 'wire' ? [] : [may('READ')])];
  if (user.as === 'auditor') return audited(topic).map(may);
  const writes = isNamed(user, topic.name, wordsOf(topic.written_by));
  const hears = isNamed(user, topic.name, wordsOf(topic.read_by));
  // An owner reads its own log before it writes to it; a service sends home what lies on the wrong partition of a wire (L14).
  const reads = hears || (writes && topic.kind !== 'wire');
  const sendsHome = hears && user.as === 'service' && topic.kind === 'wire';
  return [...(reads ? [may('READ')] : []), ...(writes || sendsHome ? [may('WRITE')] : [])];
}

/** Whoever is no service of ours. */
const OUTSIDERS: readonly string[] = Object.values(WORD_OF);

/** It reads every log, and the wires that outsiders write to; it writes its own log alone. */
function audited({ kind, written_by }: CatalogueTopic): readonly AccessRule['operation'][] {
  const writers = wordsOf(written_by);
  if (writers.includes(AUDITOR)) return ['DESCRIBE', 'READ', 'WRITE'];
  return kind !== 'wire' || writers.some((word) => OUTSIDERS.includes(word)) ? ['DESCRIBE', 'READ'] : [];
}

function isNamed(user: ClusterUser, topic: string, words: readonly string[]): boolean {
  switch (user.as) {
    case 'operator':
    case 'auditor':
      return false;
    case 'service':
      return words.includes(serviceOf(user));
    case 'worker': {
      const adapter = topic.startsWith(REQUESTS) ? topic.slice(REQUESTS.length) : null;
      return words.includes(WORD_OF.worker) && (adapter === null || user.adapters.includes(adapter));
    }
    case 'producer':
    case 'consumer':
    case 'critic':
      return words.includes(WORD_OF[user.as]);
  }
}

/** A cluster may know a service under another name than ours. */
function serviceOf({ name, service = name }: Extract<ClusterUser, { readonly as: 'service' }>): string {
  return service;
}

/** Groups, names of transactions, and the cluster itself. */
function beyondTopics(user: ClusterUser): readonly Right[] {
  const joins = (name: string): Right => ({ resource: 'GROUP', name, operation: 'READ' });
  switch (user.as) {
    case 'service':
      return [joins(serviceGroup(serviceOf(user)))];
    case 'worker':
      // Whoever joined the other's group would take its work, or say that it was read.
      return user.adapters.map((adapter) =>
        joins(user.observes === true ? observersGroup(adapter) : workersGroup(adapter)),
      );
    case 'consumer':
      return [joins(user.name)];
    case 'producer':
    case 'critic':
      return [{ resource: 'TRANSACTIONAL_ID', name: user.name, operation: 'WRITE' }];
    case 'auditor':
      return [];
    case 'operator':
      return [{ resource: 'CLUSTER', name: 'kafka-cluster', operation: 'DESCRIBE' }];
  }
}

/** Group of a service's instances. */
export const serviceGroup = (service: string): string => `recourse.${service}`;

/** Group of the workers of an adapter, unless they have credentials that allow another. */
export const workersGroup = (adapter: string): string => `${adapter}-workers`;

/** Group of the workers that observe what those of an adapter did. */
const observersGroup = (adapter: string): string => `${adapter}-observers`;

/** `mutation-ledger` and `consumers` of `consumers, mutation-ledger (broadcast)`. */
export function wordsOf(list: string): readonly string[] {
  return list.split(',').map((word) => word.replace(/\(.*\)/, '').trim());
}
