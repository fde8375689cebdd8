// A stack of its own for one bench: servers in a temporary directory, topics, schemas and databases made, and all gone at the end.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, provision, sharedTestStack, startTestStack, topicSpecs } from '@recourse/dev-stack';
import type { DatabaseAddress, DevStack, StackFacts, StackOptions, TestStack } from '@recourse/dev-stack';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka, SchemaRegistry, TopicSpec } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { Kafka as KafkaJs, logLevel } from 'kafkajs';

export interface BenchStack {
  readonly stack: StackFacts;
  /** Folder for files of this run; goes away with it. */
  readonly folder: string;
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  readonly codecs: Codecs;
  /** kafkajs without anything of ours: what the raw baselines use. */
  readonly raw: KafkaJs;
}

export const PARTITIONS = 2;
const TOPIC_TRIES = 5;
const SAY = (line: string): void => {
  process.stderr.write(`  ${line}\n`);
};

/** Starts a stack (or takes the one the environment names), does the work and takes everything away again. */
export async function withStack<T>(work: (bench: BenchStack) => Promise<T>): Promise<T> {
  return withThe(sharedTestStack, work);
}

/** Starts a stack of which the bench may kill servers, whatever the environment names. */
export async function withOwnStack<T>(
  options: Pick<StackOptions, 'kafkaSettings'>,
  work: (bench: BenchStack, stack: DevStack) => Promise<T>,
): Promise<T> {
  return withThe(() => startTestStack(options), work);
}

async function withThe<Stack extends TestStack, T>(
  start: () => Promise<Stack>,
  work: (bench: BenchStack, stack: Stack) => Promise<T>,
): Promise<T> {
  SAY('starting Kafka, registry and PostgreSQL in a temporary directory');
  const stack = await start();
  const folder = mkdtempSync(join(tmpdir(), 'recourse-bench-'));
  try {
    return await work(benchOn(stack, folder), stack);
  } finally {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Clients of a stack that is running. */
export function benchOn(stack: StackFacts, folder: string): BenchStack {
  const kafka = createKafka({ brokers: stack.kafka.brokers, clientId: 'bench' });
  const registry = createSchemaRegistry({ url: stack.registryUrl, timeoutMs: 30_000 });
  const raw = new KafkaJs({
    brokers: [...stack.kafka.brokers],
    clientId: 'raw',
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
  });
  return { stack, folder, kafka, registry, codecs: createCodecs(registry), raw };
}

/** Makes topics of the catalogue (all of them without names) and others beside them. */
export async function makeTopics(
  { stack, kafka }: BenchStack,
  more: readonly TopicSpec[] = [],
  partitions = PARTITIONS,
): Promise<void> {
  for (let left = TOPIC_TRIES; ; left -= 1) {
    try {
      await provision(stack, kafka, { topics: [...topicSpecs(partitions), ...more], databases: [] });
      return;
    } catch (cause) {
      // A broker that is busy may not know a topic yet that it has just made.
      if (left === 0 || !(cause instanceof Failure) || cause.code !== 'TOPIC_MISSING') throw cause;
      await new Promise((resolve) => {
        setTimeout(resolve, 500);
      });
    }
  }
}

/** Registers the schemas of topics and prepares their writers. */
export async function prepareWriters({ codecs }: BenchStack, ...topics: readonly string[]): Promise<void> {
  for (const topic of topics) await codecs.prepareWriter(topic, { register: true });
}

/** Makes topics of the catalogue anew, empty. */
export async function emptyTopics(
  bench: BenchStack,
  topics: readonly string[],
  partitions = PARTITIONS,
): Promise<void> {
  const admin = bench.raw.admin();
  await admin.connect();
  try {
    const existing = await admin.listTopics();
    await admin.deleteTopics({ topics: topics.filter((topic) => existing.includes(topic)) });
    for (let left = 200; left > 0 && (await admin.listTopics()).some((topic) => topics.includes(topic)); left -= 1)
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
  } finally {
    await admin.disconnect();
  }
  await makeTopics(bench, [], partitions);
}

let databases = 0;

/** A new, empty database. */
export function freshDatabase({ stack }: BenchStack, name: string): Promise<DatabaseAddress> {
  databases += 1;
  return createDatabase(stack, `bench_${name}_${String(process.pid)}_${String(databases)}`, 'bench', 'bench');
}

/** An id that no earlier log had. */
export function freshLogId(): string {
  return `bench-${randomBytes(6).toString('hex')}`;
}

export { SAY as say };
