// The far end of the raw hop: says when each record arrived, and ends with its parent.
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import type { EchoSays, EchoTask } from './echo.js';
import { sharedClockMs, task } from './worker-process.js';

const { brokers, topic, maxWaitMs } = task<EchoTask>();
const say = (message: EchoSays): void => {
  process.send?.(message);
};
const consumer = new KafkaJs({ brokers: [...brokers], clientId: 'echo', logLevel: logLevel.NOTHING }).consumer({
  groupId: 'bench-echo',
  maxWaitTimeInMs: maxWaitMs,
  minBytes: 1,
});
process.once('disconnect', () => {
  process.exit(0);
});
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
consumer.on(consumer.events.GROUP_JOIN, () => {
  say({ kind: 'ready' });
});
await consumer.run({
  eachBatch: ({ batch }) => {
    const atMs = sharedClockMs();
    for (const { value } of batch.messages) say({ kind: 'arrived', text: value?.toString() ?? '', atMs });
    return Promise.resolve();
  },
});
