// Puts an older copy of a topic in its place, as a restore from a backup does: what came after the copy is gone.
//
// Boundary: for proofs only. The records that are kept are written back byte by byte, at the same offsets.
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import type { Admin, ConfigResourceTypes } from 'kafkajs';
import { systemClock } from '@recourse/kernel';
import { createKafka } from '../create.kafka.js';
import type { Kafka, OutgoingRecord } from '../kafka.port.js';

export interface TopicCut {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly partition: number;
  /** Records of the partition that the copy holds; other partitions are copied whole. */
  readonly keep: number;
}

const RETRY = { initialRetryTime: 100, retries: 5 } as const;
const TRIES = 50;
const WAIT_MS = 200;
const BATCH = 500;
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- an ES module cannot name kafkajs' enum at run time; 2 is its TOPIC
const TOPIC_RESOURCE = 2 as ConfigResourceTypes;

/** Deletes the topic, makes it anew and writes the kept records back. Errors: Error when a step does not come through. */
export async function cutTopic({ brokers, topic, partition, keep }: TopicCut): Promise<void> {
  const kafka = createKafka({ brokers, clientId: 'restore' });
  const copy = (await readAll(kafka, topic)).map((records, at) =>
    at === partition ? records.slice(0, keep) : records,
  );
  const admin = new KafkaJs({
    brokers: [...brokers],
    clientId: 'restore',
    logLevel: logLevel.NOTHING,
    retry: RETRY,
  }).admin();
  await admin.connect();
  try {
    const configEntries = await ownConfig(admin, topic);
    await admin.deleteTopics({ topics: [topic] });
    await created(admin, kafka, { topic, numPartitions: copy.length, configEntries });
  } finally {
    await admin.disconnect();
  }
  await writeAll(kafka, topic, copy);
}

async function readAll(kafka: Kafka, topic: string): Promise<readonly (readonly OutgoingRecord[])[]> {
  const admin = await kafka.admin();
  const count = (await admin.partitionCount(topic).finally(() => admin.close())) ?? 0;
  const reader = await kafka.rawReader();
  try {
    const copy: OutgoingRecord[][] = [];
    for (let partition = 0; partition < count; partition += 1) {
      const { low, high } = await reader.range(topic, partition);
      if (low !== 0)
        throw new Error(`${topic}/${String(partition)} begins at ${String(low)}: its offsets cannot be copied`);
      const records: OutgoingRecord[] = [];
      while (records.length < high) {
        const batch = await reader.read(topic, partition, records.length);
        for (const { key, value } of batch.records)
          records.push({ key: key ?? Buffer.alloc(0), value: value ?? Buffer.alloc(0) });
      }
      copy.push(records);
    }
    return copy;
  } finally {
    await reader.close();
  }
}

/** What was set for this topic alone. */
async function ownConfig(admin: Admin, topic: string): Promise<{ readonly name: string; readonly value: string }[]> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_RESOURCE, name: topic }],
  });
  return (resources[0]?.configEntries ?? [])
    .filter(({ isDefault }) => !isDefault)
    .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
}

/** A deleted name is free, and the new topic known to the broker, a moment later. */
async function created(
  admin: Admin,
  kafka: Kafka,
  spec: {
    readonly topic: string;
    readonly numPartitions: number;
    readonly configEntries: { readonly name: string; readonly value: string }[];
  },
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await admin.createTopics({ topics: [{ ...spec, replicationFactor: 1 }], waitForLeaders: false });
      if (await isEmpty(kafka, spec)) return;
    } catch (cause) {
      if (tries >= TRIES) throw cause;
    }
    if (tries >= TRIES) throw new Error(`${spec.topic} cannot be made anew`);
    await systemClock.sleep(WAIT_MS);
  }
}

async function isEmpty(
  kafka: Kafka,
  { topic, numPartitions }: { readonly topic: string; readonly numPartitions: number },
): Promise<boolean> {
  const reader = await kafka.rawReader();
  try {
    const ranges = await Promise.all(
      Array.from({ length: numPartitions }, (_, partition) => reader.range(topic, partition)),
    );
    return ranges.every(({ high }) => high === 0);
  } finally {
    await reader.close();
  }
}

async function writeAll(kafka: Kafka, topic: string, copy: readonly (readonly OutgoingRecord[])[]): Promise<void> {
  const producer = await kafka.logProducer();
  try {
    for (const [partition, records] of copy.entries()) {
      for (let at = 0; at < records.length; at += BATCH) {
        const outcome = await producer.send(topic, partition, records.slice(at, at + BATCH));
        if (outcome.kind !== 'landed' || outcome.baseOffset !== at)
          throw new Error(`${topic}/${String(partition)}: the copy did not land at ${String(at)}`);
      }
    }
  } finally {
    await producer.close();
  }
}
