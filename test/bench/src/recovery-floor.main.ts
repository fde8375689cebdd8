// The far side of the raw floor; ends with its parent.
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import { FLOOR_TOPICS, openSide } from './recovery-floor.js';
import type { FloorSays, FloorTask } from './recovery-floor.js';
import { sharedClockMs, task } from './worker-process.js';

const { brokers, maxWaitMs, legs } = task<FloorTask>();
const say = (message: FloorSays): void => {
  process.send?.(message);
};
process.once('disconnect', () => {
  process.exit(0);
});
await openSide({
  kafka: new KafkaJs({ brokers: [...brokers], clientId: 'floor', logLevel: logLevel.NOTHING }),
  groupId: 'bench-floor-far',
  maxWaitMs,
  legs,
  hears: FLOOR_TOPICS.there,
  tells: FLOOR_TOPICS.back,
  onEnd: (round) => {
    say({ kind: 'done', round, atMs: sharedClockMs() });
  },
});
say({ kind: 'ready' });
