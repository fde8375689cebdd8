import { describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { InputHandlers, Kafka } from '@recourse/kafka';
import { Failure, systemClock } from '@recourse/kernel';
import { MemoryDatabase } from './memory-store.js';
import type { ServiceCore } from './service-core.js';
import { createServiceRuntime } from './service-runtime.js';

const TOPIC = 'recourse.assumption-events';
// No loop decides here.
const core = {
  log: 'recourse.assumptions',
  inputs: [{ topic: TOPIC, source: 'wire', mode: 'aligned', types: [] }],
  views: [],
  kinds: [],
} as unknown as ServiceCore;
const BROKEN = new Failure('FETCH_BROKEN', `${TOPIC}/0@7: the broker says that its copy is damaged`);

describe('an input that a broker cannot answer for', () => {
  it('is told with its code each time, and readiness says which and why until it answers', async () => {
    const given: InputHandlers[] = [];
    const broker = new MemoryBroker();
    broker.ensureTopics([TOPIC, core.log].map((name) => ({ name, partitions: 1 })));
    const real = broker.forActor('service');
    const kafka: Kafka = {
      admin: () => real.admin(),
      logProducer: () => real.logProducer(),
      rawReader: (of) => real.rawReader(of),
      wireProducer: () => real.wireProducer(),
      group: (groupId) => real.group(groupId),
      inputConsumer: () => ({
        name: 'one',
        start: (handlers) => {
          given.push(handlers);
          return Promise.resolve();
        },
        seek: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
        stop: () => Promise.resolve(),
      }),
    };
    const told: unknown[] = [];
    const runtime = createServiceRuntime({
      cores: [core],
      kafka,
      registry: new MemoryRegistry().forActor('service'),
      stores: new MemoryDatabase({ kinds: [], now: () => 0 }).forActor('service'),
      logId: 'spec',
      groupId: 'service',
      edgeKey: null,
      clock: systemClock,
      onEvent: (event) => {
        if (event.kind === 'fetch_failed') told.push([event.log, event.partition, event.topic, event.code]);
      },
    });
    await runtime.start();
    const [handlers] = given;
    handlers?.onAssigned({ partitions: [0], generation: 1 });
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    const trouble = (cause: Failure | null): unknown => {
      handlers?.onTrouble({ topic: TOPIC, partition: 0 }, cause);
      return runtime.health().detail['problem'];
    };
    expect([trouble(BROKEN), trouble(BROKEN), runtime.health().ready]).toEqual([BROKEN.message, BROKEN.message, false]);
    expect(told).toEqual([
      [core.log, 0, TOPIC, 'FETCH_BROKEN'],
      [core.log, 0, TOPIC, 'FETCH_BROKEN'],
    ]);
    expect(trouble(null)).toBeNull();
    await runtime.stop();
  });
});
