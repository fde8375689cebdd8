import { afterAll } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { testEdge } from '../edge/edge.testing.js';
import type { TestEdge } from '../edge/edge.testing.js';
import { EXECUTIONS_TOPIC } from '../producer/producer.js';
import { MemoryPositionStore } from '../stores/position-store.memory.js';
import { RESULTS_TOPIC } from '../worker/worker.js';
import { createDetectorConsumer } from './detector.consumer.js';
import { detectorContract, sightingsOf } from './detector.contract.js';
import type { Placement } from './detector.contract.js';
import type { Detector } from './detector.js';
import { observationBody, serveDetector } from './detector.server.js';
import type { Sighting } from './detector.messages.js';
import { rollbackTriggersContract } from './rollback-triggers.contract.js';
import { HttpRollbackTriggers } from './rollback-triggers.http.js';
import { MemoryRollbackTriggers } from './rollback-triggers.memory.js';

const edges: TestEdge[] = [];
afterAll(() => {
  edges.forEach(({ close }) => {
    close();
  });
});

detectorContract('in the process', (detector) => {
  const see = async (sighting: Sighting): Promise<void> => {
    await detector.see(sighting);
  };
  return Promise.resolve({
    see,
    show: async (shown) => {
      for (const sighting of sightingsOf(shown)) await see(sighting);
    },
    stop: () => Promise.resolve(),
  });
});

detectorContract('beside the process', async (detector) => {
  const server = await serveDetector({ detector });
  const see = async (sighting: Sighting): Promise<void> => {
    const { status } = await fetch(`${server.url}/observations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(observationBody(sighting)),
    });
    if (status >= 500) throw new Error(String(status));
  };
  return {
    see,
    show: async (shown) => {
      for (const sighting of sightingsOf(shown)) await see(sighting);
    },
    stop: () => server.close(),
  };
});

detectorContract('apart', (detector) => apart(detector));

/** A detector that reads the wires of a broker in memory. */
async function apart(detector: Detector): Promise<Placement> {
  const [broker, registry, positions] = [new MemoryBroker(), new MemoryRegistry(), new MemoryPositionStore()];
  broker.ensureTopics([EXECUTIONS_TOPIC, RESULTS_TOPIC].map((name) => ({ name, partitions: 1 })));
  const codecs = createCodecs(registry.forActor('agent'));
  for (const topic of [EXECUTIONS_TOPIC, RESULTS_TOPIC]) await codecs.prepareWriter(topic, { register: true });
  const producer = await broker.forActor('agent').wireProducer();
  const sent = new Map<string, number>([
    [EXECUTIONS_TOPIC, 0],
    [RESULTS_TOPIC, 0],
  ]);
  const consumer = createDetectorConsumer({
    kafka: broker.forActor('detector'),
    codecs: createCodecs(registry.forActor('detector')),
    detector,
    positions,
    clock: systemClock,
    pollMs: 1,
  });
  await consumer.start();
  const show: Placement['show'] = async ({ type, body }) => {
    const topic = type === 'ToolExecuted' ? EXECUTIONS_TOPIC : RESULTS_TOPIC;
    await producer.send(topic, [{ key: Buffer.from(body.run_id), value: codecs.encode(topic, type, body) }]);
    sent.set(topic, (sent.get(topic) ?? 0) + 1);
    while (((await positions.load(topic, 0))?.offset ?? 0) < (sent.get(topic) ?? 0)) await systemClock.sleep(1);
  };
  return {
    show,
    see: null,
    stop: async () => {
      await consumer.stop();
      await producer.close();
    },
  };
}

rollbackTriggersContract('memory', () => {
  const taken = new MemoryRollbackTriggers();
  return Promise.resolve({ triggers: taken, taken });
});
rollbackTriggersContract('http', async () => {
  const taken = new MemoryRollbackTriggers();
  const edge = await testEdge(async ({ body }) => {
    // The client under test sends text alone.
    const { run_id: runId, mutation_id: commitId, reason, tenant } = body as Readonly<Record<string, string>>;
    // Its idempotency key is a header, which the test edge does not show: the trigger is its own.
    const answer = await taken.trigger({
      tenant: tenant ?? '',
      runId: runId ?? '',
      commitId: commitId ?? '',
      reason: reason ?? '',
      idempotencyKey: 'trg_1',
    });
    return answer.kind === 'taken'
      ? [200, {}]
      : answer.kind === 'refused'
        ? [422, { code: answer.code }]
        : [503, { code: 'BROKER_UNAVAILABLE' }];
  });
  edges.push(edge);
  return { triggers: new HttpRollbackTriggers({ url: edge.url, token: () => Promise.resolve('token') }), taken };
});
