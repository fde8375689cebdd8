// One raw hop: a kafkajs producer here, a kafkajs consumer in another process that says when a record arrived.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { makeTopics } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { sharedClockMs } from './worker-process.js';

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
  const child = fork(fileURLToPath(new URL('./echo.main.js', import.meta.url)), [], {
    env: { ...process.env, RECOURSE_BENCH_TASK: JSON.stringify(task) },
    execArgv: ['--disable-warning=TimeoutNegativeWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiting = new Map<string, (atMs: number) => void>();
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      const said = message as EchoSays; // echo.main.ts says nothing else
      if (said.kind === 'ready') resolve();
      else waiting.get(said.text)?.(said.atMs);
    });
    child.on('exit', (code) => {
      reject(new Error(`the echo ended with ${String(code)}`));
    });
  });
  await ready;
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
      const ended = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      child.disconnect();
      await ended;
    },
  };
}
