// Deletes what lies below an offset, as retention does.
//
// Boundary: for proofs only.
import { Kafka as KafkaJs, logLevel } from 'kafkajs';

/** Deletes records of a partition below `below`. */
export async function trimTopic(
  brokers: readonly string[],
  { topic, partition, below }: { readonly topic: string; readonly partition: number; readonly below: number },
): Promise<void> {
  const admin = new KafkaJs({ brokers: [...brokers], clientId: 'retention', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    // kafkajs deletes only in topics whose metadata it has seen.
    await admin.fetchTopicMetadata({ topics: [topic] });
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(below) }] });
  } finally {
    await admin.disconnect();
  }
}
