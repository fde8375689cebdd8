// audit: what verifying a log costs whoever does not trust it, and rebuilding a service whoever lost its tables.
//
// Ours: `audit verify`, from Kafka and from a dump, with its leaf hashes in files. Raw: reading the same records from Kafka and doing
// nothing with them, and SHA-256 of the same bytes from memory. Each in a process of its own, in turns, on one broker.
import { join } from 'node:path';
import { HashTree, NodeFiles } from '@recourse/audit';
import { isIncluded, sha256 } from '@recourse/chain';
import { OwnLog } from '@recourse/event-log';
import type { Decided } from '@recourse/event-log';
import type { ReadAnswer, ReadTask } from './audit-reader.main.js';
import { emptyTopics, freshLogId, makeTopics, PARTITIONS, prepareWriters, say, withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { rebuildRounds } from './rebuild.js';
import type { Rebuilt } from './rebuild.js';
import type { Measured } from './report.js';
import { interleaved, median, percentile, rateOf, sum } from './rounds.js';
import { answerOf } from './worker-process.js';

const LOG = 'recourse.budgets';
const RECORD_BYTES = 400;
const BATCH_RECORDS = 500;
const PROOFS = 1_000;
/** Proofs that are made before those that count: the first ones are of code that nobody has run. */
const PROOFS_BEFORE = 200;

export interface AuditSize {
  readonly records: number;
  readonly rounds: number;
  /** Leaves of the tree that proofs are made of. */
  readonly leaves: number;
  /** Executions in the log that a service is rebuilt from. */
  readonly executions: number;
}
export const AUDIT_FULL: AuditSize = { records: 5_000_000, rounds: 2, leaves: 5_000_000, executions: 1_000_000 };
export const AUDIT_QUICK: AuditSize = { records: 300_000, rounds: 3, leaves: 1_000_000, executions: 100_000 };

export async function benchAudit(size: AuditSize): Promise<Measured> {
  return withStack(async (bench) => {
    const logId = freshLogId();
    await makeTopics(bench);
    await emptyTopics(bench, [LOG]);
    await prepareWriters(bench, LOG);
    await fill(bench, logId, size.records);
    const read = await readAll(bench, logId, size.rounds);
    const proofs = proveMany(join(bench.folder, 'trees'), size.leaves);
    return measuredOf(read, proofs, await rebuildRounds(bench, size.executions, size.rounds), size);
  });
}

async function fill({ kafka, codecs }: BenchStack, logId: string, records: number): Promise<void> {
  const log = new OwnLog({ kafka, codecs, topic: LOG, partition: 0, partitionCount: PARTITIONS, logId });
  await log.prepare();
  for (let done = 0; done < records; done += BATCH_RECORDS) {
    const batch = log.seal(1_700_000_000_000);
    for (let n = 0; n < BATCH_RECORDS; n += 1) batch.add(padded(done + n), `run-${(done + n) % 5_000}`);
    if ((await log.append(batch)) !== 'accepted') throw new Error('an append was not accepted');
    if (done % 100_000 === 0) say(`${done} records written`);
  }
  await log.close();
}

/** A record of the size: what an operator accepted, with a reason that fills it. */
function padded(n: number): Decided {
  const reason = 'x'.repeat(RECORD_BYTES - 125);
  const body = { topic: LOG, partition: 0, read_to: n, goes_on_at: n, by: 'bench', reason };
  return { type: 'WireLossAccepted', body };
}

interface AllRead {
  readonly written: ReadAnswer;
  readonly ours: readonly ReadAnswer[];
  readonly raw: readonly ReadAnswer[];
  readonly fromDump: readonly ReadAnswer[];
  readonly hashed: readonly ReadAnswer[];
}

async function readAll({ stack, folder }: BenchStack, logId: string, rounds: number): Promise<AllRead> {
  const { registryUrl, kafka } = stack;
  const places = { brokers: kafka.brokers, registryUrl, logId, topic: LOG, folder: join(folder, 'dump') };
  const read = async (how: ReadTask['how']): Promise<ReadAnswer> => {
    const answer = await answerOf<ReadAnswer>('./audit-reader.main.js', { ...places, how } satisfies ReadTask);
    say(`  ${how}: ${String(Math.round((answer.done / answer.ms) * 1_000))} records/s`);
    return answer;
  };
  const written = await read('written');
  const [fromDump, hashed]: [ReadAnswer[], ReadAnswer[]] = [[], []];
  const { ours, raw } = await interleaved(rounds, {
    ours: async (round) => {
      say(`round ${String(round + 1)} of ${String(rounds)}`);
      fromDump.push(await read('dump'));
      hashed.push(await read('hashed'));
      return read('verified');
    },
    raw: () => read('noop'),
  });
  return { written, ours, raw, fromDump, hashed };
}

function measuredOf(read: AllRead, proofs: Proofs, rebuilt: Rebuilt, size: AuditSize): Measured {
  const { records, rounds, leaves, executions } = size;
  const reports = [read.written, ...read.ours, ...read.fromDump].flatMap((one) => one.reports);
  const filled = reports.filter((report) => report.partition === 0);
  return {
    ...figuresOf(read, proofs.ms, rebuilt),
    counts: { audit_records: records, audit_rounds: rounds, audit_leaves: leaves, rebuild_executions: executions },
    gates: {
      audit_nothing_found: reports.every(({ findings }) => findings.length === 0),
      audit_all_accepted: filled.length > 2 * rounds && filled.every(({ accepted }) => accepted === records),
      audit_proofs_hold: proofs.areGood,
      rebuild_same_rows: rebuilt.areSame,
    },
    notes: [
      `audit: ${String(records)} records of about ${String(RECORD_BYTES)} bytes on one partition; verifier and broker share the cores; memory is that of the verifier's process`,
      `rebuild: ${String(executions)} executions over ${String(PARTITIONS)} partitions; service, broker and PostgreSQL share the cores`,
    ],
  };
}

function figuresOf(
  { ours, raw, fromDump, hashed }: AllRead,
  proofsMs: readonly number[],
  rebuilt: Rebuilt,
): Pick<Measured, 'figures' | 'ratios'> {
  const against = (others: readonly ReadAnswer[]): number =>
    median(ours.map(({ ms, done }, n) => ((others[n]?.ms ?? NaN) / (others[n]?.done ?? NaN)) * (done / ms)));
  return {
    figures: {
      verify_per_s: rateOf(ours),
      verify_dump_per_s: rateOf(fromDump),
      noop_per_s: rateOf(raw),
      hash_per_s: rateOf(hashed),
      verify_cpu_us: cpuUsOf(ours),
      verify_dump_cpu_us: cpuUsOf(fromDump),
      noop_cpu_us: cpuUsOf(raw),
      proof_ms: percentile(proofsMs, 0.99),
      verify_rss_max_mb: Math.max(...[...ours, ...fromDump].map(({ rssMaxMb }) => rssMaxMb)),
      rebuild_per_s: rateOf(rebuilt.rounds),
      rebuild_cpu_us: cpuUsOf(rebuilt.rounds),
    },
    ratios: { verify_vs_noop: against(raw), verify_vs_hash: against(hashed) },
  };
}

/** CPU of the process a record, microseconds: what other processes do does not count. */
function cpuUsOf(rounds: readonly { readonly done: number; readonly cpuMs: number }[]): number {
  return (sum(rounds.map(({ cpuMs }) => cpuMs)) / sum(rounds.map(({ done }) => done))) * 1_000;
}

interface Proofs {
  readonly ms: readonly number[];
  readonly areGood: boolean;
}

/** Inclusion proofs of leaves all over a stored tree. */
function proveMany(folder: string, leaves: number): Proofs {
  say(`growing a tree of ${String(leaves)} leaves`);
  const tree = new HashTree(new NodeFiles(folder, 'tree'));
  const leafOf = (n: number): Buffer => sha256(Buffer.from(String(n)));
  for (let n = 0; n < leaves; n += 1) tree.append(leafOf(n));
  const root = tree.rootAt(leaves);
  const ms: number[] = [];
  let areGood = true;
  for (let n = -PROOFS_BEFORE; n < PROOFS; n += 1) {
    const index = Math.floor((Math.abs(n) * leaves) / PROOFS);
    const startedAt = performance.now();
    const proof = tree.inclusion(index, leaves);
    if (n >= 0) ms.push(performance.now() - startedAt);
    areGood &&= isIncluded({ leaf: leafOf(index), index, size: leaves, root }, proof);
  }
  tree.close();
  return { ms, areGood };
}
