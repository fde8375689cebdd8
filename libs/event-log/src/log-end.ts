// Where a log was read to its end too soon: it was cut, or its leader is new and does not hand out yet what it holds.
//
// A leader that was just elected knows how far its log goes, and not yet how far the others have it; until then a fetch ends
// before what an earlier leader had handed out. Asked where the log ends it says so, or refuses (OFFSET_NOT_AVAILABLE).
import { Failure } from '@recourse/kernel';
import type { RawReader, TopicPartition } from '@recourse/kafka';

/**
 * What it means that a read found nothing at an offset where something was known: LOG_CUT with `message`, or BROKER_UNAVAILABLE, which
 * passes.
 *
 * Errors: those of the broker.
 */
export async function shortAt(
  reader: Pick<RawReader, 'range'>,
  { topic, partition }: TopicPartition,
  offset: number,
  message: string,
): Promise<Failure> {
  const { high } = await reader.range(topic, partition);
  return high > offset
    ? new Failure(
        'BROKER_UNAVAILABLE',
        `${topic}/${partition} ends at ${high} and hands out nothing from ${offset} yet`,
      )
    : new Failure('LOG_CUT', message);
}
