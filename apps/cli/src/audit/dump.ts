// A dump: whole logs as files that can be read and verified without a network, in any language.
//
// Grammar (one JSON object a line; test/interop/reference_reader.py reads the same):
//   folder    = manifest *file               ; manifest.json, and <topic>-<partition>.jsonl
//   file      = header *(schema / record)
//   header    = {"log": {"log_id", "topic", "partition", "partition_count"}}
//   schema    = {"schema": {"id", "text"}}   ; Avro JSON, before the first record that names it
//   record    = {"record": {"offset", "key", "value"}}     ; base64 or null, in order of offsets
//   manifest  = {"dumped_at", "partitions": [{"file", "topic", "partition", "head_seq", "head_hash"}]}
//
// The manifest states the head of each partition when it was dumped, so that a cut tail and an altered last record show too.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { schemaIdOf } from '@recourse/chain';
import type { GenesisOf, Head, StoredRecord } from '@recourse/chain';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs, SchemaSource } from '@recourse/messages';
import { z } from 'zod';
import { CliProblem } from '../problem.js';
import type { MaterialFinding } from './findings.js';
import { jsonOf, linesOf } from './lines.js';
import { namedElsewhere } from './lost-logs.js';
import { partitionName, reportOf, unverified, withFindings } from './report.js';
import type { KnownHeads, PartitionReport } from './report.js';
import type { ReadPartition } from './topics.js';

const MANIFEST = 'manifest.json';
const ENDING = '.jsonl';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const base64 = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').toString('base64') === text)
  .transform((text) => Buffer.from(text, 'base64'));
const headerLine = z.object({
  log: z.object({ log_id: z.string(), topic: z.string(), partition: z.int().min(0), partition_count: z.int().min(1) }),
});
const schemaLine = z.object({ schema: z.object({ id: z.int().min(1), text: z.string() }) });
const recordLine = z.object({
  record: z.object({ offset: z.int().min(0), key: base64.nullable(), value: base64.nullable() }),
});
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
type Manifest = z.infer<typeof manifestFile>;

/** Begins a dump. Errors: CliProblem(FOLDER_NOT_EMPTY). */
export function createDump(
  folder: string,
  registry: SchemaSource,
): { readonly add: (partition: ReadPartition) => Promise<void>; readonly close: () => void } {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new CliProblem('FOLDER_NOT_EMPTY', `${folder} holds files already`, 'usage', {
      remedy: 'Name a new folder: a dump is never mixed with another.',
    });
  }
  mkdirSync(folder, { recursive: true });
  const partitions: Manifest['partitions'] = [];
  return {
    add: async ({ of, records, report }) => {
      const file = `${of.topic}-${of.partition}${ENDING}`;
      await writePartition(join(folder, file), { of, records, registry });
      partitions.push({
        file,
        topic: of.topic,
        partition: of.partition,
        head_seq: report.head_seq,
        head_hash: report.head_hash,
      });
    },
    close: () => {
      writeFileSync(
        join(folder, MANIFEST),
        `${JSON.stringify({ dumped_at: new Date().toISOString(), partitions } satisfies Manifest, null, 2)}\n`,
      );
    },
  };
}

async function writePartition(
  path: string,
  { of, records, registry }: Pick<ReadPartition, 'of' | 'records'> & { readonly registry: SchemaSource },
): Promise<void> {
  const texts = await schemaTexts(records, registry);
  const written = new Set<number>();
  const file = openSync(path, 'w', 0o600);
  const line = (value: object): void => {
    writeSync(file, `${JSON.stringify(value)}\n`);
  };
  try {
    line({ log: { log_id: of.logId, topic: of.topic, partition: of.partition, partition_count: of.partitionCount } });
    for (const { offset, key, value } of records) {
      const id = schemaIdOf(value);
      const text = id === null || written.has(id) ? undefined : texts.get(id);
      if (id !== null && text !== undefined) {
        line({ schema: { id, text } });
        written.add(id);
      }
      line({ record: { offset, key: key?.toString('base64') ?? null, value: value?.toString('base64') ?? null } });
    }
  } finally {
    closeSync(file);
  }
}

/** Texts of the schemas the records name; one the registry does not know is left out. Errors: those of the registry otherwise. */
async function schemaTexts(
  records: readonly StoredRecord[],
  registry: SchemaSource,
): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  for (const id of new Set(records.map(({ value }) => schemaIdOf(value)))) {
    if (id === null) continue;
    try {
      texts.set(id, await registry.schemaById(id));
    } catch (problem) {
      if (!(problem instanceof Failure) || problem.code !== 'UNKNOWN_SCHEMA') throw problem;
    }
  }
  return texts;
}

export interface DumpAudit {
  readonly folder: string;
  /** Log id the files must be of; null takes theirs. */
  readonly logId: string | null;
  /** Heads known from elsewhere; where there is none, the manifest's counts. */
  readonly known: KnownHeads;
  /** Logs that a whole dump holds. */
  readonly topics: readonly string[];
  /** One log of them; null: all that is there. */
  readonly only: string | null;
}

