// One produce request to one broker, for one partition, and what its answer says.
import { produceV7, Writer } from '@platformatic/kafka';
import type { Connection } from '@platformatic/kafka';
import { systemClock } from '@recourse/kernel';
import type { OutgoingRecord } from '../kafka.port.js';
import { encodeProduce } from './record-batch.kafka.js';
import type { ProduceTo } from './record-batch.kafka.js';

export type ProduceAnswer = ReturnType<typeof produceV7.parseResponse>;

/** Sends records to the leader of their partition, in one request. Errors: those of the client. */
export function produceTo(
  broker: Connection,
  to: ProduceTo,
  records: readonly OutgoingRecord[],
): Promise<ProduceAnswer> {
  const body = encodeProduce(to, records, systemClock.now());
  const { promise, resolve, reject } = Promise.withResolvers<ProduceAnswer>();
  broker.send<ProduceAnswer>(
    produceV7.api.key,
    produceV7.api.version,
    () => Writer.create().append(body),
    produceV7.parseResponse,
    false,
    false,
    (error, answer) => {
      if (answer === undefined || error) reject(error ?? new Error('the broker gave no answer'));
      else resolve(answer);
    },
  );
  return promise;
}

/** Errors: Error without a base offset of this partition and no other; then nothing is known. */
export function baseOffsetIn({ responses }: ProduceAnswer, partition: number): number {
  const answers = responses.flatMap(({ partitionResponses }) => partitionResponses);
  const [answer] = answers;
  const baseOffset = Number(answer?.baseOffset ?? NaN);
  if (answers.length !== 1 || answer?.index !== partition || !Number.isSafeInteger(baseOffset) || baseOffset < 0)
    throw new Error(`no base offset for partition ${String(partition)}`);
  return baseOffset;
}
