// Makes what the services expect to find: the topics of schemas/topics.json and a database for each of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kafka, TopicSpec } from '@recourse/kafka';
import { root } from '../../../scripts/lib/paths.mjs';
import { withAdapterTopics } from './adapters.js';
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

/** The topics of schemas/topics.json for one broker, with a request topic per adapter. */
export function topicSpecs(partitions: number = PARTITIONS, adapters: readonly string[] = []): readonly TopicSpec[] {
  // Checked by `node scripts/generate.mjs --check`.
  const { topics } = JSON.parse(readFileSync(join(root, 'schemas', 'topics.json'), 'utf8')) as {
    readonly topics: readonly CatalogueTopic[];
  };
  return withAdapterTopics(
    topics.map(({ name, partitioned, config }) => ({
      name,
      partitions: partitioned ? partitions : 1,
      replicationFactor: 1,
      config,
    })),
    adapters,
  );
}

interface CatalogueTopic {
  readonly name: string;
  readonly partitioned: boolean;
  readonly config: Readonly<Record<string, string>>;
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
