// After kill -9 of the broker a service ran two consumers in its group: the join that followed the crash crashed as well,
// while it was waited for, and each of the two crashes began to join anew. The orphan held partitions nobody served.
import { describe, expect, it } from '@jest/globals';
import { MemoryDatabase, createServiceRuntime } from '@recourse/event-log';
import type { ServiceCore } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { InputConsumer, InputHandlers, Kafka } from '@recourse/kafka';

const TOPIC = 'recourse.assumption-events';
// The runtime joins before any loop runs; a loop never does here.
const core = {
  log: 'recourse.assumptions',
  inputs: [{ topic: TOPIC, source: 'wire', mode: 'aligned', types: [] }],
  views: [],
  kinds: [],
} as unknown as ServiceCore;
/** The broker is away for the first of these joins. */
const JOINS_IN_VAIN = 4;

describe('a service whose consumer crashed', () => {
  it('ends with one consumer, however many joins crash while they are waited for', async () => {
    const live = new Set<InputConsumer>();
    const told: InputHandlers[] = [];
    let joins = 0;
    const consumer = (): InputConsumer => {
      const made: InputConsumer = {
        name: `consumer-${String(joins)}`,
        start: async (given) => {
          joins += 1;
          live.add(made);
          await Promise.resolve();
          told.push(given);
          // As kafkajs does: the crash is told from within `run`, which then resolves.
          if (joins > 1 && joins <= JOINS_IN_VAIN) given.onCrash(new Error('the broker is away'));
        },
        seek: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
        stop: () => {
          live.delete(made);
          return Promise.resolve();
        },
      };
      return made;
    };
    const broker = new MemoryBroker();
    broker.ensureTopics([
      { name: TOPIC, partitions: 2 },
      { name: core.log, partitions: 2 },
    ]);
    const kafka: Kafka = { ...methodsOf(broker.forActor('service')), inputConsumer: consumer };
    const database = new MemoryDatabase({ kinds: [], now: () => 0 });
    const runtime = createServiceRuntime({
      cores: [core],
      kafka,
      registry: new MemoryRegistry().forActor('service'),
      stores: database.forActor('service'),
      logId: 'spec',
      groupId: 'service',
      edgeKey: null,
      clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve(), alarm: () => () => undefined },
    });
    await runtime.start();
    told.at(-1)?.onCrash(new Error('the broker was killed'));
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    expect([live.size, joins]).toEqual([1, JOINS_IN_VAIN + 1]);
    await runtime.stop();
    expect(live.size).toBe(0);
  });
});

function methodsOf(kafka: Kafka): Kafka {
  return {
    admin: () => kafka.admin(),
    group: (groupId) => kafka.group(groupId),
    inputConsumer: (options) => kafka.inputConsumer(options),
    logProducer: () => kafka.logProducer(),
    rawReader: (of) => kafka.rawReader(of),
    wireProducer: () => kafka.wireProducer(),
  };
}
