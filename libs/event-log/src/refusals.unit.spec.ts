// What nobody may have said on a wire is counted and dropped: it stands before nobody (L14).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { LOG, LoopWorld, WIRE } from './loop.testing.js';
import type { AcceptedRecord } from './service-core.js';

const keys = testKeys({
  ledger: { role: 'service', names: ['things', 'mutation-ledger'] },
  auditor: { role: 'service', names: ['auditor'] },
  crm: { role: 'source', names: ['crm'], tenants: ['acme'] },
  erp: { role: 'source', names: ['erp'], tenants: ['acme'] },
  elsewhere: { role: 'source', names: ['crm'], tenants: ['other'] },
  agent: { role: 'producer', names: ['agent-7'], tenants: ['acme'] },
  worker: { role: 'worker' },
});

const COMMANDS = 'recourse.ledger-commands';
let world: LoopWorld;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
  world.clusterOf = (name) => as('ledger', name);
  await world.start('a');
});
afterEach(() => world.stop());

function as(id: string, actor = id): Kafka {
  return signedKafka(world.broker.forActor(actor), {
    signer: keys.signer(id),
    keyring: () => keys.keyring,
    ownerOf: (topic) => (topic === LOG ? 'things' : null),
    clock: { now: () => 1_700_000_000_000 },
  });
}

const record = (id: string, ref = 'r1') => ({ key: Buffer.from(ref), value: world.encoded(ref, id, 'crm') });
const send = async (kafka: Kafka, ...ids: readonly string[]): Promise<void> =>
  (await kafka.wireProducer()).send(
    WIRE,
    ids.map((id) => record(id)),
  );
/** What an edge of ours sends, of a tenant and under the key of what is stated. */
async function command(parkedId: string): Promise<void> {
  const envelope = {
    ...{ command_id: `c-${parkedId}`, tenant: 'acme', principal: 'user:mira', accounts: [], roles: ['administrator'] },
    ...{ route: 'POST /v1/parked/:id/redrive', idempotency_key: 'k', body_sha256: Buffer.alloc(32, 1), issued_at: 0 },
    signature: Buffer.alloc(0),
  };
  const asked = { envelope, log: LOG, parked_id: parkedId, reason: 'mended' };
  const value = world.codecs.encode(COMMANDS, 'RedriveParked', asked);
  await (await as('ledger', 'edge').wireProducer()).send(COMMANDS, [{ key: Buffer.from('r1'), value }]);
}
const stranger = (): Kafka => world.broker.forActor('stranger');
const here = (): Promise<readonly AcceptedRecord[]> => world.accepted(world.partitionOf('r1'));
const ofType = async (type: string): Promise<readonly AcceptedRecord['body'][]> =>
  (await here()).filter((found) => found.type === type).map(({ body }) => body);
const stated = (id: string) => async (): Promise<boolean> => (await world.statements()).includes(`r1:${id}`);

