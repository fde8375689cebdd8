// Who signed a record is known however often it is handed on: sent to its own partition, parked, taken again (L14, L15).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SIGNATURE, signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka, OutgoingRecord, WireProducer } from '@recourse/kafka';
import { countingCore, LOG, LoopWorld, WIRE } from './loop.testing.js';
import type { AcceptedRecord, RecordInput, ServiceCore } from './service-core.js';

const COMMANDS = 'recourse.ledger-commands';
const keys = testKeys({
  ledger: { role: 'service', names: ['things', 'mutation-ledger'] },
  crm: { role: 'source', names: ['crm'], tenants: ['acme'] },
  till: { role: ['source', 'worker'], names: ['till'], tenants: ['acme'] },
  eye: { role: 'observer', names: ['till'], tenants: ['acme'] },
  erp: { role: 'source', names: ['erp'], tenants: ['acme'] },
});

let world: LoopWorld;
/** Inputs of the wire as they were decided about. */
let heard: RecordInput[] = [];
let isBroken = false;

beforeEach(async () => {
  [heard, isBroken, padding] = [[], false, ''];
  world = await new LoopWorld().prepare();
  world.clusterOf = (name) => as('ledger', name);
});
afterEach(() => world.stop());

/** Octets that base64 passes over make a header as long as those of many records that share a signature. */
let padding = '';
const padded = (record: OutgoingRecord): OutgoingRecord => ({
  ...record,
  headers: { ...record.headers, [SIGNATURE]: `${String(record.headers?.[SIGNATURE])}${padding}` },
});

/** A cluster for a key; with a partition its wires are written there, whatever the key of a record. */
function as(id: string, actor = id, partition?: number): Kafka {
  const kafka = world.broker.forActor(actor);
  const astray = async (): Promise<WireProducer> => {
    const producer = await kafka.logProducer();
    return {
      send: async (topic, records) => {
        await producer.send(topic, partition ?? 0, records.map(padded));
      },
      close: () => producer.close(),
    };
  };
  return signedKafka(
    partition === undefined
      ? kafka
      : {
          ...kafka,
          wireProducer: astray,
          rawReader: kafka.rawReader,
          inputConsumer: kafka.inputConsumer,
          logProducer: kafka.logProducer,
          admin: kafka.admin,
        },
    {
      signer: keys.signer(id),
      keyring: () => keys.keyring,
      ownerOf: (topic) => (topic === LOG ? 'things' : null),
      clock: { now: () => 1_700_000_000_000 },
    },
  );
}

function hearing(): ServiceCore {
  const sound = countingCore();
  return {
    ...sound,
    decide: (context, input) => {
      if (input.source === 'wire') heard.push(input);
      if (isBroken) throw new Error('broken');
      return sound.decide(context, input);
    },
  };
}

const here = (): Promise<readonly AcceptedRecord[]> => world.accepted(world.partitionOf('r1'));
const ofType = async (type: string): Promise<readonly AcceptedRecord['body'][]> =>
  (await here()).filter((found) => found.type === type).map(({ body }) => body);

async function redrive(): Promise<void> {
  const [parked] = await ofType('RecordParked');
  const envelope = {
    command_id: `c${String((await ofType('CommandAnswered')).length)}`,
    tenant: '*',
    principal: 'root',
    accounts: [],
    roles: ['administrator'],
    route: 'POST /v1/parked/:id/redrive',
    idempotency_key: 'k',
    body_sha256: Buffer.alloc(32, 1),
    issued_at: 0,
    signature: Buffer.alloc(0),
  };
  const value = world.codecs.encode(COMMANDS, 'RedriveParked', {
    envelope,
    log: LOG,
    parked_id: String(parked?.['parked_id']),
    reason: 'mended',
  });
  const key = [...Array(100).keys()].map(String).find((one) => world.partitionOf(one) === world.partitionOf('r1'));
  await (await as('ledger', 'edge').wireProducer()).send(COMMANDS, [{ key: Buffer.from(key ?? ''), value }]);
}

describe('who signed a record', () => {
  it('is still who signed it when it was parked and is taken again', async () => {
    isBroken = true;
    await world.start('a', hearing());
    const wire = await as('crm').wireProducer();
    await wire.send(WIRE, [{ key: Buffer.from('r1'), value: world.encoded('r1', '1', 'crm') }]);
    await world.until('parked', async () => (await ofType('RecordParked')).length === 1);
    [heard, isBroken] = [[], false];
    await redrive();
    await world.until('taken', async () => (await world.statements()).includes('r1:1'));
    expect(heard.map(({ speaker }) => speaker)).toEqual([
      { keyId: 'crm', roles: ['source'], names: ['crm'], tenants: ['acme'] },
    ]);
  });

  it('keeps its observers, so that what a worker said is looked at by another after a redrive too', async () => {
    isBroken = true;
    await world.start('a', hearing());
    await (
      await as('till').wireProducer()
    ).send(WIRE, [{ key: Buffer.from('r1'), value: world.encoded('r1', '1', 'till') }]);
    await world.until('parked', async () => (await ofType('RecordParked')).length === 1);
    [heard, isBroken] = [[], false];
    await redrive();
    await world.until('taken', async () => (await world.statements()).includes('r1:1'));
    expect(heard.map(({ speaker }) => speaker?.observers)).toEqual([[{ names: ['till'], tenants: ['acme'] }]]);
  });

  it('is asked again whether it may say so, where nobody could read it before', async () => {
    await world.start('a', hearing());
    const registry = world.registry.forActor('late');
    const value = world.encoded('r1', '1', 'crm');
    const schema = await registry.schemaById(value.readUInt32BE(1));
    value.writeUInt32BE((await registry.idOf('other', '"string"', { register: true })) + 1, 1);
    await (await as('erp').wireProducer()).send(WIRE, [{ key: Buffer.from('r1'), value }]);
    await world.until('parked', async () => (await ofType('RecordParked')).length === 1);
    await registry.idOf('later', schema.replace('"name"', '"note":"later","name"'), { register: true });
    await (await as('crm').wireProducer()).send(WIRE, [{ key: Buffer.from('r1'), value }]);
    await world.until('read now', async () => (await world.statements()).length === 1);
    await redrive();
    await world.until('answered', async () => (await ofType('CommandAnswered')).length === 1);
    expect(await ofType('CommandAnswered')).toMatchObject([{ code: 'SPEAKER_MISMATCH' }]);
    expect(await world.statements()).toEqual(['r1:1']);
  });

  it.each([
    ['with a signature of its own', ''],
    ['with one as long as a header may be', '*'.repeat(850)],
  ])('is not our service because that sent the record to the partition of its key, %s', async (_what, more) => {
    padding = more;
    await world.start('a', hearing());
    const partition = 1 - world.partitionOf('r1');
    const value = world.encoded('r1', '1', 'crm');
    await (await as('crm', 'crm', partition).wireProducer()).send(WIRE, [{ key: Buffer.from('r1'), value }]);
    await world.until('home', async () => (await world.statements()).includes('r1:1'));
    expect(heard.map(({ speaker }) => speaker?.keyId)).toEqual(['crm']);
  });
});
