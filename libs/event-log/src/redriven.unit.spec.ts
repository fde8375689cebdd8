// A parked record that a person takes again is decided as if it came now, whatever it came from (L15).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { countingCore, LOG, LOG_ID, LoopWorld, PARTITIONS } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import { MemoryKeyStore } from './sealing/key-store.memory.js';
import { Vault } from './sealing/vault.js';
import type { AcceptedRecord, Doc, RecordInput, ServiceCore } from './service-core.js';

const COMMANDS = 'recourse.ledger-commands';
const THEIRS = 'recourse.recoveries';
const SECRET = 'planted';

let world: LoopWorld;
let vault: Vault;
let keys: MemoryKeyStore;
/** Inputs of their log as deciders saw them, and how far the view of it was read. */
let heard: { readonly input: RecordInput; readonly said: string; readonly view: number }[] = [];
/** Ids that deciders throw at. */
let sick: readonly string[] = [];
/** Records that one input leads to. */
let flood = 1;
/** What they say. */
let telling = SECRET;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
  let drawn = 0;
  const random = (size: number): Buffer => Buffer.alloc(size, (drawn += 1));
  keys = new MemoryKeyStore();
  vault = new Vault({ store: keys, windowMs: 86_400_000, now: () => 0, random });
  [heard, sick, flood, telling] = [[], [], 1, SECRET];
});
afterEach(() => world.stop());

const partition = (): number => world.partitionOf('r1');

/** Hears a wire and somebody's log, and notes what it was given. */
function hearing(over: Partial<ServiceCore> = {}): ServiceCore {
  const sound = countingCore();
  return {
    ...sound,
    inputs: [...sound.inputs, { topic: THEIRS, source: 'log', mode: 'aligned', types: ['IncidentClosed'] }],
    views: [{ name: 'theirs', topic: THEIRS, fold: ({ seq }) => [['last', { seq }]] }],
    decide: (context, input) => {
      if (input.source === 'timer') return { records: [] };
      const { incident_id, summary, event_id = incident_id } = input.body;
      if (sick.includes(String(event_id))) throw new Error('broken');
      const told = { ...input, body: { event_id, ref: input.key, source: 'outside' } };
      const { records } = sound.decide(context, told);
      if (input.source === 'wire') return { records: Array.from({ length: flood }, () => records).flat() };
      const said = String((summary as Doc)['body']);
      heard.push({ input, said, view: context.views.view('theirs').position(input.partition) });
      return { records: Array.from({ length: flood }, () => records).flat() };
    },
    ...over,
  };
}

/** Appends accepted records to the log of somebody else; answers them. */
async function theySay(...ids: readonly string[]): Promise<readonly AcceptedRecord[]> {
  const log = new OwnLog({
    kafka: world.broker.forActor('them'),
    codecs: world.codecs,
    topic: THEIRS,
    partition: partition(),
    partitionCount: PARTITIONS,
    logId: LOG_ID,
  });
  for await (const read of log.read(log.origin())) expect(read).toBeDefined();
  const [sealer, sealing] = [log.seal(world.now), vault.batch(0)];
  for (const incident_id of ids) {
    const named = { step_id: 's', recovery_id: 'y', tenant: 'acme', run_id: 'r1', mutation_id: 'm', incident_id };
    const body = { content_type: 'text/plain', encoding: 'plain', key_id: null, body: Buffer.from(telling) };
    const summary = { ...body, sha256: Buffer.alloc(32) };
    const closed = { ...named, summary, by: 'human:a', reason: 'done', command_id: `c${incident_id}` };
    sealer.add({ type: 'IncidentClosed', body: sealing.seal(closed, () => ({ tenant: 'acme', subject: 'r1' })) }, 'r1');
  }
  await sealing.settle();
  await log.append(sealer);
  await log.close();
  return sealer.accepted;
}

const ofType = async (type: string): Promise<readonly AcceptedRecord['body'][]> =>
  (await world.accepted(partition())).filter((found) => found.type === type).map(({ body }) => body);
const parked = async (): Promise<readonly string[]> =>
  (await ofType('RecordParked')).map(({ parked_id }) => String(parked_id));
const answers = async (): Promise<readonly unknown[]> =>
  (await ofType('CommandAnswered')).map(({ code, answer }) => code ?? (JSON.parse(String(answer)) as Doc)['redriven']);

