// What one record on a wire may do to a detector: make a trigger, or be passed over. It never stops the others.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry, signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { Failure, ManualClock } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs, Payload, ToolExecuted } from '@recourse/messages';
import { ASSUMPTIONS_TOPIC, createProducer, EXECUTIONS_TOPIC } from '../producer/producer.js';
import { MemoryPositionStore } from '../stores/position-store.memory.js';
import { RESULTS_TOPIC } from '../worker/worker.js';
import { createDetectorConsumer } from './detector.consumer.js';
import type { DetectorConsumer, DetectorConsumerOptions } from './detector.consumer.js';
import { reserved, RULES } from './detector.contract.js';
import { createDetector, triggerTeller } from './detector.js';
import { MemoryRollbackTriggers } from './rollback-triggers.memory.js';

const NOW = 1_790_000_000_000;
const keys = testKeys({
  monitor: { role: 'source' },
  limited: { role: 'source', tenants: ['globex'] },
  agent: { role: 'producer' },
  foreign: { role: 'producer', tenants: ['globex'] },
  stock: { role: 'source', names: ['planner'] },
  named: { role: 'source', names: ['inventory.reserve_stock'] },
  mute: { role: 'worker' },
});

let broker: MemoryBroker;
let clock: ManualClock;
let codecs: Codecs;
let registry: MemoryRegistry;
let troubles: string[];
let refused: string[];
let details: string[];
let consumer: DetectorConsumer | null;
beforeEach(async () => {
  [broker, registry, clock] = [new MemoryBroker(), new MemoryRegistry(), new ManualClock(NOW)];
  [troubles, refused, details, consumer] = [[], [], [], null];
  broker.ensureTopics([EXECUTIONS_TOPIC, RESULTS_TOPIC, ASSUMPTIONS_TOPIC].map((name) => ({ name, partitions: 1 })));
  codecs = createCodecs(registry.forActor('agent'));
  await codecs.prepareWriter(EXECUTIONS_TOPIC, { register: true });
});
afterEach(() => consumer?.stop());

const plain = (actor: string): Kafka => broker.forActor(actor);
const signed = (id: string): Kafka =>
  signedKafka(broker.forActor(id), {
    signer: keys.signer(id),
    keyring: () => keys.keyring,
    ownerOf: () => null,
    clock,
  });

async function start(kafka: Kafka, more: Partial<DetectorConsumerOptions> = {}): Promise<void> {
  const producer = await createProducer({
    kafka,
    codecs: createCodecs(registry.forActor('detector')),
    source: 'monitor',
    registerSchemas: true,
  });
  const tell = triggerTeller({
    producer,
    rollbacks: new MemoryRollbackTriggers(),
    onRefused: (_trigger, code, detail) => {
      refused.push(code);
      details.push(detail);
    },
  });
  consumer = createDetectorConsumer({
    kafka,
    codecs: createCodecs(registry.forActor('detector')),
    detector: createDetector({ rules: RULES, tell }),
    positions: new MemoryPositionStore(),
    clock,
    pollMs: 1,
    onTrouble: (_topic, _partition, cause) => troubles.push(String(cause)),
    ...more,
  });
  await consumer.start();
}

/** An execution that contradicts what was expected; `run` tells it from others. */
function short(run: string, more: Partial<ToolExecuted> = {}): ToolExecuted {
  // It is one of an execution.
  const body = reserved(run, -1).body as ToolExecuted;
  return { ...body, event_id: `evt-${run}`, run_id: run, committed_at: NOW, ...more };
}

function payloadOf(json: Json): Payload {
  const body = Buffer.from(JSON.stringify(json));
  return { ...short('run-1').args, body, sha256: createHash('sha256').update(body).digest() };
}

async function send(kafka: Kafka, body: ToolExecuted): Promise<void> {
  const wire = await kafka.wireProducer();
  const value = codecs.encode(EXECUTIONS_TOPIC, 'ToolExecuted', body);
  await wire.send(EXECUTIONS_TOPIC, [{ key: Buffer.from(body.run_id), value }]);
}

async function turns(count = 100): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await clock.advance(10);
}

/** What was stated of each, oldest first. */
async function stated(): Promise<readonly Json[]> {
  const reader = await broker.forActor('look').rawReader();
  const { records } = await reader.read(ASSUMPTIONS_TOPIC, 0, 0);
  const look = createCodecs(registry.forActor('look'));
  const found: Json[] = [];
  for (const { value } of records) {
    const first = look.decodeSync(value);
    if (first.kind === 'unknown_schema') await look.load(first.id);
    const decoded = look.decodeSync(value);
    // The wire holds no other record.
    if (decoded.kind === 'decoded')
      found.push(JSON.parse((decoded.body as { statement: Payload }).statement.body.toString('utf8')) as Json);
  }
  return found;
}

