// What it means that a read brings nothing where a partition reaches further: that nobody has answered, never that it ends there.
import { Failure } from '@recourse/kernel';
import type { TopicPartition } from './kafka.port.js';

/**
 * What a reader fails with that gets nothing below an end it was told of: a leader that was just elected hands out less than it
 * holds, for a moment.
 */
export function handsOutNothing({ topic, partition }: TopicPartition, offset: number): Failure {
  return new Failure(
    'BROKER_UNAVAILABLE',
    `${topic}/${String(partition)} hands out nothing from ${String(offset)} yet`,
  );
}
