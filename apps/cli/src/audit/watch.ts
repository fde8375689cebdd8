// Verifies logs as they grow: whoever watches keeps the heads, so that nothing before them can change unseen.
import type { SignedHead } from '@recourse/audit';
import type { Kafka, RawReader, SchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import type { NamedFinding } from './findings.js';
import { uncovered } from './coverage.js';
import { named } from './findings.js';
import { goneFrom } from './lost-logs.js';
import { PartitionAudit } from './partition-audit.js';
import { partitionName } from './report.js';
import type { KnownHeads, PartitionReport } from './report.js';
import { leavesIn } from './scratch.js';
import type { Scratch } from './scratch.js';
import { loadSchemas, partitionCounts, readPartition } from './topics.js';

export interface WatchOptions {
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  readonly logId: string;
  readonly topics: readonly string[];
  readonly known: KnownHeads;
  readonly scratch: Scratch;
  /** Heads of the auditor as watching begins: a log that holds records then and none of them is found. Null: no key was given. */
  readonly signed: readonly SignedHead[] | null;
}

/** What a look brought: how much was read, and what was not found before. */
export interface Look {
  readonly records: number;
  readonly accepted: number;
  readonly news: readonly { readonly partition: string; readonly finding: NamedFinding }[];
}

/** One partition under watch. */
class Watched {
  #audit: PartitionAudit;
  #offset = 0;
  #told = new Set<string>();
  accepted = 0;

  constructor(
    private readonly options: WatchOptions,
    private readonly codecs: Codecs,
    readonly of: { readonly topic: string; readonly partition: number; readonly partitionCount: number },
  ) {
    this.#audit = this.#begun(options.known.get(this.name) ?? []);
  }

  get name(): string {
    return partitionName(this.of.topic, this.of.partition);
  }

  /** Reads on; where what was read before is gone or another, from the start against the head it had. */
  async look(reader: RawReader): Promise<{ readonly records: number; readonly news: readonly NamedFinding[] }> {
    const { topic, partition } = this.of;
    const before = this.#audit.report();
    if (!(await this.#stands(reader, before))) {
      this.#audit = this.#begun([
        ...(this.options.known.get(this.name) ?? []),
        { seq: before.head_seq, hash: Buffer.from(before.head_hash, 'hex'), nextOffset: before.next_offset },
      ]);
      this.#offset = 0;
    }
    let records = 0;
    for await (const page of readPartition(reader, topic, partition, this.#offset)) {
      await loadSchemas(page, this.codecs);
      for (const record of page) this.#audit.add(record);
      records += page.length;
      this.#offset = (page.at(-1)?.offset ?? 0) + 1;
    }
    const { findings, head_seq } = this.#audit.report();
    this.accepted = head_seq;
    const news = findings.filter(({ message }) => !this.#told.has(message));
    this.#told = new Set(findings.map(({ message }) => message));
    return { records, news };
  }

  /** Is the last record that was accepted still where it was, with the same hash? */
  async #stands(reader: RawReader, { head_seq, head_hash, next_offset }: PartitionReport): Promise<boolean> {
    const { topic, partition } = this.of;
    const { high } = await reader.range(topic, partition);
    if (high < this.#offset) return false;
    if (head_seq === 0) return true;
    const from = { seq: head_seq, hash: Buffer.from(head_hash, 'hex'), nextOffset: next_offset, peaks: null };
    const check = new PartitionAudit(
      { ...this.of, logId: this.options.logId },
      { codecs: this.codecs, known: [], from },
    );
    const { records } = await reader.read(topic, partition, next_offset - 1, 1);
    const [record] = records.filter(({ offset }) => offset === next_offset - 1);
    if (record !== undefined) check.add(record);
    return check.report().findings.length === 0;
  }

  #begun(known: ConstructorParameters<typeof PartitionAudit>[1]['known']): PartitionAudit {
    const leaves = leavesIn(this.options.scratch, this.of);
    return new PartitionAudit(
      { ...this.of, logId: this.options.logId },
      { codecs: this.codecs, known, from: null, leaves },
    );
  }
}

/** Looks at the logs again and again; whoever iterates says when. Errors: those of the cluster. */
export async function* watchTopics(options: WatchOptions): AsyncGenerator<Look> {
  const reader = await options.kafka.rawReader();
  const codecs = createCodecs(options.registry);
  try {
    const counts = await partitionCounts(options);
    const watched = counts.flatMap(([topic, count]) =>
      Array.from(
        { length: count ?? 0 },
        (_, partition) => new Watched(options, codecs, { topic, partition, partitionCount: count ?? 0 }),
      ),
    );
    const gone = newsOf(goneFrom(counts, [...options.known.keys()]));
    for (let isFirst = true; ; isFirst = false) {
      const looks = [];
      for (const one of watched) looks.push({ name: one.name, ...(await one.look(reader)) });
      const lengths = watched.map(({ of, accepted }) => ({ ...of, head_seq: accepted }));
      const bare = isFirst && options.signed !== null ? unsignedIn(lengths, options.signed) : [];
      yield {
        records: looks.reduce((sum, { records }) => sum + records, 0),
        accepted: watched.reduce((sum, { accepted }) => sum + accepted, 0),
        news: [
          ...(isFirst ? gone : []),
          ...looks.flatMap(({ name, news }) => news.map((finding) => ({ partition: name, finding }))),
          ...bare,
        ],
      };
    }
  } finally {
    await reader.close();
  }
}

const newsOf = (reports: readonly PartitionReport[]): Look['news'] =>
  reports.flatMap(({ topic, partition, findings }) =>
    findings.map((finding) => ({ partition: partitionName(topic, partition), finding })),
  );

/** Without any head at all the first log is named, so that a key that signed nothing never passes. */
function unsignedIn(
  lengths: readonly (Watched['of'] & { readonly head_seq: number })[],
  heads: readonly SignedHead[],
): Look['news'] {
  const open = uncovered(lengths, heads);
  const found = open.length === 0 && heads.length === 0 ? lengths.slice(0, 1) : open;
  return found.map(({ topic, partition }) => ({
    partition: partitionName(topic, partition),
    finding: named({ kind: 'heads_missing' }),
  }));
}
