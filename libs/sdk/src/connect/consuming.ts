// What a consumer of rollbacks has to know of the log it follows, as a connection knows it.
import type { Kafka } from '@recourse/kafka';
import { NOTIFICATIONS_TOPIC } from '../consumer/notification-consumer.js';
import type { ConnectedConsumerOptions } from './connect.messages.js';
import { ConnectProblem } from './connect.problem.js';

/** Asks the broker for what is not known. Errors: ConnectProblem(LOG_UNKNOWN, NOTICES_MISSING); Failure(BROKER_UNAVAILABLE, BROKER_REFUSED). */
export async function consumerOptionsOf(
  { kafka, codecs, clock }: Pick<ConnectedConsumerOptions, 'kafka' | 'codecs' | 'clock'>,
  logId: string | null,
): Promise<ConnectedConsumerOptions> {
  if (logId === null) throw new ConnectProblem('LOG_UNKNOWN', 'nothing says under which name the logs were begun');
  const partitionCount = await partitionsOf(kafka, NOTIFICATIONS_TOPIC);
  if (partitionCount === null) throw new ConnectProblem('NOTICES_MISSING', `there is no ${NOTIFICATIONS_TOPIC} here`);
  return { kafka, codecs, clock, logId, partitionCount };
}

/** Null where the topic is not there. */
async function partitionsOf(kafka: Kafka, topic: string): Promise<number | null> {
  const admin = await kafka.admin();
  try {
    return await admin.partitionCount(topic);
  } finally {
    await admin.close();
  }
}