async function command(type: 'RedriveParked' | 'DiscardParked', parkedId: string): Promise<void> {
  const before = (await answers()).length;
  const envelope = {
    command_id: `c${String(before)}`,
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
  const body = { envelope, log: LOG, parked_id: parkedId, reason: 'mended' };
  const value = world.codecs.encode(COMMANDS, type, body);
  // As the edge names it: what is said of one record has one key.
  const key = [...Array(100).keys()]
    .map((at) => `${parkedId}#${String(at)}`)
    .find((one) => world.partitionOf(one) === partition());
  await (await world.broker.forActor('edge').wireProducer()).send(COMMANDS, [{ key: Buffer.from(key ?? ''), value }]);
  await world.until('answered', async () => (await answers()).length > before);
}

describe('a record of a log that was parked', () => {
  /** Both are parked, the second behind the first; nothing is wrong with them any more. */
  async function parkTwo(): Promise<{ readonly ids: readonly string[]; readonly told: readonly AcceptedRecord[] }> {
    sick = ['1'];
    await world.start('a', hearing(), vault);
    const told = await theySay('1', '2');
    await world.until('parked', async () => (await parked()).length === 2);
    expect((await ofType('RecordParked')).map(({ reason }) => reason)).toEqual(['DECIDER_FAILED', 'BEHIND']);
    [sick, heard] = [[], []];
    return { ids: await parked(), told };
  }

  /** As whoever hears it for the first time is given it. */
  const asItCame = (told: AcceptedRecord | undefined, offset: number): object => ({
    input: {
      source: 'log',
      topic: THEIRS,
      partition: partition(),
      offset,
      key: 'r1',
      seq: told?.seq,
      hash: told?.hash,
    },
    said: telling,
  });

  it('is redriven as it came: from its place in that log, its payloads opened', async () => {
    const { ids, told } = await parkTwo();
    await command('RedriveParked', ids[0] ?? '');
    expect(await answers()).toEqual([2]);
    expect(told.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(heard).toMatchObject(told.map(asItCame));
    await theySay('3');
    await world.until('the next', () => heard.length === 3);
    const [first, , last] = heard.map(({ input }) => Object.keys(input).sort());
    expect(first).toEqual(last);
  });

  it('waits behind one that is discarded, and is taken as it came then', async () => {
    const { ids, told } = await parkTwo();
    await command('DiscardParked', ids[0] ?? '');
    expect(await answers()).toEqual([1]);
    expect(heard).toMatchObject([asItCame(told[1], 1)]);
  });

  it('is decided once the views of its log contain it', async () => {
    const { ids } = await parkTwo();
    await command('RedriveParked', ids[0] ?? '');
    expect(heard.map(({ input, view }) => [input.seq, view >= input.seq])).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  it('is redriven as it came by an owner that was started since', async () => {
    const { ids, told } = await parkTwo();
    world.kill('a');
    await world.start('b', hearing(), vault);
    await command('RedriveParked', ids[0] ?? '');
    expect(heard).toMatchObject(told.map(asItCame));
  });

  describe('and of which only the first bytes were kept', () => {
    beforeEach(() => {
      telling = SECRET.repeat(40_000);
    });

    it('is read again where it lies in its log, and redriven as it came', async () => {
      const { ids, told } = await parkTwo();
      world.kill('a');
      await world.start('b', hearing(), vault);
      await command('RedriveParked', ids[0] ?? '');
      expect(await answers()).toEqual([2]);
      const came = heard.slice(-2).map(({ input, said }) => [input.seq, input.hash, said === telling]);
      expect(came).toEqual(told.map(({ seq, hash }) => [seq, hash, true]));
    });

    it('is read once the broker answers again', async () => {
      const { ids } = await parkTwo();
      let refused = 0;
      world.verdicts.push(({ kind, actor, topic }) => {
        if (kind !== 'read' || actor !== 'a' || topic !== THEIRS || refused === 3) return undefined;
        refused += 1;
        return 'fail';
      });
      await command('RedriveParked', ids[0] ?? '');
      expect(await answers()).toEqual([2]);
    });

    it.each([
      ['nothing', () => world.broker.trim(THEIRS, partition(), 2)],
      ['something else', () => exchangeFirst()],
      ['what cannot be read', () => world.broker.spoil(THEIRS, partition(), 0, { detail: '', bytes: Buffer.alloc(1) })],
    ])('stays parked where its log holds %s in its place, and can be discarded', async (_what, harm) => {
      const { ids } = await parkTwo();
      harm();
      await command('RedriveParked', ids[0] ?? '');
      expect(await answers()).toEqual(['PARKED_GONE']);
      expect(heard).toEqual([]);
      await command('DiscardParked', ids[0] ?? '');
      expect((await ofType('ParkedResolved'))[0]).toMatchObject({ parked_id: ids[0], resolution: 'discarded' });
    });

    /** The second in place of the first. */
    function exchangeFirst(): void {
      const log = world.broker.find(THEIRS, partition());
      const { key, value } = log?.all()[1] ?? {};
      if (log === null || !key || !value) throw new Error('nothing was told');
      log.cutTail(0);
      for (let at = 0; at < 2; at += 1) world.broker.append(log, [{ key, value }]);
    }
  });
});

describe('a redrive that leads to more than a batch holds', () => {
  /** Parked for throwing, those of `ids` behind the first. */
  async function park(...ids: readonly string[]): Promise<readonly string[]> {
    sick = ids;
    await world.start('a', hearing());
    await world.state(ids.map((id) => ({ ref: 'r1', id })));
    await world.until('parked', async () => (await parked()).length === ids.length);
    sick = [];
    return parked();
  }

  it('is refused and not parked itself, so that the record can be discarded', async () => {
    const [first = ''] = await park('1');
    flood = 1_200;
    await command('RedriveParked', first);
    await command('DiscardParked', first);
    expect(await answers()).toEqual(['DECISION_TOO_LARGE', 0]);
    expect(await parked()).toEqual([first]);
  });

  it('takes those behind the first as far as they fit, and leaves the others where they stand', async () => {
    const [first = '', , third = ''] = await park('1', '2', '3');
    flood = 400;
    await command('RedriveParked', first);
    expect(await answers()).toEqual([2]);
    expect(await parked()).toHaveLength(3);
    await command('RedriveParked', third);
    expect(await answers()).toEqual([2, 1]);
  });
});

describe('a record of a wire that is longer than wires take', () => {
  it('stays parked, and can be discarded', async () => {
    await world.start('a', hearing());
    const statement = { content_type: 'text/plain', encoding: 'plain', key_id: null, sha256: Buffer.alloc(32) };
    await world.state([{ ref: 'r1', id: '1', statement: { ...statement, body: Buffer.alloc(300_000, 'x') } }]);
    await world.until('parked', async () => (await parked()).length === 1);
    for (const type of ['RedriveParked', 'DiscardParked'] as const) await command(type, (await parked())[0] ?? '');
    expect(await answers()).toEqual(['PARKED_TRUNCATED', 0]);
  });
});

describe('a parked record of somebody who is erased', () => {
  it('is erased with them: nobody reads it, and no redrive brings it back', async () => {
    sick = ['1'];
    await world.start('a', hearing(), vault);
    await world.state([{ ref: 'r1#open', id: '1', partition: partition() }]);
    await world.until('parked', async () => (await parked()).length === 1);
    sick = [];
    expect(await keys.destroy({ tenant: 'acme', subject: 'r1', by: 'root', reason: 'asked to be forgotten' })).toBe(1);
    vault.forget();
    await command('RedriveParked', (await parked())[0] ?? '');
    expect(await answers()).toEqual(['PARKED_ERASED']);
    expect(await world.statements()).toEqual([]);
  });
});

describe('a record that nobody could read', () => {
  it("passes without a word when it is redriven and is another service's to answer", async () => {
    const [wire, ...others] = countingCore().inputs;
    if (wire === undefined) throw new Error('no wire');
    const concerns = ({ body }: RecordInput): boolean => body['event_id'] !== 'theirs';
    await world.start('a', hearing({ inputs: [{ ...wire, concerns }, ...others], views: [] }));
    const registry = world.registry.forActor('late');
    const value = world.encoded('r1', 'theirs');
    const schema = await registry.schemaById(value.readUInt32BE(1));
    value.writeUInt32BE((await registry.idOf('other', '"string"', { register: true })) + 1, 1);
    await world.raw(partition(), 'r1', value);
    await world.until('parked', async () => (await parked()).length === 1);
    await registry.idOf('later', schema.replace('"name"', '"note":"later","name"'), { register: true });
    await command('RedriveParked', (await parked())[0] ?? '');
    expect(await answers()).toEqual([1]);
    expect(await world.statements()).toEqual([]);
  });
});
