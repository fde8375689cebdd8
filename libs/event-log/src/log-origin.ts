// Whose chain a log begins with: a service under another log id, or another number of partitions, finds nothing in it that counts, and would
// begin a second chain beside it.
import { genesisHead, judge, readHead } from '@recourse/chain';
import { Failure } from '@recourse/kernel';
import { handsOutNothing } from '@recourse/kafka';
import type { Kafka, RawReader } from '@recourse/kafka';

/** A log of which a service reads or writes every partition. */
interface KnownLog {
  readonly topic: string;
  readonly partitionCount: number;
}

/** Records without one of our chain at a log's beginning, from which on it is another's. */
const RECORDS_MAX = 10_000;
/** The first record nearly always tells. */
const BYTES_MAX = 64 * 1024;

/** Each log is empty, or begins with a chain of this log id and number of partitions. Errors: Failure(LOG_ID_FOREIGN); those of the broker. */
export async function checkOrigins(kafka: Kafka, logId: string, logs: readonly KnownLog[]): Promise<void> {
  const reader = await kafka.rawReader();
  try {
    await Promise.all(
      logs.flatMap(({ topic, partitionCount }) =>
        Array.from({ length: partitionCount }, (_, partition) =>
          checkOrigin(reader, { logId, topic, partition, partitionCount }),
        ),
      ),
    );
  } finally {
    await reader.close();
  }
}

type Origin = Parameters<typeof genesisHead>[0];

async function checkOrigin(reader: RawReader, origin: Origin): Promise<void> {
  const { topic, partition, logId, partitionCount } = origin;
  const genesis = genesisHead(origin);
  const { low, high } = await reader.range(topic, partition);
  // What has lost its beginning cannot be judged by it.
  const end = low > 0 ? 0 : Math.min(high, RECORDS_MAX);
  let isBegun = false;
  for (let at = 0; at < end;) {
    const { records, nextOffset } = await reader.read(topic, partition, at, BYTES_MAX);
    const heads = records.map(({ value }) => (value === null ? null : readHead(value)));
    if (heads.some((head) => head !== null && judge(genesis, head) === 'accepted')) return;
    isBegun ||= heads.some((head) => head?.seq === 1);
    if (nextOffset <= at) throw handsOutNothing(origin, at);
    at = nextOffset;
  }
  if (isBegun)
    throw new Failure(
      'LOG_ID_FOREIGN',
      `${topic}/${partition} holds ${high} records, and none of a log ${JSON.stringify(logId)} of ${partitionCount} partitions: set RECOURSE_LOG_ID to the name that it was begun with`,
    );
}
