// Logs that have to be in a dump, by what names them elsewhere. Pure.
import type { GenesisOf } from '@recourse/chain';
import type { LogNamedBy } from './findings.js';
import { partitionName } from './report.js';
import type { KnownHeads } from './report.js';

/** A log, and what names it. */
export type NamedLog = Pick<GenesisOf, 'topic' | 'partition'> & { readonly by: LogNamedBy };

/** Every log that has to be there: nobody who takes away a file can take its manifest entry, and all of these, with it. */
export function namedElsewhere(
  { known, topics }: { readonly known: KnownHeads; readonly topics: readonly string[] },
  headers: readonly GenesisOf[],
): readonly NamedLog[] {
  const counts = new Map(headers.map(({ topic, partitionCount }) => [topic, partitionCount] as const));
  const all: NamedLog[] = [
    ...[...known.keys()].map((name) => {
      const at = name.lastIndexOf('/');
      return { topic: name.slice(0, at), partition: Number(name.slice(at + 1)), by: 'an older head' } as const;
    }),
    ...[...counts].flatMap(([topic, count]) =>
      Array.from({ length: count }, (_, partition) => ({ topic, partition, by: 'the other partitions' }) as const),
    ),
    ...topics
      .filter((topic) => !counts.has(topic))
      .map((topic) => ({ topic, partition: 0, by: 'the list of logs' }) as const),
  ];
  return [...new Map(all.toReversed().map((one) => [partitionName(one.topic, one.partition), one])).values()];
}
