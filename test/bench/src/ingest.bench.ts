// ingest, ingest-sealed, ingest-full: executions to ledger rows.
//
// Ours: preloaded ToolExecuted of two partitions go through the ledger's production loop (decide, append to the mutations
// log, project) into its rows, from the first fetch to the last commit; two connections write. Raw: a pipeline without rules fetches the
// same inputs, appends the very same octets to another log, and writes the very same rows by COPY and merge, likewise. In turns, each on
// an empty database.
import type { SigningPlaces } from '@recourse/kafka';
import type { ToolExecuted } from '@recourse/messages';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/lib/paths.mjs';
import { execution, fullExecution, withWindow } from './executions.js';
import type { Registered } from './executions.js';
import {
  emptyTopics,
  freshDatabase,
  freshLogId,
  makeTopics,
  PARTITIONS,
  prepareWriters,
  say,
  withStack,
} from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { contentsOf } from './ingest-contents.js';
import type { Contents } from './ingest-contents.js';
import type { IngestAnswer, IngestTask } from './ingest-service.main.js';
import type { BareAnswer, BareTask } from './ingest-bare.main.js';
import {
  CONTRACTS_TOPIC,
  EXECUTIONS_TOPIC,
  LEDGER_LOGS,
  LEDGER_TOPICS,
  lengthOf,
  preload,
  register,
} from './preload.js';
import type { Measured, Numbers } from './report.js';
import { interleaved, rateOf, sum } from './rounds.js';
import { answerOf } from './worker-process.js';

/** Executions of one produce request and one transaction of the raw side. */
const PER_BARE_BATCH = 1_000;
/** Whose data the sealed executions hold: each key is made once, and known from then on. */
const SUBJECTS = 1_000;
const MUTATIONS_LOG = 'recourse.mutations';
/** Windows that stay open whatever the bench takes, milliseconds. */
const WEEK_MS = 604_800_000;

export interface IngestSize {
  readonly rounds: number;
  readonly executions: number;
}
export const INGEST: IngestSize = { rounds: 2, executions: 1_000_000 };
export const INGEST_QUICK: IngestSize = { rounds: 2, executions: 100_000 };
export const INGEST_FULL: IngestSize = { rounds: 2, executions: 300_000 };
export const INGEST_FULL_QUICK: IngestSize = { rounds: 2, executions: 40_000 };

/** What is ingested, and what it becomes. */
export interface Shape {
  readonly prefix: string;
  readonly of: (index: number) => ToolExecuted;
  readonly contract: Registered | null;
  /** Payloads are sealed on their way into the log. */
  readonly isSealed: boolean;
  /** Rows of one execution by table of the mutations log. */
  readonly tables: Readonly<Record<string, number>>;
}

export interface Ours extends IngestAnswer {
  readonly done: number;
  readonly contents: Contents;
  readonly logged: number;
}
interface Raw extends BareAnswer {
  readonly done: number;
  readonly contents: Contents;
  /** Records of the log that was copied. */
  readonly logged: number;
}

/** The least there is to record: no contract, no refs, one row. */
export const LEAST: Shape = {
  prefix: 'ingest',
  of: execution,
  contract: null,
  isSealed: false,
  tables: { mutation: 1 },
};

/** Executions of that shape. */
export function benchIngest(size: IngestSize): Promise<Measured> {
  return bench(LEAST, size);
}

/** The same of subjects whose keys are known, with payloads that the ledger seals. */
export function benchIngestSealed(size: IngestSize): Promise<Measured> {
  return bench(
    {
      ...LEAST,
      prefix: 'ingest_sealed',
      of: (index) => ({ ...execution(index), subject_ref: `customer/${String(index % SUBJECTS)}` }),
      isSealed: true,
    },
    size,
  );
}

/**
 * What a user sends: a contract, an assumption, a parent, payloads that the ledger seals.
 *
 * Shape:  four rows: the mutation, and a binding for the assumption, for the parent, and for the event that closes its window.
 */
