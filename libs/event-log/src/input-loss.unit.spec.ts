// A wire that lost records this service has not read, and one that holds what nobody can read (L13, L15).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { signedKafka, testKeys } from '@recourse/kafka';
import type { FetchedBatch, FetchedRecord, Kafka } from '@recourse/kafka';
import { judgeRange } from './input-loss.js';
import { InputQueue } from './input-queue.js';
import { countingCore, LOG, LOG_ID, LoopWorld, PARTITIONS, WIRE } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import type { ServiceRuntime } from './service-runtime.js';

const NEVER_READ = 'r1';
let world: LoopWorld;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(() => world.stop());

const partition = (): number => world.partitionOf(NEVER_READ);
const haltedOf = (runtime: ServiceRuntime): string | null =>
  runtime
    .loops()
    .map((loop) => loop.health())
    .find(({ state }) => state === 'halted')?.problem ?? null;
const statedOf = async (): Promise<readonly string[]> => world.statements();

/** A service has read two statements, and stopped; three more came, and the wire forgot the first of them. */
async function forgetful(): Promise<void> {
  await world.start('a');
  for (const id of ['1', '2']) await world.state([{ ref: NEVER_READ, id }]);
  await world.until('both', async () => (await statedOf()).length === 2);
  world.kill('a');
  for (const id of ['3', '4', '5']) await world.state([{ ref: NEVER_READ, id }]);
  world.broker.trim(WIRE, partition(), 4);
}

const keys = testKeys({
  ledger: { role: 'service', names: ['things'] },
  crm: { role: 'source', names: ['crm'], tenants: ['acme'] },
});
/** The same broker where logs and wires are signed. */
const signedAs =
  (id: string) =>
  (actor: string): Kafka =>
    signedKafka(world.broker.forActor(actor), {
      signer: keys.signer(id),
      keyring: () => keys.keyring,
      ownerOf: (topic) => (topic === LOG ? 'things' : null),
      clock: { now: () => 1_700_000_000_000 },
    });
async function stateSigned(id: string): Promise<void> {
  const producer = await signedAs('crm')('crm').wireProducer();
  await producer.send(WIRE, [{ key: Buffer.from(NEVER_READ), value: world.encoded(NEVER_READ, id, 'crm') }]);
}

/** What an operator records: the loss, and a Progress behind it. */
async function acceptLoss(goesOnAt: number): Promise<void> {
  const log = new OwnLog({
    kafka: world.broker.forActor('operator'),
    codecs: world.codecs,
    topic: LOG,
    partition: partition(),
    partitionCount: PARTITIONS,
    logId: LOG_ID,
  });
  for await (const records of log.read(log.origin())) expect(records.length).toBeGreaterThan(0);
  const batch = log.seal(world.now);
  const cursor = { topic: WIRE, partition: partition(), offset: goesOnAt, seq: 0, hash: Buffer.alloc(32) };
  batch.add({ type: 'Progress', body: { cursors: [cursor], reacted_seq: 0 } }, 'progress');
  const loss = {
    topic: WIRE,
    partition: partition(),
    read_to: 2,
    goes_on_at: goesOnAt,
    by: 'mira',
    reason: 'retention',
  };
  batch.add({ type: 'WireLossAccepted', body: loss }, 'progress');
  expect(await log.append(batch)).toBe('accepted');
}

describe('what a topic holds, beside where its reader stands', () => {
  it.each([
    ['in the middle', 5, null],
    ['at its first record', 3, null],
    ['at its end', 9, null],
    ['below its first record', 2, { readTo: 2, goesOnAt: 3 }],
    ['behind its end, as after it was made anew', 10, { readTo: 10, goesOnAt: 3 }],
  ])('%s', (_, offset, lost) => {
    expect(judgeRange({ low: 3, high: 9 }, offset)).toEqual(lost);
  });
});

describe('a wire that lost records below the cursor', () => {
  it('halts the partition, and says so with the command that goes on', async () => {
    await forgetful();
    const runtime = await world.start('b');
    await world.until('halted', () => haltedOf(runtime) !== null);
    expect(haltedOf(runtime)).toMatch(/^CURSOR_OUT_OF_RANGE: /);
    const command = `recourse log accept-loss --log ${LOG} --partition ${String(partition())} --wire ${WIRE}/${String(partition())}`;
    expect(haltedOf(runtime)).toContain(command);
    expect(runtime.health().ready).toBe(false);
  });

  it('leaves the process live: whoever restarts it moves the halt on to the next, and the healthy partitions with it', async () => {
    await forgetful();
    const runtime = await world.start('b');
    await world.until('halted', () => haltedOf(runtime) !== null);
    expect(runtime.health()).toMatchObject({ live: true, ready: false });
    await runtime.stop();
    expect(runtime.health()).toMatchObject({ live: false });
  });

  it('halts it also where nothing was read before', async () => {
    for (const id of ['1', '2']) await world.state([{ ref: NEVER_READ, id }]);
    world.broker.trim(WIRE, partition(), 1);
    const runtime = await world.start('a');
    await world.until('halted', () => haltedOf(runtime) !== null);
    expect(haltedOf(runtime)).toContain('CURSOR_OUT_OF_RANGE');
  });

  it('halts it also while it runs', async () => {
    const delivery = Promise.withResolvers<undefined>();
    world.verdicts.push(({ kind, topic, partition: at }) =>
      kind === 'deliver' && topic === WIRE && at === partition()
        ? delivery.promise.then(() => 'proceed' as const)
        : undefined,
    );
    const runtime = await world.start('a');
    for (const id of ['1', '2', '3']) await world.state([{ ref: NEVER_READ, id }]);
    world.broker.trim(WIRE, partition(), 2);
    delivery.resolve(undefined);
    await world.until('halted', () => haltedOf(runtime) !== null);
    expect(haltedOf(runtime)).toContain('CURSOR_OUT_OF_RANGE');
  });

  it('stops no other partition', async () => {
    await forgetful();
    const runtime = await world.start('b');
    await world.until('halted', () => haltedOf(runtime) !== null);
    const other = ['r2', 'r3', 'r4', 'r5'].find((ref) => world.partitionOf(ref) !== partition()) ?? '';
    await world.state([{ ref: other, id: '9' }]);
    await world.until('the other', async () => (await statedOf()).includes(`${other}:9`));
  });

  it('is gone on with behind the loss once a person has recorded it', async () => {
    await forgetful();
    await acceptLoss(4);
    await world.start('b');
    await world.until('what is left', async () => (await statedOf()).includes('r1:5'));
    expect(await statedOf()).toEqual(['r1:1', 'r1:2', 'r1:5']);
  });
});

