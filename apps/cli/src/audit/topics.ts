// Reads whole logs from Kafka and verifies them. Shares nothing with what writes them: chain, messages and the Kafka port suffice.
//
// Boundary: reads only, without a group. One partition at a time is held in memory.
import { schemaIdOf } from '@recourse/chain';
import type { StoredRecord } from '@recourse/chain';
import type { Kafka, RawReader, SchemaRegistry } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs, TOPICS } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { reportOf, partitionName, unverified } from './report.js';
import type { KnownHeads, PartitionReport } from './report.js';

export interface TopicsAudit {
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  readonly logId: string;
  readonly topics: readonly string[];
  readonly known: KnownHeads;
  /** Gets each partition's records after they were verified, for a dump. */
  readonly onPartition?: (partition: ReadPartition) => Promise<void>;
}

export interface ReadPartition {
  readonly of: {
    readonly logId: string;
    readonly topic: string;
    readonly partition: number;
    readonly partitionCount: number;
  };
  readonly records: readonly StoredRecord[];
  readonly report: PartitionReport;
}

/** Logs and derived logs of the catalogue. */
export const LOG_TOPICS: readonly string[] = TOPICS.filter(({ kind }) => (kind as string) !== 'wire').map(
  ({ name }) => name,
);

/**
 * Verifies every partition of the topics from offset 0 to the end seen when its turn comes.
 *
 * Errors: Failure(BROKER_UNAVAILABLE, REGISTRY_UNAVAILABLE). What is wrong with a log is a finding, never an error.
 */
export async function auditTopics(audit: TopicsAudit): Promise<readonly PartitionReport[]> {
  const counts = await partitionCounts(audit);
  const reader = await audit.kafka.rawReader();
  const codecs = createCodecs(audit.registry);
  try {
    const reports: PartitionReport[] = [];
    for (const [topic, count] of counts) {
      if (count === null) reports.push(unverified(topic, 0, { kind: 'topic_missing' }));
      for (let partition = 0; partition < (count ?? 0); partition += 1) {
        const of = { logId: audit.logId, topic, partition, partitionCount: count ?? 0 };
        const records = await readAll(reader, topic, partition);
        await loadSchemas(records, codecs);
        const report = reportOf(of, records, { codecs, olderHead: audit.known.get(partitionName(topic, partition)) });
        await audit.onPartition?.({ of, records, report });
        reports.push(report);
      }
    }
    return reports;
  } finally {
    await reader.close();
  }
}

async function partitionCounts({ kafka, topics }: TopicsAudit): Promise<readonly (readonly [string, number | null])[]> {
  const admin = await kafka.admin();
  try {
    return await Promise.all(topics.map(async (topic) => [topic, await admin.partitionCount(topic)] as const));
  } finally {
    await admin.close();
  }
}

async function readAll(reader: RawReader, topic: string, partition: number): Promise<readonly StoredRecord[]> {
  const { low, high } = await reader.range(topic, partition);
  const records: StoredRecord[] = [];
  for (let at = low; at < high;) {
    const batch = await reader.read(topic, partition, at);
    const last = batch.records.at(-1);
    // The port answers with nothing at the end only; what is left below `high` then holds no records.
    if (last === undefined) break;
    for (const { offset, key, value } of batch.records)
      if (offset >= at && offset < high) records.push({ offset, key, value });
    at = last.offset + 1;
  }
  return records;
}

/** A schema the registry does not know stays unknown, and the verifier says where it stopped. Errors: those of the registry otherwise. */
export async function loadSchemas(records: readonly StoredRecord[], codecs: Codecs): Promise<void> {
  const ids = new Set(records.map(({ value }) => schemaIdOf(value)).filter((id) => id !== null));
  await Promise.all(
    [...ids].map(async (id) => {
      try {
        await codecs.load(id);
      } catch (problem) {
        if (!(problem instanceof Failure) || problem.code !== 'UNKNOWN_SCHEMA') throw problem;
      }
    }),
  );
}
