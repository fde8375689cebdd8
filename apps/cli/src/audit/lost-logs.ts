// Logs that have to be in a dump or at the brokers, by what names them elsewhere. Pure.
import type { GenesisOf } from '@recourse/chain';
import type { ReadTo } from './cursors.js';
import type { LogNamedBy } from './findings.js';
import { partitionName, unverified } from './report.js';
import type { KnownHeads, PartitionReport } from './report.js';

/** A log, and what names it. */
export type NamedLog = Pick<GenesisOf, 'topic' | 'partition'> & { readonly by: LogNamedBy };

/** Every log that has to be there: nobody who takes away a file can take its manifest entry, and all of these, with it. */
export function namedElsewhere(
  {
    known,
    topics,
    read = [],
  }: { readonly known: KnownHeads; readonly topics: readonly string[]; readonly read?: readonly ReadTo[] },
  headers: readonly GenesisOf[],
): readonly NamedLog[] {
  const counts = countsIn(headers);
  const all: NamedLog[] = [
    ...[...known.keys()].map(byHead),
    ...read.map(byReader),
    ...[...counts].flatMap(([topic, count]) =>
      Array.from({ length: count }, (_, partition) => ({ topic, partition, by: 'the other partitions' }) as const),
    ),
    ...topics
      .filter((topic) => !counts.has(topic))
      .map((topic) => ({ topic, partition: 0, by: 'the list of logs' }) as const),
  ];
  return [...new Map(all.toReversed().map((one) => [partitionName(one.topic, one.partition), one])).values()];
}

/** How many partitions each topic has, by the header that states most: one that states fewer hides none. */
export function countsIn(headers: readonly GenesisOf[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { topic, partitionCount } of headers) counts.set(topic, Math.max(partitionCount, counts.get(topic) ?? 0));
  return counts;
}

/** Does a header contradict the others of its topic, or itself? Where a partition is empty no chain shows it. */
export function isMiscounted(
  { topic, partition, partitionCount }: GenesisOf,
  counts: ReadonlyMap<string, number>,
): boolean {
  return partition >= partitionCount || partitionCount !== counts.get(topic);
}

/** What is not at the brokers: topics that are asked for, and partitions of them that an older head names. */
export function goneFrom(
  counts: readonly (readonly [string, number | null])[],
  names: readonly string[],
): readonly PartitionReport[] {
  const held = new Map(counts);
  const named = [...new Set(names)].map(byHead).filter(({ topic, partition }) => {
    const count = held.get(topic);
    // Of a topic that is gone the first partition says so.
    return count !== undefined && partition >= (count ?? 1);
  });
  return [
    ...counts.filter(([, count]) => count === null).map(([topic]) => unverified(topic, 0, { kind: 'topic_missing' })),
    ...named.map(({ topic, partition, by }) => unverified(topic, partition, { kind: 'log_missing', named_by: by })),
  ];
}

/** The same that nothing but a log that read them names. Where a topic is gone as a whole, that is told of it. */
export function goneOfRead(
  counts: readonly (readonly [string, number | null])[],
  read: readonly ReadTo[],
  reports: readonly PartitionReport[],
): readonly PartitionReport[] {
  const held = new Map(counts);
  const told = new Set(reports.map(({ topic, partition }) => partitionName(topic, partition)));
  return read
    .filter(({ topic, partition }) => partition >= (held.get(topic) ?? Infinity))
    .filter(({ topic, partition }) => !told.has(partitionName(topic, partition)))
    .map(byReader)
    .map(({ topic, partition, by }) => unverified(topic, partition, { kind: 'log_missing', named_by: by }));
}

function byReader({ topic, partition, by }: ReadTo): NamedLog {
  return { topic, partition, by };
}

function byHead(name: string): NamedLog {
  const at = name.lastIndexOf('/');
  return { topic: name.slice(0, at), partition: Number(name.slice(at + 1)), by: 'an older head' };
}
