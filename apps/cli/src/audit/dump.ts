// A dump: whole logs as files that can be read and verified without a network, in any language.
//
// Grammar (one JSON object a line; test/interop/reference_reader.py reads the same):
//   folder    = manifest *file               ; manifest.json, and <topic>-<partition>.jsonl
//   file      = header *(schema / record)
//   header    = {"log": {"log_id", "topic", "partition", "partition_count"}}
//   schema    = {"schema": {"id", "text"}}   ; Avro JSON, before the first record that names it
//   record    = {"record": {"offset", "key", "value", ?"signature"}}   ; base64 or null, in order of offsets; the header of a signed
//               batch as it stands on its first record. All that lies there, whoever wrote it: whose it is says who reads it with a keyring
//   manifest  = {"dumped_at", "partitions": [{"file", "topic", "partition", "head_seq", "head_hash"}]}
//
// The manifest states the head of each partition when it was dumped, so that a cut tail and an altered last record show too.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { GenesisOf, Head, KnownHead } from '@recourse/chain';
import type { Signing } from '@recourse/kafka';
import { z } from 'zod';
import { CliProblem } from '../problem.js';
import { Contradictions } from './contradictions.js';
import { headerOf, loadedCodecs } from './dump-file.js';
import { signedRecordsIn } from './dump-signed.js';
import type { ReadTo } from './cursors.js';
import type { MaterialFinding } from './findings.js';
import { countsIn, isMiscounted, namedElsewhere } from './lost-logs.js';
import { PartitionAudit } from './partition-audit.js';
import type { AuditStart } from './partition-audit.js';
import { partitionName, unverified, withFindings } from './report.js';
import type { KnownHeads, PartitionReport } from './report.js';
import { leavesIn } from './scratch.js';
import type { Scratch } from './scratch.js';

export const MANIFEST = 'manifest.json';
export const ENDING = '.jsonl';
const PROGRESS_RECORDS = 50_000;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const manifestFile = z.object({
  dumped_at: z.string(),
  partitions: z.array(
    z.object({
      file: z.string(),
      topic: z.string(),
      partition: z.int().min(0),
      head_seq: z.int().min(0),
      head_hash: hash,
    }),
  ),
});
export type Manifest = z.infer<typeof manifestFile>;

export interface DumpAudit {
  readonly folder: string;
  /** Log id the files must be of; null takes theirs. */
  readonly logId: string | null;
  /** Heads known from elsewhere; a log is compared with that of the manifest too. */
  readonly known: KnownHeads;
  /** Trusted heads behind which a log is verified, by `topic/partition`. */
  readonly starts?: ReadonlyMap<string, AuditStart>;
  /** Where leaf hashes are kept while a file is read. */
  readonly scratch?: Scratch;
  /** Told now and then how many records were read. */
  readonly onProgress?: (records: number) => void;
  /** Logs that a whole dump holds. */
  readonly topics: readonly string[];
  /** One log of them; null: all that is there. */
  readonly only: string | null;
  /** Keys that sign logs: what their owners did not sign is void then. Null: signatures are not looked at. */
  readonly signing?: Signing | null;
}

/** Verifies every file of a dump; needs no network. Errors: CliProblem(DUMP_UNREADABLE) when there is nothing to verify. */
export async function auditDump(audit: DumpAudit): Promise<readonly PartitionReport[]> {
  const { folder, known, topics, only } = audit;
  const isAsked = (topic: string): boolean => only === null || topic === only;
  const files = filesOf(folder).filter((file) => isAsked(topicOf(folder, file) ?? only ?? ''));
  const manifest = manifestOf(folder);
  const heads = headsOf(manifest);
  const headers = headersOf(folder, files);
  const counts = countsIn(headers);
  const verified: VerifiedFile[] = [];
  const knownOf = (name: string): readonly KnownHead[] => [
    ...(known.get(name) ?? []),
    ...[heads.get(name) ?? []].flat(),
  ];
  const firsts = new Map<string, string>();
  for (const file of files) {
    const { report, log } = await auditFile(join(folder, file), file, audit, knownOf);
    const name = partitionName(report.topic, report.partition);
    const first = firsts.get(name);
    const of = headerOf(join(folder, file));
    const wrong: MaterialFinding[] = first === undefined ? [] : [{ kind: 'partition_repeated', file, first }];
    if (of !== null && isMiscounted(of, counts)) wrong.push({ kind: 'damaged_header', file });
    verified.push({ report: withFindings(report, wrong), log });
    firsts.set(name, first ?? file);
  }
  const { reports, unheld } = compared(verified);
  const listed = (manifest?.partitions ?? []).filter(({ file, topic }) => isAsked(topic) && !files.includes(file));
  const gone = listed.map(({ file, topic, partition }) => unverified(topic, partition, { kind: 'file_missing', file }));
  const held = new Set([...reports, ...gone].map(({ topic, partition }) => partitionName(topic, partition)));
  const lost = namedElsewhere({ known, topics: only === null ? topics : [only], read: unheld }, headers).filter(
    ({ topic, partition }) => isAsked(topic) && !held.has(partitionName(topic, partition)),
  );
  return [
    ...reports,
    ...gone,
    ...lost.map(({ topic, partition, by }) => unverified(topic, partition, { kind: 'log_missing', named_by: by })),
  ];
}