export function benchIngestFull(size: IngestSize): Promise<Measured> {
  const contract = withWindow(
    readFileSync(join(root, 'examples', 'contracts', 'payments.issue_refund.json'), 'utf8'),
    WEEK_MS,
  );
  const committedAt = Date.now();
  return bench(
    {
      prefix: 'ingest_full',
      of: (index) => fullExecution(index, contract, committedAt),
      contract,
      isSealed: true,
      tables: { mutation: 1, binding: 3 },
    },
    size,
  );
}

async function bench(shape: Shape, { rounds, executions }: IngestSize): Promise<Measured> {
  return withStack(async (stack) => {
    await makeTopics(stack);
    await emptyTopics(stack, [EXECUTIONS_TOPIC]);
    await prepareWriters(stack, ...LEDGER_TOPICS);
    await preload(stack, executions, shape.of);
    let source = '';
    const measured = await interleaved(rounds, {
      ours: async (round) => {
        say(`round ${String(round + 1)} of ${String(rounds)}: ingest`);
        const { url } = await freshDatabase(stack, 'ingest');
        const result = await ingestRound(stack, shape, { databaseUrl: url, executions });
        source = url;
        say(`  ${String(Math.round((executions / result.ms) * 1_000))} executions/s`);
        return result;
      },
      raw: async (round) => {
        say(`round ${String(round + 1)} of ${String(rounds)}: bare pipeline`);
        const result = await bareRound(stack, shape, source, executions);
        say(`  ${String(Math.round((executions / result.ms) * 1_000))} executions/s`);
        return result;
      },
    });
    return measuredOf(shape, measured, executions, rounds);
  });
}

function measuredOf(
  { prefix, tables }: Shape,
  { ours, raw }: { readonly ours: readonly Ours[]; readonly raw: readonly Raw[] },
  executions: number,
  rounds: number,
): Measured {
  const perExecution = (pick: (round: Ours) => number): number => sum(ours.map(pick)) / (executions * rounds);
  const rows = sum(Object.values(tables));
  return named(prefix, {
    figures: {
      per_s: rateOf(ours),
      bare_per_s: rateOf(raw),
      cpu_us_per_execution: perExecution(({ cpuMs }) => cpuMs * 1_000),
    },
    ratios: { vs_bare: rateOf(ours) / rateOf(raw) },
    counts: {
      executions,
      rounds,
      rows_per_execution: rows,
      log_records_per_execution: perExecution(({ records }) => records),
      produce_requests_per_execution: perExecution(({ appends }) => appends),
      statements_per_execution: perExecution(({ statements }) => statements),
      commits_per_execution: perExecution(({ projections }) => projections),
      records_per_produce_request: sum(ours.map(({ records }) => records)) / sum(ours.map(({ appends }) => appends)),
    },
    gates: gatesOf(tables, ours, raw, executions),
    notes: [
      `${prefix}: ${String(executions)} executions over ${String(PARTITIONS)} partitions a round, ${String(rows)} rows each; each pipeline shares the cores with broker and PostgreSQL`,
    ],
  });
}

function gatesOf(
  tables: Shape['tables'],
  ours: readonly Ours[],
  raw: readonly Raw[],
  executions: number,
): Measured['gates'] {
  const isWhole = ({ contents }: Ours | Raw): boolean =>
    Object.entries(tables).every(([table, count]) => contents[table]?.rows === count * executions);
  const isDistinct = ({ contents }: Ours | Raw): boolean =>
    Object.values(contents).every((content) => content.distinct === content.rows);
  return {
    rows_of_each: ours.every(isWhole),
    rows_unique: ours.every(isDistinct),
    log_holds_each_once: ours.every(({ recorded, logged, records }) => recorded === executions && logged === records),
    nothing_parked: ours.every(({ parked, appendsUnknown }) => parked === 0 && appendsUnknown === 0),
    bare_wrote_the_same_rows: raw.every(
      (round, at) => isWhole(round) && hashesOf(round) === hashesOf(sourceOf(ours, at)),
    ),
    bare_fetched_and_appended_as_much: raw.every(
      ({ fetched, appended, logged }, at) =>
        fetched === executions && appended === logged && logged === sourceOf(ours, at)?.logged,
    ),
  };
}

