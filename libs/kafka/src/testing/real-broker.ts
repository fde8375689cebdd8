// The real half of the contract: a broker from the test stack, reached directly or through a misbehaving proxy.
import { randomUUID } from 'node:crypto';
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import { createKafka } from '../create.kafka.js';
import type { OutgoingRecord } from '../kafka.port.js';
import type { FaultyKafka, KafkaHarness, StrangersPart } from '../kafka-scene.contract.js';
import { startTcpProxy } from './tcp-proxy.js';
import type { TcpProxy } from './tcp-proxy.js';

const VARIABLE = 'RECOURSE_TEST_STACK';
const LOG_REQUEST_TIMEOUT_MS = 700;

export interface TestStack {
  readonly kafka: { readonly brokers: readonly string[] };
  readonly registryUrl: string;
}

/**
 * What `scripts/jest.mjs` started.
 *
 * Errors: Error when the specs were started without it.
 */
export function testStack(): TestStack {
  const text = process.env[VARIABLE];
  if (text === undefined)
    throw new Error(
      `${VARIABLE} is not set: specs on real parts are started by "npm run contract", which starts a stack for them`,
    );
  // Written by our own script; a wrong shape fails the first spec that uses it.
  return JSON.parse(text) as TestStack;
}

/** A client without any of our code, to look at a broker from the side. */
export function plainClient(): KafkaJs {
  return new KafkaJs({ brokers: [...testStack().kafka.brokers], clientId: 'onlooker', logLevel: logLevel.NOTHING });
}

/** A proxy in front of the first broker. */
export function brokerProxy(): Promise<TcpProxy> {
  const [host = '127.0.0.1', port = '0'] = (testStack().kafka.brokers[0] ?? '').split(':');
  return startTcpProxy({ host, port: Number(port) });
}

export function kafkaThrough(proxy: TcpProxy): ReturnType<typeof createKafka> {
  return createKafka({
    brokers: [proxy.address],
    via: proxy.address,
    clientId: 'contract-faulty',
    logRequestTimeoutMs: LOG_REQUEST_TIMEOUT_MS,
    connectionTimeoutMs: 1_000,
    requestTimeoutMs: 3_000,
  });
}

export async function openRealBroker(): Promise<KafkaHarness> {
  const kafka = createKafka({ brokers: testStack().kafka.brokers, clientId: 'contract' });
  const admin = plainClient().admin();
  await admin.connect();
  return {
    kafka,
    faulty: faultyKafka,
    trim: async (topic, partition, offset) => {
      // kafkajs deletes only in topics whose metadata it has seen.
      await admin.fetchTopicMetadata({ topics: [topic] });
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] });
    },
    transaction: strangersTransaction,
    close: () => admin.disconnect(),
  };
}

async function strangersTransaction(
  topic: string,
  partition: number,
  sent: readonly OutgoingRecord[],
): Promise<StrangersPart> {
  const producer = plainClient().producer({ transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  const transaction = await producer.transaction();
  const messages = sent.map(({ key, value }) => ({ key, value, partition }));
  await transaction.send({ topic, messages });
  const end = async (how: 'commit' | 'abort'): Promise<void> => {
    await transaction[how]();
    await producer.disconnect();
  };
  return { commit: () => end('commit'), abort: () => end('abort') };
}

async function faultyKafka(): Promise<FaultyKafka> {
  const proxy = await brokerProxy();
  return {
    kafka: kafkaThrough(proxy),
    loseAnswers: () => {
      proxy.setMode('drop_answers');
    },
    hold: () => {
      proxy.setMode('freeze');
    },
    release: () => {
      proxy.setMode('pass');
      return Promise.resolve();
    },
    silence: () => {
      proxy.setMode('freeze');
    },
    kill: () => {
      proxy.setMode('freeze');
    },
    close: () => {
      proxy.setRefusing(true);
      return proxy.close();
    },
  };
}
