// What rebuilding a service's rows from its log costs: its tables are gone, its log stands.
import { emptyTopics, freshDatabase, freshLogId, PARTITIONS, prepareWriters, say } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { ingestRound, LEAST } from './ingest.bench.js';
import { contentsOf } from './ingest-contents.js';
import type { Contents } from './ingest-contents.js';
import { EXECUTIONS_TOPIC, LEDGER_TOPICS, preload } from './preload.js';
import type { RebuildAnswer, RebuildTask } from './rebuild-service.main.js';
import { answerOf } from './worker-process.js';

export interface Rebuilt {
  readonly rounds: readonly (RebuildAnswer & { readonly done: number })[];
  /** The rows are those that the service had written as it went, in every round. */
  readonly areSame: boolean;
}

/** Lets the ledger record executions, then rebuild what it has of them on an empty database, so many times. */
export async function rebuildRounds(bench: BenchStack, executions: number, rounds: number): Promise<Rebuilt> {
  await emptyTopics(bench, [EXECUTIONS_TOPIC]);
  await prepareWriters(bench, ...LEDGER_TOPICS);
  await preload(bench, executions, LEAST.of);
  const { url } = await freshDatabase(bench, 'rebuilt_from');
  const logId = freshLogId();
  const { contents } = await ingestRound(bench, LEAST, { databaseUrl: url, executions, logId });
  const done: (RebuildAnswer & { readonly done: number; readonly contents: Contents })[] = [];
  for (let round = 0; round < rounds; round += 1) done.push(await rebuild(bench, logId));
  return { rounds: done, areSame: done.every((one) => JSON.stringify(one.contents) === JSON.stringify(contents)) };
}

async function rebuild(
  bench: BenchStack,
  logId: string,
): Promise<RebuildAnswer & { readonly done: number; readonly contents: Contents }> {
  const { url } = await freshDatabase(bench, 'rebuilt');
  const { stack } = bench;
  const answer = await answerOf<RebuildAnswer>('./rebuild-service.main.js', {
    brokers: stack.kafka.brokers,
    registryUrl: stack.registryUrl,
    databaseUrl: url,
    logId,
    keyStoreUrl: null,
    partitions: PARTITIONS,
  } satisfies RebuildTask);
  say(`  rebuilt ${String(Math.round((answer.records / answer.ms) * 1_000))} records/s`);
  return { ...answer, done: answer.records, contents: await contentsOf(url, LEAST) };
}