describe('a wire whose records are signed', () => {
  it('takes what a key may say, and nothing anybody else says', async () => {
    await send(stranger(), '1');
    await send(as('crm'), '2');
    await world.until('taken', stated('2'));
    expect(await world.statements()).toEqual(['r1:2']);
    expect(await ofType('RecordsRefused')).toMatchObject([
      { topic: WIRE, from_offset: 0, reasons: [{ reason: 'SIGNATURE_MISSING', count: 1 }], signing_keys: [] },
    ]);
  });

  it.each([
    ['a name that is not the key’s', 'erp'],
    ['a tenant that is not the key’s', 'elsewhere'],
    ['a record that is not for its role', 'worker'],
  ])('refuses %s', async (_what, id) => {
    await send(as(id), '1');
    await send(as('crm'), '2');
    await world.until('taken', stated('2'));
    expect(await world.statements()).toEqual(['r1:2']);
    expect(await ofType('RecordsRefused')).toMatchObject([
      { reasons: [{ reason: 'SPEAKER_MISMATCH', count: 1 }], signing_keys: [id], count: 1 },
    ]);
  });

  it('parks nothing of a stranger: rubbish under a key stops nobody', async () => {
    const wire = await stranger().wireProducer();
    await wire.send(WIRE, [{ key: Buffer.from('r1'), value: Buffer.from('no frame') }]);
    await send(as('crm'), '1');
    await world.until('taken', stated('1'));
    expect(await ofType('RecordParked')).toEqual([]);
    expect(await ofType('RecordsRefused')).toHaveLength(1);
  });

  it('parks what a registered key sends and nobody can read: its sender is to be asked', async () => {
    const wire = await as('crm').wireProducer();
    await wire.send(WIRE, [{ key: Buffer.from('r1'), value: Buffer.from('no frame') }]);
    await world.until('parked', async () => (await ofType('RecordParked')).length === 1);
  });

  it.each([
    ['that nobody can read', Buffer.from('no frame')],
    ['that is of its own tenant, and cannot be taken', null],
  ])(
    'parks what another tenant’s key sends under a key of ours %s, before none of our records',
    async (_how, rubbish) => {
      const wire = await as('elsewhere').wireProducer();
      const theirs = (id: string) => world.encoded('r1', id, 'crm', 'other');
      await wire.send(WIRE, [{ key: Buffer.from('r1'), value: rubbish ?? theirs('a\u0000') }]);
      await send(as('crm'), '1');
      await world.until('taken', stated('1'));
      expect(await ofType('RecordParked')).toMatchObject([
        { record_key: 'r1', tenant: rubbish === null ? 'other' : null },
      ]);
      await wire.send(WIRE, [{ key: Buffer.from('r1'), value: theirs('2') }]);
      await world.until('parked', async () => (await ofType('RecordParked')).length === 2);
      expect(await ofType('RecordParked')).toMatchObject([{}, { reason: 'BEHIND', tenant: 'other' }]);
    },
  );

  it.each([
    ['another source', 'erp'],
    ['an agent', 'agent'],
  ])(
    'parks what %s of our tenant sends under our key and nobody can read, before none of our records',
    async (_who, id) => {
      const wire = await as(id).wireProducer();
      const rubbish = { key: Buffer.from('r1'), value: Buffer.from('no frame') };
      await wire.send(WIRE, [rubbish]);
      await send(as('crm'), '1');
      await world.until('taken', stated('1'));
      await wire.send(WIRE, [rubbish]);
      await world.until('parked', async () => (await ofType('RecordParked')).length === 2);
      expect(await ofType('RecordParked')).toMatchObject([{ record_key: 'r1' }, { reason: 'BEHIND' }]);
    },
  );

  it('parks nothing of a key that may say nothing there, readable or not', async () => {
    const wire = await as('worker').wireProducer();
    await wire.send(WIRE, [{ key: Buffer.from('r1'), value: Buffer.from('no frame') }]);
    await send(as('crm'), '1');
    await world.until('taken', stated('1'));
    expect(await ofType('RecordParked')).toEqual([]);
    expect(await ofType('RecordsRefused')).toMatchObject([
      { reasons: [{ reason: 'SPEAKER_MISMATCH', count: 1 }], signing_keys: ['worker'] },
    ]);
  });

  it('takes no word of an agent, a source or a person from a service that says none, and parks nothing of it', async () => {
    await send(as('auditor'), '1');
    const wire = await as('auditor').wireProducer();
    await wire.send(WIRE, [{ key: Buffer.from('r1'), value: Buffer.from('no frame') }]);
    await send(as('crm'), '2');
    await world.until('taken', stated('2'));
    expect(await world.statements()).toEqual(['r1:2']);
    expect(await ofType('RecordParked')).toEqual([]);
    const refused = await ofType('RecordsRefused');
    expect(refused.map(({ signing_keys }) => signing_keys)).toEqual(refused.map(() => ['auditor']));
    expect(refused.map(({ count }) => Number(count)).reduce((sum, one) => sum + one, 0)).toBe(2);
  });

  it('has what our own services say wait behind no key of anybody else: no command of a person does', async () => {
    const wire = await as('crm').wireProducer();
    await wire.send(WIRE, [{ key: Buffer.from('r1'), value: Buffer.from('no frame') }]);
    await command('nothing');
    await world.until('answered', async () => (await ofType('CommandAnswered')).length === 1);
    expect(await ofType('RecordParked')).toHaveLength(1);
  });

  it('has everybody wait behind what our own services said, and nobody could take', async () => {
    const wire = await as('ledger', 'edge').wireProducer();
    await wire.send(WIRE, [{ key: Buffer.from('r1'), value: Buffer.from('no frame') }]);
    await send(as('crm'), '1');
    await world.until('parked', async () => (await ofType('RecordParked')).length === 2);
    expect(await ofType('RecordParked')).toMatchObject([{}, { reason: 'BEHIND' }]);
    expect(await world.statements()).toEqual([]);
  });

  it('has no other tenant wait behind what our own services said of one, under one key', async () => {
    await command('a\u0000');
    await world.until('parked', async () => (await ofType('RecordParked')).length === 1);
    const theirs = await as('elsewhere').wireProducer();
    await theirs.send(WIRE, [{ key: Buffer.from('r1'), value: world.encoded('r1', '1', 'crm', 'other') }]);
    await world.until('taken', stated('1'));
    expect(await ofType('RecordParked')).toHaveLength(1);
  });

  it('has what the rightful owner sends wait behind what it sent before, whoever else sends meanwhile', async () => {
    const own = await as('crm').wireProducer();
    const theirs = await as('elsewhere').wireProducer();
    await own.send(WIRE, [{ key: Buffer.from('r1'), value: Buffer.from('no frame') }]);
    await theirs.send(WIRE, [{ key: Buffer.from('r1'), value: world.encoded('r1', '9', 'crm', 'other') }]);
    await send(as('crm'), '1');
    await world.until('parked', async () => (await ofType('RecordParked')).length === 2);
    expect(await ofType('RecordParked')).toMatchObject([{}, { reason: 'BEHIND', tenant: 'acme' }]);
    expect(await world.statements()).toEqual(['r1:9']);
  });

  it('leaves one record of a flood, with a hash over all of it', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => String(index));
    await send(stranger(), ...ids);
    await send(as('crm'), 'after');
    await world.until('taken', stated('after'));
    const refused = await ofType('RecordsRefused');
    expect(refused.reduce((sum, { count }) => sum + Number(count), 0)).toBe(200);
    expect(refused.length).toBeLessThan(20);
    const first = refused[0];
    const hash = ids
      .slice(0, Number(first?.['count']))
      .reduce<Buffer>(
        (before, id) => createHash('sha256').update(before).update(record(id).value).digest(),
        Buffer.alloc(32),
      );
    expect(first?.['values_sha256']).toEqual(hash);
    expect(world.events.flatMap((event) => (event.kind === 'refused' ? [event.reason] : []))).toContain(
      'SIGNATURE_MISSING',
    );
  });

  it('leaves one record of a flood whatever is wrong with each of it, and no key id is longer than one', async () => {
    const kinds = [undefined, 'k1', 'k2', 'k'.repeat(500), 'k'.repeat(300_000)];
    const flood = Array.from({ length: 80 }, (_, index) => {
      const keyId = kinds[index % kinds.length];
      const headers = keyId === undefined ? {} : { 'recourse-signature': `v1 ${keyId} 1700000000000 1 AA` };
      return { ...record(String(index)), headers };
    });
    await (await stranger().wireProducer()).send(WIRE, flood);
    await send(as('crm'), 'after');
    await world.until('taken', stated('after'));
    const refused = await ofType('RecordsRefused');
    expect(refused.reduce((sum, { count }) => sum + Number(count), 0)).toBe(80);
    expect(refused.length).toBeLessThan(10);
    const counts = refused.flatMap(({ reasons }) => reasons as readonly { reason: string; count: number }[]);
    const countOf = (code: string): number =>
      counts.filter(({ reason }) => reason === code).reduce((sum, { count }) => sum + count, 0);
    expect([countOf('SIGNATURE_MISSING'), countOf('KEY_UNKNOWN')]).toEqual([48, 32]);
    expect(refused).toContainEqual(expect.objectContaining({ signing_keys: ['k1', 'k2'] }));
    const told = world.events.flatMap((event) => (event.kind === 'refused' ? [event] : []));
    for (const code of ['SIGNATURE_MISSING', 'KEY_UNKNOWN'])
      expect(told.reduce((sum, { reason, records }) => sum + (reason === code ? records : 0), 0)).toBe(countOf(code));
    expect(JSON.stringify(refused)).not.toContain('kkk');
  });
});

