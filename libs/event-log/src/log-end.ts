// Where a log was read to its end too soon: it was cut, or its leader is new and does not hand out yet what it holds.
//
// A leader that was just elected knows how far its log goes, and not yet how far the others have it; until then a fetch ends
// before what an earlier leader had handed out. Asked where the log ends it says so, or refuses (OFFSET_NOT_AVAILABLE).
import { Failure } from '@recourse/kernel';
import type { RawReader, ReadPosition, TopicPartition } from '@recourse/kafka';

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

/**
 * Which of several logs does not reach to where it is to be read on: LOG_FRONT_CUT where what was there is gone at the front, LOG_CUT
 * where it is at the end; BROKER_UNAVAILABLE, which passes, where all of them reach there by now.
 *
 * Errors: those of the broker.
 */
export async function cutAmong(
  reader: Pick<RawReader, 'range'>,
  positions: readonly ReadPosition[],
  said: Failure,
): Promise<Failure> {
  let cut: Failure | null = null;
  for (const { topic, partition, offset } of positions) {
    const { low, high } = await reader.range(topic, partition);
    const log = `${topic}/${partition}`;
    if (offset < low)
      return new Failure(
        'LOG_FRONT_CUT',
        `${log} begins at offset ${low}, and is to be read from ${offset}: what was before it was deleted at the broker`,
        { cause: said },
      );
    // A new leader may know of the end a moment later: where one begins too late, that was refused.
    if (offset > high)
      cut ??= new Failure('LOG_CUT', `${log} ends at ${high}, but ${offset} was known`, { cause: said });
  }
  if (cut !== null) return cut;
  return new Failure('BROKER_UNAVAILABLE', `all logs reach by now to where they are read on: ${said.detail}`, {
    cause: said,
  });
}
