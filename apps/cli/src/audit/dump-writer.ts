// Writes a dump as its logs are read; what a dump is stands in dump.ts.
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { schemaIdOf } from '@recourse/chain';
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import { SIGNATURE } from '@recourse/kafka';
import type { FetchedRecord } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import type { SchemaSource } from '@recourse/messages';
import { CliProblem } from '../problem.js';
import { ENDING, MANIFEST } from './dump.js';
import type { Manifest } from './dump.js';
import type { PartitionReport } from './report.js';

/** A dump that is being written. */
export interface DumpWriter {
  /** Begins the file of a partition; records are written as they come. */
  readonly open: (of: GenesisOf) => PartitionWriter;
  readonly close: () => void;
}

/** A record as a log gives it, headers and all. */
export type ReadRecord = StoredRecord & Pick<FetchedRecord, 'headers'>;

export interface PartitionWriter {
  /** Errors: those of the registry. */
  readonly write: (records: readonly ReadRecord[]) => Promise<void>;
  readonly close: (report: PartitionReport) => void;
}

/** Begins a dump. Errors: CliProblem(FOLDER_NOT_EMPTY). */
export function createDump(folder: string, registry: SchemaSource): DumpWriter {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new CliProblem('FOLDER_NOT_EMPTY', `${folder} holds files already`, 'usage', {
      remedy: 'Name a new folder: a dump is never mixed with another.',
    });
  }
  mkdirSync(folder, { recursive: true });
  const partitions: Manifest['partitions'] = [];
  return {
    open: (of) => {
      const file = `${of.topic}-${of.partition}${ENDING}`;
      const writer = partitionWriter(join(folder, file), of, registry);
      return {
        write: writer.write,
        close: ({ head_seq, head_hash }) => {
          writer.close();
          partitions.push({ file, topic: of.topic, partition: of.partition, head_seq, head_hash });
        },
      };
    },
    close: () => {
      writeFileSync(
        join(folder, MANIFEST),
        `${JSON.stringify({ dumped_at: new Date().toISOString(), partitions } satisfies Manifest, null, 2)}\n`,
      );
    },
  };
}

function partitionWriter(
  path: string,
  of: GenesisOf,
  registry: SchemaSource,
): { readonly write: PartitionWriter['write']; readonly close: () => void } {
  const written = new Set<number>();
  const file = openSync(path, 'w', 0o600);
  const lines = (values: readonly object[]): void => {
    writeSync(file, values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  };
  lines([{ log: { log_id: of.logId, topic: of.topic, partition: of.partition, partition_count: of.partitionCount } }]);
  return {
    write: async (records) => {
      const texts = await schemaTexts(records, written, registry);
      for (const id of texts.keys()) written.add(id);
      lines([
        ...[...texts].map(([id, text]) => ({ schema: { id, text } })),
        ...records.map((record) => ({ record: lineOf(record) })),
      ]);
    },
    close: () => {
      closeSync(file);
    },
  };
}

function lineOf({ offset, key, value, headers }: ReadRecord): object {
  const signature = value === null ? undefined : headers[SIGNATURE]?.toString('utf8');
  const bytes = { key: key?.toString('base64') ?? null, value: value?.toString('base64') ?? null };
  return { offset, ...bytes, ...(signature === undefined ? {} : { signature }) };
}

/** Texts of the schemas the records name; one the registry does not know is left out. Errors: those of the registry otherwise. */
async function schemaTexts(
  records: readonly StoredRecord[],
  written: ReadonlySet<number>,
  registry: SchemaSource,
): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  for (const id of new Set(records.map(({ value }) => schemaIdOf(value)))) {
    if (id === null || written.has(id)) continue;
    try {
      texts.set(id, await registry.schemaById(id));
    } catch (problem) {
      if (!(problem instanceof Failure) || problem.code !== 'UNKNOWN_SCHEMA') throw problem;
    }
  }
  return texts;
}