/** Ours go first in even rounds, and last in odd ones: the raw side takes what was made last. */
function sourceOf(ours: readonly Ours[], rawRound: number): Ours | undefined {
  return ours[rawRound - (rawRound % 2)];
}

function hashesOf(round: Ours | Raw | undefined): string {
  return Object.values(round?.contents ?? {})
    .map(({ hash }) => hash)
    .join();
}

/** Puts a bench's name before its keys. */
function named(prefix: string, { figures, ratios, counts, gates, notes }: Measured): Measured {
  const all = <T>(of: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(of).map(([key, value]) => [`${prefix}_${key}`, value]));
  return { figures: all<Numbers[string]>(figures), ratios: all(ratios), counts: all(counts), gates: all(gates), notes };
}

interface RoundOf {
  readonly databaseUrl: string;
  readonly executions: number;
  /** Keys where the ledger asks who speaks. */
  readonly signing?: SigningPlaces | undefined;
  /** Default: one that no earlier log had. */
  readonly logId?: string;
}

export async function ingestRound(
  bench: BenchStack,
  shape: Shape,
  { databaseUrl, executions, signing, logId = freshLogId() }: RoundOf,
): Promise<Ours> {
  // Logs are begun anew for every round; the executions stay where they are.
  await emptyTopics(bench, [...LEDGER_LOGS, CONTRACTS_TOPIC]);
  const { stack } = bench;
  if (shape.contract !== null) await register(bench, logId, shape.contract);
  const keyStoreUrl = shape.isSealed ? (await freshDatabase(bench, 'keys')).url : null;
  const task: IngestTask = {
    brokers: stack.kafka.brokers,
    registryUrl: stack.registryUrl,
    databaseUrl,
    logId,
    keyStoreUrl,
    executions,
    ...settingsGiven(),
    ...(signing === undefined ? {} : { signing }),
  };
  const result = await answerOf<IngestAnswer>('./ingest-service.main.js', task);
  return {
    ...result,
    done: executions,
    contents: await contentsOf(databaseUrl, shape),
    logged: await lengthOf(bench, MUTATIONS_LOG),
  };
}

/** Settings of the loop to try out: `RECOURSE_BENCH_SETTINGS='{"itemsMax":900}'`. */
function settingsGiven(): Pick<IngestTask, 'settings'> {
  const given = process.env['RECOURSE_BENCH_SETTINGS'];
  return given === undefined ? {} : { settings: JSON.parse(given) as NonNullable<IngestTask['settings']> };
}

let copies = 0;

async function bareRound(bench: BenchStack, shape: Shape, sourceUrl: string, executions: number): Promise<Raw> {
  const { url } = await freshDatabase(bench, 'bare');
  copies += 1;
  const copy = `bench.ingest.${String(process.pid)}.${String(copies)}`;
  await makeTopics(bench, [{ name: copy, partitions: PARTITIONS, replicationFactor: 1 }]);
  const result = await answerOf<BareAnswer>('./ingest-bare.main.js', {
    brokers: bench.stack.kafka.brokers,
    topics: { executions: EXECUTIONS_TOPIC, log: MUTATIONS_LOG, copy },
    sourceUrl,
    targetUrl: url,
    partitions: PARTITIONS,
    tables: shape.tables,
    executionsPerBatch: PER_BARE_BATCH,
  } satisfies BareTask);
  return { ...result, done: executions, contents: await contentsOf(url, shape), logged: await lengthOf(bench, copy) };
}
