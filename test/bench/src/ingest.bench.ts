// ingest: executions to ledger rows.
//
// Ours: preloaded ToolExecuted of two partitions go through the ledger's production loop (decide, append to the mutations
// log, project) into one row each, from the first fetch to the last commit; two connections write. Raw: the very same rows
// go from memory into the same, empty tables by COPY and merge, on two connections. In turns, each on an empty database.
import { partitionForKey } from '@recourse/kafka';
import type { OutgoingRecord } from '@recourse/kafka';
import { Client } from 'pg';
import { execution } from './executions.js';
import { emptyTopics, freshDatabase, freshLogId, makeTopics, PARTITIONS, prepareWriters, say, withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import type { IngestAnswer, IngestTask } from './ingest-service.main.js';
import type { MergeAnswer, MergeTask } from './ingest-merge.main.js';
import type { Measured } from './report.js';
import { interleaved, rateOf, sum } from './rounds.js';
import { answerOf } from './worker-process.js';

const WIRE = 'recourse.tool-executions';
const LOGS = ['recourse.mutations', 'recourse.assumptions', 'recourse.rollback-notifications'];
const PRELOAD_BATCH = 1_000;
/** Rows the projector writes in one transaction when it has more to do than it can. */
const ROWS_PER_MERGE = 10_000;

export interface IngestSize { readonly rounds: number; readonly executions: number }
export const INGEST_FULL: IngestSize = { rounds: 2, executions: 1_000_000 };
export const INGEST_QUICK: IngestSize = { rounds: 2, executions: 100_000 };

interface Round extends IngestAnswer { readonly done: number; readonly rows: number; readonly distinct: number; readonly logged: number }

export async function benchIngest({ rounds, executions }: IngestSize): Promise<Measured> {
  return withStack(async (bench) => {
    await makeTopics(bench);
    await emptyTopics(bench, [WIRE]);
    await prepareWriters(bench, WIRE, ...LOGS, 'recourse.assumption-events', 'recourse.contracts', 'recourse.recoveries', 'recourse.ledger-commands');
    await preload(bench, executions);
    let source = '';
    const measured = await interleaved(rounds, {
      ours: async (round) => {
        say(`round ${String(round + 1)} of ${String(rounds)}: ingest`);
        const database = await freshDatabase(bench, 'ingest');
        const result = await ingestRound(bench, database.url, executions);
        source = database.url;
        say(`  ${String(Math.round((executions / result.ms) * 1_000))} executions/s`);
        return result;
      },
      raw: async (round) => {
        say(`round ${String(round + 1)} of ${String(rounds)}: merge`);
        const result = await mergeRound(bench, source);
        say(`  ${String(Math.round((result.rows / result.ms) * 1_000))} rows/s`);
        return { ...result, done: result.rows };
      },
    });
    return measuredOf(measured, executions, rounds);
  });
}

function measuredOf({ ours, raw }: { readonly ours: readonly Round[]; readonly raw: readonly (MergeAnswer & { readonly done: number })[] }, executions: number, rounds: number): Measured {
  const total = executions * rounds;
  const perExecution = (pick: (round: Round) => number): number => sum(ours.map(pick)) / total;
  return {
    figures: { ingest_per_s: rateOf(ours), ingest_merge_per_s: rateOf(raw), ingest_cpu_us_per_execution: perExecution(({ cpuMs }) => cpuMs * 1_000) },
    ratios: { ingest_vs_merge: rateOf(ours) / rateOf(raw) },
    counts: {
      ingest_executions: executions, ingest_rounds: rounds,
      ingest_log_records_per_execution: perExecution(({ records }) => records), ingest_produce_requests_per_execution: perExecution(({ appends }) => appends),
      ingest_statements_per_execution: perExecution(({ statements }) => statements), ingest_commits_per_execution: perExecution(({ projections }) => projections),
      ingest_records_per_produce_request: sum(ours.map(({ records }) => records)) / sum(ours.map(({ appends }) => appends)),
    },
    gates: {
      ingest_one_row_each: ours.every(({ rows }) => rows === executions),
      ingest_rows_unique: ours.every(({ distinct }) => distinct === executions),
      ingest_log_holds_each_once: ours.every(({ recorded, logged, records }) => recorded === executions && logged === records),
      ingest_nothing_parked: ours.every(({ parked, appendsUnknown }) => parked === 0 && appendsUnknown === 0),
      ingest_merge_wrote_the_same_rows: raw.every(({ rows }) => rows === executions),
    },
    notes: [`ingest: ${String(executions)} executions over ${String(PARTITIONS)} partitions a round; loop, broker and PostgreSQL share the cores; merge shares them with PostgreSQL alone`],
  };
}

async function preload({ codecs, raw }: BenchStack, executions: number): Promise<void> {
  say(`preloading ${String(executions)} executions`);
  const producer = raw.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const waiting: OutgoingRecord[][] = Array.from({ length: PARTITIONS }, () => []);
  const flush = async (): Promise<void> => {
    const full = waiting.map((records) => records.splice(0));
    await Promise.all(full.map((records, partition) => producer.send({ topic: WIRE, acks: -1, messages: records.map(({ key, value }) => ({ key, value, partition })) })));
  };
  for (let index = 0; index < executions; index += 1) {
    const body = execution(index);
    waiting[partitionForKey(body.run_id, PARTITIONS)]?.push({ key: Buffer.from(body.run_id), value: codecs.encode(WIRE, 'ToolExecuted', body) });
    if ((index + 1) % PRELOAD_BATCH === 0) await flush();
  }
  await flush();
  await producer.disconnect();
}

async function ingestRound(bench: BenchStack, databaseUrl: string, executions: number): Promise<Round> {
  // Logs are begun anew for every round; the executions stay where they are.
  await emptyTopics(bench, LOGS);
  const { stack } = bench;
  const task: IngestTask = { brokers: stack.kafka.brokers, registryUrl: stack.registryUrl, databaseUrl, logId: freshLogId(), executions, ...settingsGiven() };
  const result = await answerOf<IngestAnswer>('./ingest-service.main.js', task);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ readonly n: string; readonly d: string }>('SELECT count(*) AS n, count(DISTINCT mutation_id) AS d FROM "mutations"."mutation"');
  await client.end();
  return { ...result, done: executions, rows: Number(rows[0]?.n), distinct: Number(rows[0]?.d), logged: await lengthOf(bench, 'recourse.mutations') };
}

/** Settings of the loop to try out: `RECOURSE_BENCH_SETTINGS='{"itemsMax":900}'`. */
function settingsGiven(): Pick<IngestTask, 'settings'> {
  const given = process.env['RECOURSE_BENCH_SETTINGS'];
  return given === undefined ? {} : { settings: JSON.parse(given) as NonNullable<IngestTask['settings']> };
}

async function mergeRound(bench: BenchStack, sourceUrl: string): Promise<MergeAnswer> {
  const { url } = await freshDatabase(bench, 'merge');
  return answerOf<MergeAnswer>('./ingest-merge.main.js', { sourceUrl, targetUrl: url, partitions: PARTITIONS, rowsPerBatch: ROWS_PER_MERGE } satisfies MergeTask);
}

async function lengthOf({ kafka }: BenchStack, topic: string): Promise<number> {
  const reader = await kafka.rawReader();
  try {
    const ranges = await Promise.all(Array.from({ length: PARTITIONS }, (_, partition) => reader.range(topic, partition)));
    return sum(ranges.map(({ high }) => high));
  } finally {
    await reader.close();
  }
}
