// Makes what the services expect to find: the topics of schemas/topics.json and a database for each of them.
import type { Kafka, TopicSpec } from '@recourse/kafka';
import { plannedTopics } from '@recourse/service/provision';
import type { ClusterPlan } from '@recourse/service/provision';
import { createDatabase, type DatabaseAddress } from './databases.js';
import type { PostgresAddress } from './postgres-server.js';

export interface DatabaseSpec {
  readonly name: string;
  readonly role: string;
  readonly password: string;
}

export interface Catalogue {
  readonly topics: readonly TopicSpec[];
  readonly databases: readonly DatabaseSpec[];
}

/** Partitions of a partitioned topic in development: enough that keys are spread and a second owner has work. */
const PARTITIONS = 2;

/** What a cluster should be, with a request topic per adapter. Without users it asks nobody who they are. */
export function planOf(
  partitions: number = PARTITIONS,
  adapters: readonly string[] = [],
  { users = null, brokers = 1 }: { readonly users?: ClusterPlan['users']; readonly brokers?: number } = {},
): ClusterPlan {
  // Every node has a copy, and a record counts once a majority has it.
  return {
    partitions,
    replication: brokers,
    min_insync_replicas: Math.floor(brokers / 2) + 1,
    adapters: [...adapters],
    users,
  };
}

/** The topics of schemas/topics.json for one broker, with a request topic per adapter. */
export function topicSpecs(partitions?: number, adapters?: readonly string[]): readonly TopicSpec[] {
  return plannedTopics(planOf(partitions, adapters));
}

/**
 * Creates what is missing and leaves what is there.
 *
 * Errors: Failure(PARTITION_COUNT_CHANGED) when a topic exists with another partition count; the servers' own.
 */
export async function provision(
  stack: { readonly postgres: PostgresAddress },
  kafka: Pick<Kafka, 'admin'>,
  catalogue: Catalogue,
): Promise<readonly DatabaseAddress[]> {
  const [, databases] = await Promise.all([
    ensureTopics(kafka, catalogue.topics),
    createDatabases(stack, catalogue.databases),
  ]);
  return databases;
}

async function ensureTopics(kafka: Pick<Kafka, 'admin'>, topics: readonly TopicSpec[]): Promise<void> {
  const admin = await kafka.admin();
  try {
    await admin.ensureTopics(topics);
  } finally {
    await admin.close();
  }
}

async function createDatabases(
  stack: { readonly postgres: PostgresAddress },
  specs: readonly DatabaseSpec[],
): Promise<readonly DatabaseAddress[]> {
  const made: DatabaseAddress[] = [];
  // One after the other: CREATE DATABASE copies a template that only one session may use at a time.
  for (const { name, role, password } of specs) made.push(await createDatabase(stack, name, role, password));
  return made;
}