/** Verifies every file of a dump; needs no network. Errors: CliProblem(DUMP_UNREADABLE) when there is nothing to verify. */
export async function auditDump({
  folder,
  logId,
  known,
  topics,
  only,
}: DumpAudit): Promise<readonly PartitionReport[]> {
  const isAsked = (topic: string): boolean => only === null || topic === only;
  const files = filesOf(folder).filter((file) => isAsked(topicOf(folder, file) ?? only ?? ''));
  const manifest = manifestOf(folder);
  const heads = new Map<string, Head>(
    manifest?.partitions.map(({ topic, partition, head_seq, head_hash }) => [
      partitionName(topic, partition),
      { seq: head_seq, hash: Buffer.from(head_hash, 'hex') },
    ]),
  );
  const reports: PartitionReport[] = [];
  for (const file of files)
    reports.push(
      await auditFile(join(folder, file), file, { logId, headOf: (name) => known.get(name) ?? heads.get(name) }),
    );
  const listed = (manifest?.partitions ?? []).filter(({ file, topic }) => isAsked(topic) && !files.includes(file));
  const gone = listed.map(({ file, topic, partition }) => unverified(topic, partition, { kind: 'file_missing', file }));
  const held = new Set([...reports, ...gone].map(({ topic, partition }) => partitionName(topic, partition)));
  const lost = namedElsewhere({ known, topics: only === null ? topics : [only] }, headersOf(folder, files)).filter(
    ({ topic, partition }) => isAsked(topic) && !held.has(partitionName(topic, partition)),
  );
  return [
    ...reports,
    ...gone,
    ...lost.map(({ topic, partition, by }) => unverified(topic, partition, { kind: 'log_missing', named_by: by })),
  ];
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
        .filter((name) => name.endsWith(ENDING))
        .sort()
    : [];
  if (files.length > 0 || existsSync(join(folder, MANIFEST))) return files;
  throw new CliProblem('DUMP_UNREADABLE', `${folder} holds no dump`, 'usage', {
    remedy: 'Name a folder that `recourse audit dump` wrote.',
  });
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

interface FileCheck {
  readonly logId: string | null;
  readonly headOf: (partition: string) => Head | undefined;
}

async function auditFile(path: string, name: string, check: FileCheck): Promise<PartitionReport> {
  const of = headerOf(path);
  if (of === null) return unverified(name, 0, { kind: 'damaged_header', file: name });
  const damaged: MaterialFinding[] =
    check.logId === null || check.logId === of.logId
      ? []
      : [{ kind: 'other_log', expected: check.logId, found: of.logId }];
  const codecs = await loadedCodecs(path);
  const records = recordsIn(path, (line) => {
    damaged.push({ kind: 'damaged_line', file: name, line });
  });
  const report = reportOf(of, records, { codecs, olderHead: check.headOf(partitionName(of.topic, of.partition)) });
  return withFindings(report, damaged);
}

export function headerOf(path: string): GenesisOf | null {
  const [first] = linesOf(path);
  const read = headerLine.safeParse(jsonOf(first ?? ''));
  if (!read.success) return null;
  const { log_id: logId, topic, partition, partition_count: partitionCount } = read.data.log;
  return { logId, topic, partition, partitionCount };
}

/** Codecs that know every schema the records of a file name, as far as the file tells it. */
export async function loadedCodecs(path: string): Promise<Codecs> {
  const codecs = createCodecs(schemasIn(path));
  await Promise.all([...idsIn(path)].map((id) => codecs.load(id).catch(() => undefined)));
  return codecs;
}

/** Schemas that one file of a dump holds. */
export function schemasIn(path: string): SchemaSource {
  const texts = new Map<number, string>();
  for (const line of linesOf(path)) {
    const read = line.startsWith('{"schema"') ? schemaLine.safeParse(jsonOf(line)) : null;
    if (read?.success === true) texts.set(read.data.schema.id, read.data.schema.text);
  }
  const unknown = (what: string): Promise<never> =>
    Promise.reject(new Failure('UNKNOWN_SCHEMA', `${what} is not in the dump`));
  return {
    schemaById: (id) => {
      const text = texts.get(id);
      return text === undefined ? unknown(`schema ${id}`) : Promise.resolve(text);
    },
    idOf: (subject) => unknown(subject),
  };
}

function idsIn(path: string): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const { value } of recordsIn(path, () => undefined)) {
    const id = schemaIdOf(value);
    if (id !== null) ids.add(id);
  }
  return ids;
}

/** Records in the order of the file; a line that is none of the grammar's is reported and left out. */
export function* recordsIn(path: string, onDamage: (line: number) => void): Generator<StoredRecord> {
  let number = 0;
  for (const line of linesOf(path)) {
    number += 1;
    if (line.trim() === '') continue;
    const value = jsonOf(line);
    const record = recordLine.safeParse(value);
    if (record.success) yield record.data.record;
    else if (!schemaLine.safeParse(value).success && !(number === 1 && headerLine.safeParse(value).success))
      onDamage(number);
  }
}