describe('a detector on signed wires', () => {
  it.each([
    ['nobody signed', (): Kafka => plain('stranger'), 'SIGNATURE_MISSING'],
    ['a key of another tenant signed', (): Kafka => signed('foreign'), 'SPEAKER_MISMATCH'],
    ['a key signed that speaks of no execution', (): Kafka => signed('stock'), 'SPEAKER_MISMATCH'],
  ])('makes nothing of what %s, says so, and goes on', async (_who, speaker, reason) => {
    await start(signed('monitor'));
    await send(speaker(), short('run-1'));
    await turns();
    expect([(await stated()).length, troubles]).toEqual([0, [expect.stringContaining(reason)]]);
    await send(signed('agent'), short('run-2'));
    await turns();
    expect([(await stated()).length, troubles.length]).toEqual([1, 1]);
  });

  it('passes over what is seen of a tenant that its own key does not speak for: nobody would believe what it told', async () => {
    await start(signed('limited'));
    await send(signed('agent'), short('run-1'));
    await send(signed('agent'), short('run-2', { tenant: 'globex' }));
    await turns();
    expect([(await stated()).length, troubles]).toEqual([1, [expect.stringContaining('TENANT_FOREIGN')]]);
  });
});

describe('a detector whose wire holds what cannot be told', () => {
  it('passes it over, says so, and tells what comes after', async () => {
    await start(plain('monitor'));
    await send(plain('agent'), short('run-1', { committed_at: NOW / 1_000 }));
    await send(plain('agent'), short('run-2'));
    await turns();
    expect([(await stated()).length, refused, troubles]).toEqual([1, ['INSTANT_INVALID'], []]);
  });

  it.each([
    ['are too large', { warehouse: 'east', note: 'x'.repeat(262_500) }],
    ['nest as deep as anybody reads', { warehouse: 'east', deep: nested(61) }],
  ])('tells facts that %s by their hash', async (_what, args) => {
    await start(plain('monitor'));
    await send(plain('agent'), short('run-1', { args: payloadOf(args) }));
    await send(plain('agent'), short('run-2'));
    await turns();
    expect([await stated(), refused, troubles]).toEqual([
      [
        {
          rule: 'still-in-stock',
          expected: RULES[0]?.expects,
          observed_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        expect.objectContaining({ observed: expect.anything() }),
      ],
      [],
      [],
    ]);
  });

  it('passes over what its own key may not say, says so, and tells what it may', async () => {
    await start(signed('named'));
    await send(signed('agent'), short('run-1', { capability: 'inventory.count_stock' }));
    await send(signed('agent'), short('run-2'));
    await turns();
    expect([(await stated()).length, refused, troubles]).toEqual([1, ['KEY_NOT_BELIEVED'], []]);
    expect(details).toEqual([expect.stringContaining('does not speak under the name inventory.count_stock')]);
  });

  it('tries again while its own key may say nothing at all', async () => {
    await start(signed('mute'));
    await send(signed('agent'), short('run-1'));
    await turns();
    expect([refused, troubles[0]]).toEqual([[], expect.stringContaining('is not for it to say')]);
  });

  it('tries again while its own key is not believed', async () => {
    let trouble: Failure | null = new Failure('KEY_NOT_BELIEVED', 'revoked');
    await start(
      signedKafka(plain('monitor'), {
        signer: keys.signer('monitor'),
        keyring: () => keys.keyring,
        ownerOf: () => null,
        clock,
        trouble: () => trouble,
      }),
    );
    await send(signed('agent'), short('run-1'));
    await turns();
    expect([(await stated()).length, refused]).toEqual([0, []]);
    trouble = null;
    await turns();
    expect((await stated()).length).toBe(1);
  });

  it('goes on where those who listen to it throw', async () => {
    const heard: unknown[] = [];
    await start(plain('monitor'), {
      onDetection: () => {
        throw new Error('no log');
      },
      onTrouble: (_topic, _partition, cause) => {
        heard.push(cause);
        throw new Error('no log either');
      },
    });
    await send(plain('agent'), short('run-1'));
    await send(plain('agent'), short('run-2'));
    await turns(200);
    expect([(await stated()).length, heard.map(String)]).toEqual([2, ['Error: no log', 'Error: no log']]);
  });
});

function nested(levels: number): Json {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}