/** A file of a dump: null where it is of no log. */
interface VerifiedFile {
  readonly report: PartitionReport;
  readonly log: PartitionAudit | null;
}

/** What logs say that they have read of one another. Of a partition that is there twice nobody can say which of the two counts. */
function compared(verified: readonly VerifiedFile[]): {
  readonly reports: readonly PartitionReport[];
  readonly unheld: readonly ReadTo[];
} {
  const count = new Map<string, number>();
  for (const { report } of verified) {
    const name = partitionName(report.topic, report.partition);
    count.set(name, (count.get(name) ?? 0) + 1);
  }
  const isAlone = ({ topic, partition }: PartitionReport): boolean => count.get(partitionName(topic, partition)) === 1;
  const logs = verified.flatMap(({ report, log }) => (log !== null && isAlone(report) ? [log] : []));
  const contradictions = new Contradictions(logs);
  const reports = verified.map(({ report, log }) =>
    log !== null && isAlone(report) ? contradictions.onto(report, log) : report,
  );
  for (const log of logs) log.close();
  return { reports, unheld: contradictions.unheld() };
}

/** Ids of the logs that a dump says it holds. Errors: CliProblem(DUMP_UNREADABLE). */
export function logIdsIn(folder: string): readonly string[] {
  return headersOf(folder, filesOf(folder)).map(({ logId }) => logId);
}

function headersOf(folder: string, files: readonly string[]): readonly GenesisOf[] {
  return files.flatMap((file) => headerOf(join(folder, file)) ?? []);
}

/** By the header of the file, else by its name; null for a name that tells nothing. */
function topicOf(folder: string, file: string): string | null {
  return headerOf(join(folder, file))?.topic ?? /^(.+)-\d+\.jsonl$/.exec(file)?.[1] ?? null;
}

export function filesOf(folder: string): readonly string[] {
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter(
          (name) => name.endsWith(ENDING) && statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true,
        )
        .sort()
    : [];
  if (files.length > 0 || existsSync(join(folder, MANIFEST))) return files;
  throw new CliProblem('DUMP_UNREADABLE', `${folder} holds no dump`, 'usage', {
    remedy: 'Name a folder that `recourse audit dump` wrote.',
  });
}

/** Of these topics, the logs that a dump names and does not hold: in its manifest, or by another partition. Errors: CliProblem(DUMP_UNREADABLE). */
export function missingIn(folder: string, topics: readonly string[], held: readonly GenesisOf[]): readonly string[] {
  const names = new Set(held.map(({ topic, partition }) => partitionName(topic, partition)));
  const named = [...(manifestOf(folder)?.partitions ?? []), ...namedElsewhere({ known: new Map(), topics: [] }, held)];
  return [
    ...new Set(
      named
        .filter(({ topic }) => topics.includes(topic))
        .map(({ topic, partition }) => partitionName(topic, partition))
        .filter((name) => !names.has(name)),
    ),
  ];
}

/** null when there is none: files of another writer are verified all the same. */
function manifestOf(folder: string): Manifest | null {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return null;
  try {
    return manifestFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new CliProblem('DUMP_UNREADABLE', `${path} is damaged`, 'found', {
      cause,
      remedy: 'Verify without it: move it away; then a cut tail and an altered last record do not show.',
    });
  }
}

function headsOf(manifest: Manifest | null): ReadonlyMap<string, Head> {
  return new Map(
    manifest?.partitions.map(({ topic, partition, head_seq, head_hash }) => [
      partitionName(topic, partition),
      { seq: head_seq, hash: Buffer.from(head_hash, 'hex') },
    ]),
  );
}

async function auditFile(
  path: string,
  name: string,
  { logId, starts, scratch, onProgress, signing = null }: DumpAudit,
  knownOf: (partition: string) => readonly KnownHead[],
): Promise<VerifiedFile> {
  const of = headerOf(path);
  if (of === null) return { report: unverified(name, 0, { kind: 'damaged_header', file: name }), log: null };
  const damaged: MaterialFinding[] =
    logId === null || logId === of.logId ? [] : [{ kind: 'other_log', expected: logId, found: of.logId }];
  const codecs = await loadedCodecs(path);
  const partition = partitionName(of.topic, of.partition);
  const leaves = scratch && leavesIn(scratch, of);
  const from = starts?.get(partition) ?? null;
  const audit = new PartitionAudit(of, { codecs, known: knownOf(partition), from, leaves });
  const first = audit.startOffset;
  let count = 0;
  const onDamage = (line: number): void => {
    damaged.push({ kind: 'damaged_line', file: name, line });
  };
  const onUnsigned = (): void => {
    damaged.push({ kind: 'signatures_missing', file: name });
  };
  for (const record of signedRecordsIn(path, of, { signing, onDamage, onUnsigned })) {
    if (record.offset < first) continue;
    audit.add(record);
    count += 1;
    if (count % PROGRESS_RECORDS === 0) onProgress?.(PROGRESS_RECORDS);
  }
  onProgress?.(count % PROGRESS_RECORDS);
  const report = audit.report();
  audit.close();
  return { report: withFindings(report, damaged), log: audit };
}
