// recourse cluster …: what a cluster has to have before the first service starts.
import { createSchemaRegistry } from '@recourse/kafka';
import type { TopicSpec } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { plannedTopics } from '@recourse/service/provision';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { known, OPERATOR } from '../config.js';
import { kafkaAs } from '../kafka.js';
import type { Session } from '../session.js';
import { positiveInteger } from './options.js';
import type { Act } from './options.js';

interface AdapterOptions {
  readonly adapters: readonly string[];
}
interface TopicOptions extends AdapterOptions {
  readonly partitions: number;
  readonly replicationFactor: number;
}

/** The first part of a capability's name (libs/contract). */
const ADAPTER = /^[a-z][a-z0-9-]{0,62}$/;
const REGISTRY_TIMEOUT_MS = 30_000;
/** From three copies on a write is taken by two of them at least. */
const COPIES_SAFE = 3;

export function addCluster(program: Command, act: Act): void {
  const cluster = program
    .command('cluster')
    .description('makes what the services expect to find: what is missing is made, what is there is left alone');
  cluster
    .command('make-topics')
    .description('the topics, with a request topic per adapter')
    .addOption(adaptersOption())
    .requiredOption('--partitions <n>', 'of each partitioned topic; it can never change', positiveInteger)
    .option('--replication-factor <n>', 'copies of each', positiveInteger, COPIES_SAFE)
    .action(act<TopicOptions>(makeTopics));
  cluster
    .command('make-schemas')
    .description('the schemas of every topic, each as a subject of its own')
    .addOption(adaptersOption())
    .action(act<AdapterOptions>(makeSchemas));
}

/** The topics of a cluster as they are made. Pure. */
export function clusterTopics({ partitions, replicationFactor, adapters }: TopicOptions): readonly TopicSpec[] {
  const copies = replicationFactor < COPIES_SAFE ? 1 : 2;
  return plannedTopics({
    partitions,
    replication: replicationFactor,
    min_insync_replicas: copies,
    adapters: [...adapters],
  });
}

function adaptersOption(): Option {
  return new Option('--adapters <names>', 'adapters that workers serve, with commas')
    .default(['payments'], 'payments')
    .argParser(adapterNames);
}

/** Errors: InvalidArgumentError, which commander reports. */
function adapterNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => ADAPTER.test(name))) return names;
  throw new InvalidArgumentError('It must be lower-case names of 1 to 63 letters, digits and -, with commas.');
}

async function makeTopics(session: Session, options: TopicOptions): Promise<void> {
  const kafka = kafkaAs(session.settings, OPERATOR);
  const topics = clusterTopics(options);
  const admin = await kafka.admin();
  try {
    const before = new Set(await admin.listTopics());
    await admin.ensureTopics(topics);
    const made = topics.map(({ name }) => name).filter((name) => !before.has(name));
    session.show(
      { made, total: topics.length },
      () => `${String(made.length)} topics made, ${String(topics.length - made.length)} were there`,
    );
  } finally {
    await admin.close();
  }
}

async function makeSchemas(session: Session, { adapters }: AdapterOptions): Promise<void> {
  const { registryUrl, registryWriter: writer } = session.settings;
  const registry = createSchemaRegistry({
    url: known(registryUrl, 'where the schema registry is', '--registry'),
    timeoutMs: REGISTRY_TIMEOUT_MS,
    ...(writer === null ? {} : { writer }),
  });
  const codecs = createCodecs(registry);
  const topics = clusterTopics({ adapters, partitions: 1, replicationFactor: 1 });
  // One topic after the other: a registry that has just started takes no burst.
  for (const { name } of topics) await codecs.prepareWriter(name, { register: true });
  session.show(
    { topics: topics.map(({ name }) => name) },
    () => `schemas of ${String(topics.length)} topics are registered`,
  );
}
