// audit: what verifying a log costs whoever does not trust it.
//
// Ours: `audit verify`, from Kafka and from a dump, with its leaf hashes in files. Raw: reading the same records from Kafka and doing
// nothing with them, and SHA-256 of the same bytes from memory. All in one process, in turns, on one broker.
import { join } from 'node:path';
import { auditDump, auditTopics, createDump, withScratch } from '@recourse/cli';
import type { PartitionReport } from '@recourse/cli';
import { HashTree, NodeFiles } from '@recourse/audit';
import { isIncluded, sha256 } from '@recourse/chain';
import { OwnLog } from '@recourse/event-log';
import type { Decided } from '@recourse/event-log';
import { emptyTopics, freshLogId, makeTopics, prepareWriters, say, withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import type { Measured } from './report.js';
import { interleaved, median, percentile, rateOf } from './rounds.js';

const LOG = 'recourse.budgets';
const RECORD_BYTES = 400;
const BATCH_RECORDS = 500;
const FETCH_BYTES = 4 << 20;
const PROOFS = 300;

export interface AuditSize {
  readonly records: number;
  readonly rounds: number;
  /** Leaves of the tree that proofs are made of. */
  readonly leaves: number;
}
export const AUDIT_FULL: AuditSize = { records: 5_000_000, rounds: 2, leaves: 5_000_000 };
export const AUDIT_QUICK: AuditSize = { records: 100_000, rounds: 3, leaves: 1_000_000 };

interface Timed {
  readonly done: number;
  readonly ms: number;
}

export async function benchAudit(size: AuditSize): Promise<Measured> {
  return withStack(async (bench) => {
    const logId = freshLogId();
    await makeTopics(bench, [], 1);
    await emptyTopics(bench, [LOG], 1);
    await prepareWriters(bench, LOG);
    await fill(bench, logId, size.records);
    return measure(bench, logId, size);
  });
}

async function fill({ kafka, codecs }: BenchStack, logId: string, records: number): Promise<void> {
  const log = new OwnLog({ kafka, codecs, topic: LOG, partition: 0, partitionCount: 1, logId });
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

async function measure(bench: BenchStack, logId: string, { records, rounds, leaves }: AuditSize): Promise<Measured> {
  const folder = join(bench.folder, 'dump');
  const dump = createDump(folder, bench.registry);
  const written = await verifyTopic(bench, logId, dump);
  dump.close();
  const reports: PartitionReport[] = [...written.reports];
  const rss: number[] = [];
  const sampler = setInterval(() => rss.push(process.memoryUsage().rss), 200);
  const fromDump: Timed[] = [];
  const hashed: Timed[] = [];
  const measured = await interleaved(rounds, {
    ours: async (round) => {
      say(`round ${String(round + 1)} of ${String(rounds)}`);
      const verified = await verifyTopic(bench, logId);
      reports.push(...verified.reports);
      fromDump.push(await verifyFolder(folder, reports));
      hashed.push(await hashTopic(bench));
      return verified;
    },
    raw: () => readTopic(bench),
  });
  clearInterval(sampler);
  const proofs = proveMany(join(bench.folder, 'trees'), leaves);
  return {
    ...figuresOf({ ours: measured.ours, raw: measured.raw, fromDump, hashed }, proofs.ms, Math.max(...rss)),
    counts: { audit_records: records, audit_rounds: rounds, audit_leaves: leaves },
    gates: {
      audit_nothing_found: reports.every(({ findings }) => findings.length === 0),
      audit_all_accepted: reports.every(({ accepted }) => accepted === records),
      audit_proofs_hold: proofs.areGood,
    },
    notes: [
      `audit: ${String(records)} records of about ${String(RECORD_BYTES)} bytes on one partition; verifier and broker share the cores; memory is that of the whole bench`,
    ],
  };
}

interface Sides {
  readonly ours: readonly Timed[];
  readonly raw: readonly Timed[];
  readonly fromDump: readonly Timed[];
  readonly hashed: readonly Timed[];
}

function figuresOf(
  { ours, raw, fromDump, hashed }: Sides,
  proofsMs: readonly number[],
  rssMax: number,
): Pick<Measured, 'figures' | 'ratios'> {
  const against = (others: readonly Timed[]): number =>
    median(ours.map(({ ms, done }, n) => ((others[n]?.ms ?? NaN) / (others[n]?.done ?? NaN)) * (done / ms)));
  return {
    figures: {
      verify_per_s: rateOf(ours),
      verify_dump_per_s: rateOf(fromDump),
      noop_per_s: rateOf(raw),
      hash_per_s: rateOf(hashed),
      proof_ms: percentile(proofsMs, 0.99),
      verify_rss_max_mb: rssMax / 2 ** 20,
    },
    ratios: { verify_vs_noop: against(raw), verify_vs_hash: against(hashed) },
  };
}

async function verifyTopic(
  { kafka, registry }: BenchStack,
  logId: string,
  dump?: ReturnType<typeof createDump>,
): Promise<Timed & { readonly reports: readonly PartitionReport[] }> {
  const startedAt = performance.now();
  const reports = await withScratch((scratch) =>
    auditTopics({ kafka, registry, logId, topics: [LOG], known: new Map(), scratch, ...(dump && { dump }) }),
  );
  return { reports, done: countOf(reports), ms: performance.now() - startedAt };
}

async function verifyFolder(folder: string, all: PartitionReport[]): Promise<Timed> {
  const startedAt = performance.now();
  const reports = await withScratch((scratch) =>
    auditDump({ folder, logId: null, known: new Map(), topics: [LOG], only: LOG, scratch }),
  );
  all.push(...reports);
  return { done: countOf(reports), ms: performance.now() - startedAt };
}

const countOf = (reports: readonly PartitionReport[]): number => reports.reduce((sum, { records }) => sum + records, 0);

async function readTopic(bench: BenchStack): Promise<Timed> {
  const startedAt = performance.now();
  let done = 0;
  for await (const values of pagesOf(bench)) done += values.length;
  return { done, ms: performance.now() - startedAt };
}

/** SHA-256 of every value; the time of reading them is left out. */
async function hashTopic(bench: BenchStack): Promise<Timed> {
  let [done, ms] = [0, 0];
  for await (const values of pagesOf(bench)) {
    const startedAt = performance.now();
    for (const value of values) sha256(value);
    ms += performance.now() - startedAt;
    done += values.length;
  }
  return { done, ms };
}

async function* pagesOf({ kafka }: BenchStack): AsyncGenerator<readonly Buffer[]> {
  const reader = await kafka.rawReader();
  const { high } = await reader.range(LOG, 0);
  for (let at = 0; at < high;) {
    const { records, nextOffset } = await reader.read(LOG, 0, at, FETCH_BYTES);
    yield records.flatMap(({ value }) => value ?? []);
    at = nextOffset;
  }
  await reader.close();
}

/** Inclusion proofs of leaves all over a stored tree. */
function proveMany(folder: string, leaves: number): { readonly ms: readonly number[]; readonly areGood: boolean } {
  say(`growing a tree of ${String(leaves)} leaves`);
  const tree = new HashTree(new NodeFiles(folder, 'tree'));
  const leafOf = (n: number): Buffer => sha256(Buffer.from(String(n)));
  for (let n = 0; n < leaves; n += 1) tree.append(leafOf(n));
  const root = tree.rootAt(leaves);
  const ms: number[] = [];
  let areGood = true;
  for (let n = 0; n < PROOFS; n += 1) {
    const index = Math.floor((n * leaves) / PROOFS);
    const startedAt = performance.now();
    const proof = tree.inclusion(index, leaves);
    ms.push(performance.now() - startedAt);
    areGood &&= isIncluded({ leaf: leafOf(index), index, size: leaves, root }, proof);
  }
  tree.close();
  return { ms, areGood };
}