describe('a log whose owner signs', () => {
  it('does not grow by what somebody else appends at its head, and its owner goes on', async () => {
    await send(as('crm'), '1');
    await world.until('taken', stated('1'));
    const partition = world.partitionOf('r1');
    const head = (await here()).at(-1);
    const body = {
      event_id: 'forged',
      tenant: 'acme',
      ref: 'r1',
      seq: Number(head?.seq) + 1,
      prev_hash: head?.hash,
      decided_at: 0,
    };
    const statement = { source: 'crm', run_id: null, stated_at: 0, count: 1 };
    await (
      await stranger().logProducer()
    ).send(LOG, partition, [
      {
        key: Buffer.from('r1'),
        value: world.codecs.encode(LOG, 'Progress', { ...body, ...statement, cursors: [], reacted_seq: 0 }),
      },
    ]);
    await send(as('crm'), '2');
    await world.until('taken', async () => (await read(as('ledger', 'reader'), partition)).includes('2'));
    expect(await read(as('ledger', 'reader'), partition)).toEqual(['1', '2']);
  });
});

/** Statements of a partition, by the chain of what its owner signed. */
async function read(kafka: Kafka, partition: number): Promise<readonly string[]> {
  return (await world.accepted(partition, LOG, kafka))
    .filter(({ type }) => type === 'AssumptionStated')
    .map(({ body }) => String(body['event_id']));
}
