// One raw hop: a kafkajs producer here, a kafkajs consumer in another process that says when a record arrived.
import { makeTopics } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { openCompanion, sharedClockMs } from './worker-process.js';

export interface EchoTask {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly maxWaitMs: number;
}
export type EchoSays =
  { readonly kind: 'ready' } | { readonly kind: 'arrived'; readonly text: string; readonly atMs: number };

export interface Echo {
  /** Milliseconds from the call of send here to the handler there. */
  hop(): Promise<number>;
  close(): Promise<void>;
}

export async function openEcho(bench: BenchStack, topic: string, maxWaitMs: number): Promise<Echo> {
  await makeTopics(bench, [{ name: topic, partitions: 1, replicationFactor: 1 }]);
  const producer = bench.raw.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const task: EchoTask = { brokers: bench.stack.kafka.brokers, topic, maxWaitMs };
  const waiting = new Map<string, (atMs: number) => void>();
  const companion = await openCompanion<EchoSays>('./echo.main.js', task, ({ text, atMs }) => {
    waiting.get(text)?.(atMs);
  });
  let count = 0;
  return {
    hop: async () => {
      count += 1;
      const text = String(count);
      const arrived = new Promise<number>((resolve) => {
        waiting.set(text, resolve);
      });
      const sentAt = sharedClockMs();
      await producer.send({ topic, acks: -1, messages: [{ key: text, value: text, partition: 0 }] });
      return (await arrived) - sentAt;
    },
    close: async () => {
      await producer.disconnect();
      await companion.close();
    },
  };
}
