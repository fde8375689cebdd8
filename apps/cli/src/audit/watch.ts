// Verifies logs as they grow: whoever watches keeps the heads, so that nothing before them can change unseen.
//
// Boundary: asks anew at each look which partitions there are. A log never gets others; a topic that was made anew has.
import type { KnownHead } from '@recourse/chain';
import type { Kafka, RawReader, SchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import type { NamedFinding } from './findings.js';
import { coverageOf } from './coverage.js';
import type { TrustedHeads } from './coverage.js';
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
  /** Heads of the auditor as watching begins: what they leave open then is found. Null: no key was given. */
  readonly signed: TrustedHeads | null;
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
    readonly of: Place,
    /** The head of what was watched in its place before its topic was made anew. */
    before: readonly KnownHead[] | undefined,
  ) {
    this.#audit = this.#begun(before ?? []);
  }

  get name(): string {
    return partitionName(this.of.topic, this.of.partition);
  }

  /** The head it had: what is read from the start again is compared with it. */
  get head(): readonly KnownHead[] {
    const { head_seq: seq, head_hash, next_offset: nextOffset } = this.#audit.report();
    return seq === 0 ? [] : [{ seq, hash: Buffer.from(head_hash, 'hex'), nextOffset }];
  }

  /** Reads on; where what was read before is gone or another, from the start against the head it had. */
  async look(reader: RawReader): Promise<{ readonly records: number; readonly news: readonly NamedFinding[] }> {
    const { topic, partition } = this.of;
    const before = this.#audit.report();
    if (!(await this.#stands(reader, before))) {
      this.#audit = this.#begun(this.head);
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

  #begun(head: readonly KnownHead[]): PartitionAudit {
    const leaves = leavesIn(this.options.scratch, this.of);
    const known = [...(this.options.known.get(this.name) ?? []), ...head];
    return new PartitionAudit(
      { ...this.of, logId: this.options.logId },
      { codecs: this.codecs, known, from: null, leaves },
    );
  }
}

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly partitionCount: number;
}

/** Every partition that is watched, as the topics are at a look. */
class Watch {
  #watched: ReadonlyMap<string, Watched> = new Map();
  #gone: ReadonlySet<string> = new Set();
  /** Heads of all that was ever watched: what is gone at one look may be back at another. */
  readonly #heads = new Map<string, readonly KnownHead[]>();

  constructor(
    private readonly options: WatchOptions,
    private readonly codecs: Codecs,
  ) {}

  get all(): readonly Watched[] {
    return [...this.#watched.values()];
  }

  /** Asks which partitions there are, and says which are gone that were there, or that a head names, and that nobody was told of. */
  async follow(): Promise<Look['news']> {
    const counts = await partitionCounts(this.options);
    const news = newsOf(goneFrom(counts, [...this.options.known.keys(), ...this.#watched.keys()]));
    const untold = news.filter((one) => !this.#gone.has(idOf(one)));
    const places = counts.flatMap(([topic, count]) =>
      Array.from({ length: count ?? 0 }, (_, partition) => ({ topic, partition, partitionCount: count ?? 0 })),
    );
    for (const { name, head } of this.all) this.#heads.set(name, head);
    const next = places.map((of) => this.#at(of));
    // What a head names is missed at each look, and told of once.
    this.#gone = new Set(news.map(idOf));
    this.#watched = new Map(next.map((one) => [one.name, one]));
    return untold;
  }

  #at(of: Place): Watched {
    const name = partitionName(of.topic, of.partition);
    const before = this.#watched.get(name);
    return before?.of.partitionCount === of.partitionCount
      ? before
      : new Watched(this.options, this.codecs, of, this.#heads.get(name));
  }
}

/** Looks at the logs again and again; whoever iterates says when. Errors: those of the cluster. */
export async function* watchTopics(options: WatchOptions): AsyncGenerator<Look> {
  const reader = await options.kafka.rawReader();
  const codecs = createCodecs(options.registry);
  try {
    const watch = new Watch(options, codecs);
    for (let isFirst = true; ; isFirst = false) {
      const gone = await watch.follow();
      const looks = [];
      for (const one of watch.all) looks.push({ name: one.name, ...(await one.look(reader)) });
      const lengths = watch.all.map(({ of, accepted }) => ({ ...of, head_seq: accepted }));
      const bare = isFirst && options.signed !== null ? openIn(lengths, options.signed) : [];
      yield {
        records: looks.reduce((sum, { records }) => sum + records, 0),
        accepted: watch.all.reduce((sum, { accepted }) => sum + accepted, 0),
        news: [
          ...gone,
          ...looks.flatMap(({ name, news }) => news.map((finding) => ({ partition: name, finding }))),
          ...bare,
        ],
      };
    }
  } finally {
    await reader.close();
  }
}

const idOf = ({ partition, finding: { kind } }: Look['news'][number]): string => `${partition} ${kind}`;

const newsOf = (reports: readonly PartitionReport[]): Look['news'] =>
  reports.flatMap(({ topic, partition, findings }) =>
    findings.map((finding) => ({ partition: partitionName(topic, partition), finding })),
  );

/** What heads leave open as watching begins, as a verification finds it. */
function openIn(lengths: readonly (Place & { readonly head_seq: number })[], trusted: TrustedHeads): Look['news'] {
  return coverageOf(lengths, trusted).flatMap(({ name: partition, findings }) =>
    findings.map((finding) => ({ partition, finding: named(finding) })),
  );
}