describe('a log that lost its front', () => {
  it.each([
    ['and its rows are there', false],
    ['and its rows are gone', true],
  ])('halts its owner with a code of its own, %s: nobody can accept that', async (_how, isWiped) => {
    await world.start('a');
    for (const id of ['1', '2']) await world.state([{ ref: NEVER_READ, id }]);
    await world.until('both', async () => (await statedOf()).length === 2);
    world.kill('a');
    const reader = await world.broker.forActor('operator').rawReader();
    world.broker.trim(LOG, partition(), (await reader.range(LOG, partition())).high);
    if (isWiped) world.database.wipe();
    const runtime = await world.start('b');
    await world.until('halted', () => haltedOf(runtime) !== null);
    expect(haltedOf(runtime)).toMatch(/^LOG_FRONT_CUT: .* begins at offset \d+: /);
  });
});

describe('a record batch that cannot be read', () => {
  const spoiled = Buffer.from('not a batch any more');

  it('is parked under its offset with its bytes, and what comes behind it is read', async () => {
    for (const id of ['1', '2', '3']) await world.state([{ ref: NEVER_READ, id }]);
    world.broker.spoil(WIRE, partition(), 1, { detail: 'its checksum does not fit', bytes: spoiled });
    await world.start('a');
    await world.until('the last', async () => (await statedOf()).includes('r1:3'));
    const parked = (await world.accepted(partition())).filter(({ type }) => type === 'RecordParked');
    expect(parked.map(({ body }) => [body['reason'], body['offset'], body['record_key'], body['detail']])).toEqual([
      ['BATCH_UNREADABLE', 1, `${WIRE}/${String(partition())}/1`, 'its checksum does not fit'],
    ]);
    expect(parked[0]?.body['value']).toEqual(spoiled);
  });

  it.each([
    ['open', false],
    ['signed', true],
  ])('of a log that is %s halts who reads it: nothing may be missing from a chain', async (_how, isSigned) => {
    if (isSigned) world.clusterOf = signedAs('ledger');
    await world.start('a');
    await (isSigned ? stateSigned('1') : world.state([{ ref: NEVER_READ, id: '1' }]));
    await world.until('it', async () => (await statedOf()).length === 1);
    world.kill('a');
    world.database.wipe();
    world.broker.spoil(LOG, partition(), 0, { detail: 'its checksum does not fit', bytes: spoiled });
    const runtime = await world.start('b');
    await world.until('halted', () => haltedOf(runtime) !== null);
    expect(haltedOf(runtime)).toMatch(/^RECORD_UNREADABLE: .*@0: its checksum does not fit/);
  });
});

describe('offsets that hold no record a reader may see', () => {
  const at = (offset: number, id: string): FetchedRecord => ({
    offset,
    key: Buffer.from(NEVER_READ),
    value: world.encoded(NEVER_READ, id),
    timestamp: 0,
    headers: {},
  });
  const batch = (fetchedOffset: number, records: readonly FetchedRecord[], nextOffset: number): FetchedBatch => ({
    topic: WIRE,
    partition: 0,
    fetchedOffset,
    nextOffset,
    records,
  });

  it('are passed with the cursor: what a transaction leaves behind holds nobody up, and nothing is taken twice', async () => {
    const queue = new InputQueue({
      inputs: countingCore().inputs,
      codecs: world.codecs,
      logId: LOG_ID,
      partitionCountOf: () => PARTITIONS,
      owns: () => true,
    });
    queue.reset([{ topic: WIRE, partition: 0 }], []);
    expect(queue.offer(batch(0, [at(0, '1'), at(2, '2')], 4))).toBe('taken');
    expect(queue.offer(batch(4, [at(4, '3')], 6))).toBe('taken');
    expect(queue.offer(batch(0, [at(0, '1'), at(2, '2')], 4))).toBe('dropped');
    await queue.prepare(100);
    expect(queue.peek(100).map(({ cursor, what }) => [cursor.offset, what.kind])).toEqual([
      [1, 'record'],
      [3, 'record'],
      [4, 'skip'],
      [5, 'record'],
      [6, 'skip'],
    ]);
    expect(queue.expected(WIRE, 0)).toBe(6);
  });
});
