// Reads logs from Kafka and verifies them as they come. Shares nothing with what writes them: chain, messages and the Kafka port suffice.
//
// Boundary: reads only, without a group. What two requests brought is held in memory.
import { schemaIdOf } from '@recourse/chain';
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import { handsOutNothing } from '@recourse/kafka';
import type { FetchedRecord, Kafka, RawReader, SchemaRegistry, Signing } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs, TOPICS } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { Contradictions } from './contradictions.js';
import type { ReadTo } from './cursors.js';
import type { DumpWriter } from './dump-writer.js';
import { goneFrom, goneOfRead } from './lost-logs.js';
import { PartitionAudit } from './partition-audit.js';
import type { AuditStart } from './partition-audit.js';
import { PartitionReading } from './partition-reading.js';
import { partitionName } from './report.js';
import type { KnownHeads, PartitionReport } from './report.js';
import { leavesIn } from './scratch.js';
import type { Scratch } from './scratch.js';

export interface TopicsAudit {
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  readonly logId: string;
  readonly topics: readonly string[];
  /** What whoever asks may not see counts as not there, else it is refused. */
  readonly passesHidden?: boolean;
  readonly known: KnownHeads;
  /** Trusted heads behind which a log is verified, by `topic/partition`. */
  readonly starts?: ReadonlyMap<string, AuditStart>;
  /** Where leaf hashes are kept while a log is read. */
  readonly scratch?: Scratch;
  /** Gets the records as they were read, and says whose keys tell which of them count: `kafka` gives all that lies there then. */
  readonly dump?: { readonly writer: DumpWriter; readonly signing: Signing | null };
  /** Gets what each request brought, a partition after the other. */
  readonly onRecords?: (of: GenesisOf, records: readonly StoredRecord[]) => void;
  /** Told how many records each request brought. */
  readonly onProgress?: (records: number) => void;
}

/** Logs and derived logs of the catalogue. */
export const LOG_TOPICS: readonly string[] = TOPICS.filter(({ kind }) => (kind as string) !== 'wire').map(
  ({ name }) => name,
);

/**
 * The same, what speaks of other logs before those: a dump of a stack at work holds whatever its heads and notices speak of, since a
 * log that is read later is read further.
 */
export const CAUSES_LAST: readonly string[] = LOG_TOPICS.toReversed();

/** What one answer of a broker may bring, octets: fewer requests, and not much to hold. */
const FETCH_BYTES = 2 << 20;

/**
 * Verifies every partition of the topics to the end seen when its turn comes, or as far as others of them had read it at theirs, and says
 * which are gone that a trusted head names, or a log that read them.
 *
 * Errors: Failure(BROKER_UNAVAILABLE, BROKER_REFUSED, REGISTRY_UNAVAILABLE). What is wrong with a log is a finding, never an error.
 */
export async function auditTopics(audit: TopicsAudit): Promise<readonly PartitionReport[]> {
  const counts = await partitionCounts(audit);
  const reader = await audit.kafka.rawReader();
  const codecs = createCodecs(audit.registry);
  try {
    const gone = goneFrom(counts, [...audit.known.keys(), ...(audit.starts?.keys() ?? [])]);
    const readings: PartitionReading[] = [];
    for (const [topic, count] of counts)
      for (let partition = 0; partition < (count ?? 0); partition += 1) {
        const reading = readingOf({ topic, partition, count: count ?? 0 }, { reader, codecs, audit });
        await reading.readToEnd();
        readings.push(reading);
      }
    await readOnToCauses(readings);
    const { reports, unheld } = await reportsOf(readings);
    return [...gone, ...goneOfRead(counts, unheld, gone), ...reports];
  } finally {
    await reader.close();
  }
}

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly count: number;
}

function readingOf(
  { topic, partition, count }: Place,
  { reader, codecs, audit }: { readonly reader: RawReader; readonly codecs: Codecs; readonly audit: TopicsAudit },
): PartitionReading {
  const of = { logId: audit.logId, topic, partition, partitionCount: count };
  const name = partitionName(topic, partition);
  const leaves = audit.scratch && leavesIn(audit.scratch, of);
  const from = audit.starts?.get(name) ?? null;
  return new PartitionReading({
    reader,
    audit: new PartitionAudit(of, { codecs, known: audit.known.get(name) ?? [], from, leaves }),
    pages: (offset) => readPartition(reader, topic, partition, offset),
    onPage: async (records) => {
      await loadSchemas(records, codecs);
      audit.onRecords?.(of, records);
      audit.onProgress?.(records.length);
    },
    signing: audit.dump?.signing ?? null,
    writer: audit.dump?.writer.open(of) ?? null,
  });
}

