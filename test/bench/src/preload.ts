// What stands in the topics before a bench begins to measure.
import { OwnLog } from '@recourse/event-log';
import { partitionForKey } from '@recourse/kafka';
import type { Kafka, OutgoingRecord } from '@recourse/kafka';
import type { ToolExecuted } from '@recourse/messages';
import type { Producer } from 'kafkajs';
import { PARTITIONS, say } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import type { Registered } from './executions.js';
import { sum } from './rounds.js';

export const EXECUTIONS_TOPIC = 'recourse.tool-executions';
export const CONTRACTS_TOPIC = 'recourse.contracts';
/** Logs that the ledger writes. */
export const LEDGER_LOGS: readonly string[] = [
  'recourse.mutations',
  'recourse.assumptions',
  'recourse.rollback-notifications',
];
/** Everything whose schemas a ledger looks up. */
export const LEDGER_TOPICS: readonly string[] = [
  EXECUTIONS_TOPIC,
  ...LEDGER_LOGS,
  CONTRACTS_TOPIC,
  'recourse.assumption-events',
  'recourse.recoveries',
  'recourse.ledger-commands',
];

const PRELOAD_BATCH = 1_000;

/** Produces so many executions. */
export async function preload(
  bench: BenchStack,
  executions: number,
  execution: (index: number) => ToolExecuted,
): Promise<void> {
  say(`preloading ${String(executions)} executions`);
  const producer = bench.raw.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  for (let from = 0; from < executions; from += PRELOAD_BATCH) {
    await produce(
      producer,
      Array.from({ length: Math.min(PRELOAD_BATCH, executions - from) }, (_, at) =>
        encoded(bench, execution(from + at)),
      ),
    );
  }
  await producer.disconnect();
}

/** The same, signed by their producer. */
export async function preloadSigned(
  bench: BenchStack,
  executions: number,
  execution: (index: number) => ToolExecuted,
  kafka: Kafka,
): Promise<void> {
  say(`preloading ${String(executions)} signed executions`);
  const producer = await kafka.wireProducer();
  for (let from = 0; from < executions; from += PRELOAD_BATCH)
    await producer.send(
      EXECUTIONS_TOPIC,
      Array.from({ length: Math.min(PRELOAD_BATCH, executions - from) }, (_, at) =>
        encoded(bench, execution(from + at)),
      ),
    );
  await producer.close();
}

/** An execution as its producer sends it. */
export function encoded({ codecs }: BenchStack, body: ToolExecuted): OutgoingRecord {
  return { key: Buffer.from(body.run_id), value: codecs.encode(EXECUTIONS_TOPIC, 'ToolExecuted', body) };
}

/** Sends executions to the partitions of their runs; resolves when all are acknowledged. */
export async function produce(producer: Producer, records: readonly OutgoingRecord[]): Promise<void> {
  await producer.send({
    topic: EXECUTIONS_TOPIC,
    acks: -1,
    messages: records.map(({ key, value }) => ({ key, value, partition: partitionForKey(String(key), PARTITIONS) })),
  });
}

/** Appends a contract to the empty contracts log of a deployment, as the registry does after it looked at it. */
export async function register(
  { kafka, codecs }: BenchStack,
  logId: string,
  { name, body, digest }: Registered,
): Promise<void> {
  const log = new OwnLog({ kafka, codecs, topic: CONTRACTS_TOPIC, partition: 0, partitionCount: 1, logId });
  await log.prepare();
  try {
    const sealer = log.seal(Date.now());
    sealer.add(
      {
        type: 'ContractRegistered',
        body: {
          name,
          version: 1,
          tenant: '*',
          digest,
          body,
          registered_by: 'owner',
          command_id: `cmd_${name}`,
          confirmed_by: null,
        },
      },
      name,
    );
    const judgement = await log.append(sealer);
    if (judgement !== 'accepted') throw new Error(`the registration was ${judgement}`);
  } finally {
    await log.close();
  }
}

/** Records of all partitions of a topic. */
export async function lengthOf({ kafka }: BenchStack, topic: string): Promise<number> {
  const reader = await kafka.rawReader();
  try {
    const ranges = await Promise.all(
      Array.from({ length: PARTITIONS }, (_, partition) => reader.range(topic, partition)),
    );
    return sum(ranges.map(({ high }) => high));
  } finally {
    await reader.close();
  }
}
