// Whether topics stand as they are wanted: a key finds its partition by their number.
import { Failure } from '@recourse/kernel';
import type { TopicSpec } from './kafka.port.js';

type Counted = Pick<TopicSpec, 'name' | 'partitions'>;

/** Looks at the count of each; undefined is none. Errors: Failure(PARTITION_COUNT_CHANGED), which names all that differ. */
export function refuseOtherCounts(wanted: readonly Counted[], countOf: (name: string) => number | undefined): void {
  const others = wanted.filter(({ name, partitions }) => countOf(name) !== partitions);
  if (others.length === 0) return;
  const said = others.map(
    ({ name, partitions }) => `${name} has ${String(countOf(name) ?? 0)} partitions, wanted ${String(partitions)}`,
  );
  throw new Failure('PARTITION_COUNT_CHANGED', said.join('; '));
}