/**
 * Reads on what others had read further when their turn came: a log at work that was read before them ends, as it was read, before what they
 * say of it. What is missing then is missing.
 */
async function readOnToCauses(readings: readonly PartitionReading[]): Promise<void> {
  const audits = readings.map(({ audit }) => audit);
  for (let hasMore = true; hasMore;) {
    hasMore = false;
    const contradictions = new Contradictions(audits);
    for (const reading of readings) {
      const beyond = contradictions.beyond(reading.audit);
      if (beyond !== null && (await reading.readOnTo(beyond.offset))) hasMore = true;
    }
  }
}

async function reportsOf(readings: readonly PartitionReading[]): Promise<{
  readonly reports: readonly PartitionReport[];
  readonly unheld: readonly ReadTo[];
}> {
  const ended = [];
  for (const reading of readings) ended.push({ reading, report: await reading.end() });
  const contradictions = new Contradictions(readings.map(({ audit }) => audit));
  const reports = ended.map(({ reading, report }) => {
    const compared = contradictions.onto(report, reading.audit);
    reading.close(compared);
    return compared;
  });
  return { reports, unheld: contradictions.unheld() };
}

export async function partitionCounts({
  kafka,
  topics,
  passesHidden = false,
}: Pick<TopicsAudit, 'kafka' | 'topics' | 'passesHidden'>): Promise<readonly (readonly [string, number | null])[]> {
  const admin = await kafka.admin();
  const hidden = (error: unknown): null => {
    if (passesHidden && error instanceof Failure && error.code === 'BROKER_REFUSED') return null;
    throw error;
  };
  try {
    const countOf = async (topic: string): Promise<number | null> => admin.partitionCount(topic).catch(hidden);
    return await Promise.all(topics.map(async (topic) => [topic, await countOf(topic)] as const));
  } finally {
    await admin.close();
  }
}

/** How many offsets each partition of these topics spans; a topic that is not there has none. Errors: those of the cluster. */
export async function lengthsOf(
  kafka: Kafka,
  topics: readonly string[],
): Promise<readonly { readonly topic: string; readonly partition: number; readonly head_seq: number }[]> {
  const counts = await partitionCounts({ kafka, topics });
  const places = counts.flatMap(([topic, count]) =>
    Array.from({ length: count ?? 0 }, (_, partition) => ({ topic, partition })),
  );
  const reader = await kafka.rawReader();
  try {
    const ranges = places.map(async (place) => ({ place, ...(await reader.range(place.topic, place.partition)) }));
    return (await Promise.all(ranges)).map(({ place, low, high }) => ({ ...place, head_seq: high - low }));
  } finally {
    await reader.close();
  }
}

/**
 * Records of a partition from an offset to the end seen at the call, a fetch at a time. A log that is shorter has none.
 *
 * Errors: those of the reader; Failure(BROKER_UNAVAILABLE) while the broker hands out less than that end.
 * Shape: while one answer is worked on the next is under way, so that two are held.
 */
export async function* readPartition(
  reader: Pick<RawReader, 'range' | 'read'>,
  topic: string,
  partition: number,
  from: number,
): AsyncGenerator<readonly FetchedRecord[]> {
  const { low, high } = await reader.range(topic, partition);
  let at = Math.max(low, from);
  let asked = at < high ? reader.read(topic, partition, at, FETCH_BYTES) : null;
  while (asked !== null) {
    const { records, nextOffset } = await asked;
    if (nextOffset <= at) throw handsOutNothing({ topic, partition }, at);
    asked = nextOffset < high ? reader.read(topic, partition, nextOffset, FETCH_BYTES) : null;
    // What is wrong with it is told when its turn comes, if it comes.
    asked?.catch(() => undefined);
    const wanted = withinRange(records, at, high);
    if (wanted.length > 0) yield wanted;
    at = nextOffset;
  }
}

/** Of consecutive records those from an offset to before another. */
function withinRange(records: readonly FetchedRecord[], from: number, to: number): readonly FetchedRecord[] {
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined || (first.offset >= from && last.offset < to)) return records;
  return records.filter(({ offset }) => offset >= from && offset < to);
}

/** A schema the registry does not know stays unknown, and the verifier says where it stopped. Errors: those of the registry otherwise. */
export async function loadSchemas(records: readonly StoredRecord[], codecs: Codecs): Promise<void> {
  const ids = new Set(records.map(({ value }) => schemaIdOf(value)).filter((id) => id !== null));
  const unknown = [...ids].filter((id) => codecs.fingerprintOf(id) === null);
  await Promise.all(
    unknown.map(async (id) => {
      try {
        await codecs.load(id);
      } catch (problem) {
        if (!(problem instanceof Failure) || problem.code !== 'UNKNOWN_SCHEMA') throw problem;
      }
    }),
  );
}
