// A statement that waited behind a parked one reaches what relies on it once a person lets it: through the loop, as it runs (L15).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServiceRuntime, MemoryDatabase, OwnLog, withCommonKinds } from '@recourse/event-log';
import type { Decided, PlacedRecord, ServiceCore, ServiceRuntime } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { createCodecs, TOPICS } from '@recourse/messages';
import type { Codecs, TopicName } from '@recourse/messages';
import { envelopeIn } from '@recourse/testing';
import { mutationsCore } from '../core.js';
import { MUTATION, NOW, REF, refund, REFUND, registered, RUN, statement } from './ledger.testing.js';

const LOG = 'recourse.mutations';
let broker: MemoryBroker;
let codecs: Codecs;
let runtime: ServiceRuntime;
let isSick = true;

/** The ledger, with a bug that one statement meets. */
function sick(sound: ServiceCore): ServiceCore {
  return {
    ...sound,
    decide: (context, input) => {
      if (isSick && input.source === 'log' && input.body['event_id'] === 'poison') throw new Error('broken');
      return sound.decide(context, input);
    },
  };
}

beforeEach(async () => {
  broker = new MemoryBroker();
  broker.ensureTopics(TOPICS.map(({ name }) => ({ name, partitions: 1 })));
  const registry = new MemoryRegistry();
  codecs = createCodecs(registry.forActor('world'));
  for (const { name } of TOPICS) await codecs.prepareWriter(name, { register: true });
  const core = sick(mutationsCore({}));
  const kinds = withCommonKinds(core.kinds);
  runtime = createServiceRuntime({
    cores: [core],
    kafka: broker.forActor('ledger'),
    registry: registry.forActor('ledger'),
    stores: new MemoryDatabase({ kinds, now: () => NOW }).forActor('ledger'),
    logId: 'spec',
    groupId: 'ledger',
    edgeKey: null,
    settings: { lazyProgressMs: 20, headCheckMs: 50 },
  });
  await log('recourse.contracts', ['payments.issue_refund', registered(REFUND)]);
  await runtime.start();
});
afterEach(() => runtime.stop());

/** Appends to a log that somebody else owns; answers all that is accepted in it. */
async function log(topic: TopicName, ...records: readonly (readonly [string, Decided])[]): Promise<PlacedRecord[]> {
  const kafka = broker.forActor('owner');
  const own = new OwnLog({ kafka, codecs, topic, partition: 0, partitionCount: 1, logId: 'spec' });
  const found: PlacedRecord[] = [];
  for await (const read of own.read(own.origin())) found.push(...read);
  const sealer = own.seal(NOW);
  for (const [key, decided] of records) sealer.add(decided, key);
  if (records.length > 0) await own.append(sealer);
  await own.close();
  return found;
}

async function tell(topic: TopicName, key: string, type: string, body: object): Promise<void> {
  const producer = await broker.forActor('outside').wireProducer();
  await producer.send(topic, [{ key: Buffer.from(key), value: codecs.encode(topic, type, { ...body }) }]);
  await producer.close();
}

/** Records of a type in the ledger's log, once there are so many. */
async function recorded(type: string, count: number): Promise<readonly PlacedRecord['body'][]> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const found = (await log(LOG)).filter((one) => one.type === type).map(({ body }) => body);
    if (found.length >= count) return found;
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
  throw new Error(`never ${String(count)} ${type}`);
}

describe('an invalidation that waits behind a parked record of its ref', () => {
  it.each(['RedriveParked', 'DiscardParked'])('makes its commits fall after %s of that', async (type) => {
    isSick = true;
    await tell('recourse.tool-executions', RUN, 'ToolExecuted', refund());
    await recorded('MutationRecorded', 1);
    await log('recourse.assumptions', [REF, statement('holds', 'poison')], [REF, statement('invalidated', 'inv-1')]);
    const [first] = await recorded('RecordParked', 2);
    isSick = false;
    const envelope = envelopeIn('*')('root', ['administrator']);
    const body = { envelope, log: LOG, parked_id: first?.['parked_id'], reason: 'mended' };
    await tell('recourse.ledger-commands', RUN, type, body);
    const [fell] = await recorded('MutationsFell', 1);
    expect(fell).toMatchObject({ members: [{ mutation_id: MUTATION }] });
    expect(JSON.stringify(fell)).toContain('"position":2');
  });
});
