import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import type {
  FetchedBatch,
  FetchedRecord,
  InputConsumer,
  InputHandlers,
  Kafka,
  OutgoingRecord,
} from '../kafka.port.js';
import { MemoryBroker } from '../memory/broker.memory.js';
import { testKeys } from '../testing/test-keys.js';
import { SHARED_MAX, SIGNATURE } from './signature.js';
import { sift } from './sifting.js';
import { signedKafka } from './signed.kafka.js';
import type { Signing } from './signing.js';

const LOG = 'recourse.things';
const WIRE = 'recourse.thing-events';
const NOW = Date.parse('2026-05-01T12:00:00Z');
const keys = testKeys({
  owner: { role: 'service', names: ['things'] },
  other: { role: 'service', names: ['others'] },
  payments: { role: 'worker', names: ['payments'], tenants: ['acme'] },
  gone: { role: 'worker', revoked_at: '2026-05-01T11:00:00Z' },
  early: { role: 'worker', valid_from: '2026-05-02T00:00:00Z' },
  late: { role: 'worker', valid_until: '2026-04-30T00:00:00Z' },
});
const stranger = testKeys({ owner: { role: 'service', names: ['things'] } });

class Scene {
  readonly broker = new MemoryBroker({});
  readonly clock = new ManualClock(NOW);
  readonly unvouched: number[] = [];

  static async with(...values: readonly (readonly string[])[]): Promise<Scene> {
    const scene = new Scene();
    const admin = await scene.raw('admin').admin();
    await admin.ensureTopics([LOG, WIRE].map((name) => ({ name, partitions: 1 })));
    for (const batch of values) await scene.append(scene.as('owner'), batch);
    return scene;
  }

  raw(actor = 'stranger'): Kafka {
    return this.broker.forActor(actor);
  }

  as(id: string, given: Partial<Signing> = {}): Kafka {
    return signedKafka(this.raw(id), {
      signer: keys.signer(id),
      keyring: () => keys.keyring,
      ownerOf: (topic) => (topic === LOG ? 'things' : null),
      clock: this.clock,
      onUnvouched: (_topic, _partition, records) => this.unvouched.push(...records.map(({ offset }) => offset)),
      ...given,
    });
  }

  async append(kafka: Kafka, values: readonly string[], headers?: OutgoingRecord['headers']): Promise<void> {
    const [first, ...others] = values.map(recordOf);
    if (first === undefined) return;
    const records = [headers === undefined ? first : { ...first, headers }, ...others];
    await (await kafka.logProducer()).send(LOG, 0, records);
  }

  /** Values from an offset on; null for what is void. */
  async read(from = 0, kafka = this.as('owner')): Promise<(string | null)[]> {
    const { records } = await (await kafka.rawReader()).read(LOG, 0, from);
    return records.filter(({ offset }) => offset >= from).map(({ value }) => value?.toString() ?? null);
  }

  /** The signature header of a record that lies in the log. */
  async headerAt(offset: number): Promise<string> {
    const { records } = await (await this.raw().rawReader()).read(LOG, 0, offset);
    return records[0]?.headers[SIGNATURE]?.toString() ?? '';
  }

  /** What the signature of the last record on the wire says. */
  async voucher(): Promise<unknown> {
    const { records } = await (await this.as('owner').rawReader()).read(WIRE, 0, 0);
    const voucher = records.at(-1)?.voucher;
    return voucher?.kind === 'refused' ? voucher.reason : voucher;
  }

  async send(kafka: Kafka, record = recordOf('hello')): Promise<void> {
    await (await kafka.wireProducer()).send(WIRE, [record]);
  }
}

const recordOf = (value: string): OutgoingRecord => ({ key: Buffer.from('key'), value: Buffer.from(value) });

describe('a log whose owner signs', () => {
  it('is read as it was written, batch by batch', async () => {
    const scene = await Scene.with(['a', 'b', 'c'], ['d']);
    expect(await scene.read()).toEqual(['a', 'b', 'c', 'd']);
    expect(scene.unvouched).toEqual([]);
  });

  it('is read from inside a batch', async () => {
    const scene = await Scene.with(['a', 'b', 'c'], ['d', 'e']);
    for (const from of [1, 2, 3, 4]) expect(await scene.read(from)).toEqual(['a', 'b', 'c', 'd', 'e'].slice(from));
  });

  it.each([
    ['nobody signed', async (scene: Scene) => scene.append(scene.raw(), ['forged'])],
    ['another service signed', async (scene: Scene) => scene.append(scene.as('other'), ['forged'])],
    [
      'a key of the same name signed',
      async (scene: Scene) => scene.append(scene.as('owner', { signer: stranger.signer('owner') }), ['forged']),
    ],
    [
      'carries the signature of another batch',
      async (scene: Scene) => scene.append(scene.raw(), ['forged'], { [SIGNATURE]: await scene.headerAt(0) }),
    ],
    [
      'claims to be longer than it is',
      async (scene: Scene) => scene.append(scene.raw(), ['forged'], { [SIGNATURE]: 'v1 owner 1 1900 AAAA' }),
    ],
    [
      'has a header that is none',
      async (scene: Scene) => scene.append(scene.raw(), ['forged'], { [SIGNATURE]: 'v1 owner' }),
    ],
  ])('makes void what %s, and goes on behind it', async (_what, forge) => {
    const scene = await Scene.with(['a', 'b']);
    await forge(scene);
    expect(await scene.read()).toEqual(['a', 'b', null]);
    await scene.append(scene.as('owner'), ['c', 'd']);
    expect(await scene.read()).toEqual(['a', 'b', null, 'c', 'd']);
    expect(await scene.read(4)).toEqual(['d']);
    expect(new Set(scene.unvouched)).toEqual(new Set([2]));
  });

  it('is read on behind a stranger’s record that fills a fetch and claims that a batch goes on', async () => {
    const scene = await Scene.with(['a']);
    await scene.append(scene.raw(), ['x'.repeat(1_200_000)], { [SIGNATURE]: 'v1 owner 1 3 AAAA' });
    await scene.append(scene.as('owner'), ['b']);
    await scene.append(scene.as('owner'), ['c', 'd']);
    const reader = await scene.as('owner').rawReader();
    const values: (string | null)[] = [];
    for (let [at, reads] = [0, 0]; at < 5 && reads < 10; reads += 1) {
      const { records, nextOffset } = await reader.read(LOG, 0, at);
      values.push(...records.map(({ value }) => value?.toString() ?? null));
      at = nextOffset;
    }
    expect(values).toEqual(['a', null, 'b', 'c', 'd']);
  });

  it('is read on where a stranger claims that a batch goes on and only the end of a transaction lies behind it', async () => {
    const scene = await Scene.with(['a']);
    const claims = `v1 owner ${String(NOW)} 2 ${Buffer.alloc(64).toString('base64')}`;
    const headers = { [SIGNATURE]: claims };
    scene.broker.transaction(LOG, 0, [{ ...recordOf('forged'), headers }]).abort();
    expect(await scene.read()).toEqual(['a', null]);
    await scene.append(scene.as('owner'), ['b']);
    expect(await scene.read()).toEqual(['a', null, 'b']);
  });

  it('makes void a batch of which one octet is another', async () => {
    const scene = await Scene.with(['a']);
    await scene.append(scene.raw(), ['b'], { [SIGNATURE]: await scene.headerAt(0) });
    expect(await scene.read()).toEqual(['a', null]);
  });

  it('stays true when its key is revoked, and takes nothing that is signed with it since', async () => {
    const scene = await Scene.with(['a']);
    const revoked = new Map(keys.keyring);
    const owner = revoked.get('owner');
    if (owner === undefined) throw new Error('no owner');
    revoked.set('owner', { ...owner, revokedAt: NOW + 1_000 });
    await scene.clock.advance(2_000);
    await scene.append(scene.as('owner'), ['b']);
    expect(await scene.read(0, scene.as('owner', { keyring: () => revoked }))).toEqual(['a', null]);
  });

  it('is handed over by a consumer, from inside a batch too, without what strangers wrote', async () => {
    const scene = await Scene.with(['a', 'b', 'c']);
    await scene.append(scene.raw(), ['forged'], { [SIGNATURE]: 'v1 owner 1 1900 AAAA' });
    await scene.append(scene.as('owner'), ['d']);
    const consumer = scene.as('owner').inputConsumer({ groupId: 'g', aligned: [LOG], broadcast: [] });
    const batches: FetchedBatch[] = [];
    await consumer.start({
      onAssigned: () => {
        consumer.seek(LOG, 0, 1);
        consumer.resume([{ topic: LOG, partition: 0 }]);
      },
      onBatch: (batch) => {
        batches.push(batch);
      },
      onTrouble: () => undefined,
      onCrash: (cause) => {
        throw cause;
      },
    });
    while (batches.flatMap(({ records }) => records).length < 4) await new Promise((wake) => setTimeout(wake, 5));
    await consumer.stop();
    expect(batches.flatMap(({ records }) => records).map(({ value }) => value?.toString() ?? null)).toEqual([
      'b',
      'c',
      null,
      'd',
    ]);
  });
});

describe('a record on a wire', () => {
  it('speaks for whom its key stands', async () => {
    const scene = await Scene.with();
    await scene.send(scene.as('payments'));
    expect(await scene.voucher()).toEqual({
      kind: 'vouched',
      speaker: { keyId: 'payments', roles: ['worker'], names: ['payments'], tenants: ['acme'] },
    });
  });

  it.each([
    ['gone', 'KEY_REVOKED'],
    ['early', 'KEY_NOT_VALID'],
    ['late', 'KEY_NOT_VALID'],
  ])('speaks for nobody under the key %s', async (id, reason) => {
    const scene = await Scene.with();
    await scene.send(scene.as(id));
    expect(await scene.voucher()).toBe(reason);
  });

  it('speaks for nobody without a signature, or with one of a key nobody knows', async () => {
    const scene = await Scene.with();
    await scene.send(scene.raw());
    expect(await scene.voucher()).toBe('SIGNATURE_MISSING');
    const unknown = { ...stranger.signer('owner'), keyId: 'unknown' };
    await scene.send(scene.as('owner', { signer: unknown }));
    expect(await scene.voucher()).toBe('KEY_UNKNOWN');
  });

  it('speaks for nobody when its bytes, its key or its topic are others than were signed', async () => {
    const scene = await Scene.with();
    await scene.send(scene.as('payments'));
    const [sent] = (await (await scene.raw().rawReader()).read(WIRE, 0, 0)).records;
    const headers = { [SIGNATURE]: sent?.headers[SIGNATURE]?.toString() ?? '' };
    await scene.send(scene.raw(), { ...recordOf('hallo'), headers });
    expect(await scene.voucher()).toBe('SIGNATURE_INVALID');
    await scene.send(scene.raw(), { ...recordOf('hello'), key: Buffer.from('other'), headers });
    expect(await scene.voucher()).toBe('SIGNATURE_INVALID');
  });

  it('is stale a week after it was signed, or before it could have been', async () => {
    const scene = await Scene.with();
    await scene.send(scene.as('payments'));
    await scene.clock.advance(8 * 86_400_000);
    expect(await scene.voucher()).toBe('SIGNATURE_STALE');
    await scene.send(scene.as('payments'));
    await scene.clock.advance(-600_000);
    expect(await scene.voucher()).toBe('SIGNATURE_STALE');
  });
});

describe('a flood of records that nobody signed, or one that comes over and over', () => {
  const FLOOD = 2_000;
  const header = (signature: Buffer): string => `v1 payments ${String(NOW)} 1 ${signature.toString('base64')}`;

  /** Records that were judged in each turn of the event loop, while the promise is waited for. */
  async function judgedPerTurn(judges: (keyring: Signing['keyring']) => Promise<unknown>): Promise<readonly number[]> {
    const turns = [0];
    const reading = judges(() => {
      turns.push((turns.pop() ?? 0) + 1);
      return keys.keyring;
    });
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        turns.push(0);
        await new Promise(setImmediate);
      }
    })();
    await reading;
    isOver = true;
    await watching;
    return turns;
  }

  async function flooded(): Promise<Scene> {
    const scene = await Scene.with();
    const flood = Array.from({ length: FLOOD }, (_, n) => ({
      ...recordOf(String(n)),
      headers: { [SIGNATURE]: header(Buffer.alloc(64, 7)) },
    }));
    await (await scene.raw().wireProducer()).send(WIRE, flood);
    return scene;
  }

  it('is judged some hundreds at a time, each by itself, by whoever reads', async () => {
    const scene = await flooded();
    let judged: readonly FetchedRecord[] = [];
    const turns = await judgedPerTurn(async (keyring) => {
      const reader = await scene.as('owner', { keyring }).rawReader();
      judged = (await reader.read(WIRE, 0, 0)).records;
    });
    expect(judged.map(({ voucher }) => (voucher?.kind === 'refused' ? voucher.reason : 'vouched'))).toEqual(
      Array.from({ length: FLOOD }, () => 'SIGNATURE_INVALID'),
    );
    expect([Math.max(...turns) <= 500, turns.filter((count) => count > 0).length]).toEqual([true, 4]);
  });

  it('is judged by a consumer before it wants more of its partition', async () => {
    const scene = await flooded();
    const { records } = await (await scene.raw().rawReader()).read(WIRE, 0, 0);
    const fetcher: { handlers?: InputHandlers } = {};
    const plain: InputConsumer = {
      name: 'plain',
      start: (handlers) => {
        fetcher.handlers = handlers;
        return Promise.resolve();
      },
      seek: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      stop: () => Promise.resolve(),
    };
    const consumer = signedKafka(
      { ...scene.raw(), inputConsumer: () => plain },
      { signer: null, keyring: () => keys.keyring, ownerOf: () => null, clock: scene.clock },
    ).inputConsumer({ groupId: 'g', aligned: [WIRE], broadcast: [] });
    const taken: number[] = [];
    await consumer.start({
      onAssigned: () => undefined,
      onBatch: (batch) => {
        taken.push(batch.records.length);
      },
      onTrouble: () => undefined,
      onCrash: (cause) => {
        throw cause;
      },
    });
    const handed = fetcher.handlers?.onBatch({
      topic: WIRE,
      partition: 0,
      fetchedOffset: 0,
      nextOffset: records.length,
      records,
    });
    expect(taken).toEqual([]);
    await handed;
    expect(taken).toEqual([FLOOD]);
  });
});

describe('a log in which a stranger writes more signatures than there is room for', () => {
  const claims = (count: number, every: number): OutgoingRecord[] =>
    Array.from({ length: count }, (_, n) => ({
      ...recordOf(String(n)),
      ...(n % every === 0 ? { headers: { [SIGNATURE]: 'v1 owner 1 2000 AAAA' } } : {}),
    }));

  it.each([
    ['on each record', 1, 0],
    ['on every tenth', 10, 0],
  ])('hashes none that says it goes on over another: %s', (_where, every, hashed) => {
    let records = 0;
    const given = claims(6_000, every).map((record, offset) => ({
      offset,
      timestamp: 0,
      key: record.key,
      value: record.value,
      headers: Object.fromEntries(
        Object.entries(record.headers ?? {}).map(([name, text]) => [name, Buffer.from(text)]),
      ),
    }));
    const { rest } = sift(given.slice(0, -2_000), (batch) => {
      records += batch.length;
      return false;
    });
    expect([records, rest.length <= every]).toEqual([hashed, true]);
  });

  it('is sifted a piece at a time, and its owner goes on behind it', async () => {
    const scene = await Scene.with(['a', 'b']);
    for (let n = 0; n < 300; n += 1) await scene.append(scene.raw(), ['x'], { [SIGNATURE]: 'v1 owner 1 1 AAAA' });
    await scene.append(scene.as('owner'), ['c', 'd']);
    let turns = 0;
    let isOver = false;
    const watching = (async () => {
      for (; !isOver; turns += 1) await new Promise(setImmediate);
    })();
    const values = await scene.read();
    isOver = true;
    await watching;
    expect(values).toEqual(['a', 'b', ...Array.from({ length: 300 }, () => null), 'c', 'd']);
    expect(turns).toBeGreaterThan(1);
  });

  it('asks nobody’s key for a hash that is not a service’s of that log', async () => {
    const scene = await Scene.with();
    await scene.append(scene.as('other'), ['forged']);
    let asked = 0;
    const keyring: Signing['keyring'] = () => {
      asked += 1;
      return keys.keyring;
    };
    expect([await scene.read(0, scene.as('owner', { keyring })), asked]).toEqual([[null], 1]);
  });
});

describe('records that go to a wire together', () => {
  const VALUES = ['a', 'b', 'c', 'd', 'e'];

  async function sentTogether(scene: Scene, values: readonly string[] = VALUES): Promise<readonly FetchedRecord[]> {
    await (await scene.as('payments').wireProducer()).send(WIRE, values.map(recordOf));
    return (await (await scene.raw().rawReader()).read(WIRE, 0, 0)).records;
  }

  const headerOf = (record: FetchedRecord | undefined): string => record?.headers[SIGNATURE]?.toString() ?? '';
  const signatureIn = (header: string): string => header.split(' ')[4] ?? '';

  it('share a signature, and each speaks by itself wherever it comes', async () => {
    const scene = await Scene.with();
    const sent = await sentTogether(scene);
    expect(new Set(sent.map((record) => signatureIn(headerOf(record)))).size).toBe(1);
    for (const record of [...sent].reverse()) {
      const alone = { ...recordOf(record.value?.toString() ?? ''), headers: { [SIGNATURE]: headerOf(record) } };
      await scene.send(scene.raw(), alone);
      expect(await scene.voucher()).toMatchObject({ kind: 'vouched', speaker: { keyId: 'payments' } });
    }
  });

  it('speak for their own key, however the records of several keys lie among each other', async () => {
    const sent: FetchedRecord[][] = [];
    for (const id of ['payments', 'late', 'gone']) {
      const other = await Scene.with();
      await (await other.as(id).wireProducer()).send(WIRE, VALUES.map(recordOf));
      sent.push([...(await (await other.raw().rawReader()).read(WIRE, 0, 0)).records]);
    }
    const scene = await Scene.with();
    const mixed = VALUES.flatMap((value, at) =>
      sent.map((of) => ({ ...recordOf(value), headers: { [SIGNATURE]: headerOf(of[at]) } })),
    );
    await (await scene.raw().wireProducer()).send(WIRE, mixed);
    const { records } = await (await scene.as('owner').rawReader()).read(WIRE, 0, 0);
    const said = records.map(({ voucher }) => (voucher?.kind === 'refused' ? voucher.reason : voucher?.speaker.keyId));
    expect(said).toEqual(VALUES.flatMap(() => ['payments', 'KEY_NOT_VALID', 'KEY_REVOKED']));
  });

  it('are signed again after so many', async () => {
    const sent = await sentTogether(
      await Scene.with(),
      Array.from({ length: SHARED_MAX + 2 }, (_, n) => String(n)),
    );
    expect(new Set(sent.map((record) => signatureIn(headerOf(record)))).size).toBe(2);
  });

  it.each<readonly [string, (header: readonly string[], others: readonly string[]) => readonly string[]]>([
    ['the path of another', (header, other) => [...header.slice(0, 6), other[6] ?? '']],
    ['the place of another', (header, other) => [...header.slice(0, 5), other[5] ?? '', header[6] ?? '']],
    ['another number of records', (header) => [...header.slice(0, 3), '4', ...header.slice(4)]],
    ['no path', (header) => [...header.slice(0, 6), '']],
    ['no place', (header) => header.slice(0, 5)],
    ['no place, as if it were alone', (header) => [...header.slice(0, 3), '1', header[4] ?? '']],
  ])('speak for nobody with %s', async (_what, forged) => {
    const scene = await Scene.with();
    const [first, second] = (await sentTogether(scene)).map((record) => headerOf(record).split(' '));
    await scene.voucher(); // whose signature is genuine is remembered by now
    const header = forged(first ?? [], second ?? []).join(' ');
    await scene.send(scene.raw(), { ...recordOf('a'), headers: { [SIGNATURE]: header } });
    expect(await scene.voucher()).toBe('SIGNATURE_INVALID');
  });

  it('speak for nobody with other bytes, and in a log they are void', async () => {
    const scene = await Scene.with();
    const [first] = await sentTogether(scene);
    await scene.send(scene.raw(), { ...recordOf('x'), headers: { [SIGNATURE]: headerOf(first) } });
    expect(await scene.voucher()).toBe('SIGNATURE_INVALID');
    await scene.append(scene.raw(), ['a'], { [SIGNATURE]: headerOf(first) });
    expect(await scene.read()).toEqual([null]);
  });

  it('speak no more once their key is revoked, though their signature was checked before', async () => {
    const scene = await Scene.with();
    const ring = new Map(keys.keyring);
    await sentTogether(scene);
    const reader = await scene.as('owner', { keyring: () => ring }).rawReader();
    const read = async (): Promise<readonly unknown[]> =>
      (await reader.read(WIRE, 0, 0)).records.map(({ voucher }) => voucher?.kind);
    expect(await read()).toEqual(VALUES.map(() => 'vouched'));
    const key = ring.get('payments');
    if (key === undefined) throw new Error('no key');
    ring.set('payments', { ...key, revokedAt: NOW });
    expect(await read()).toEqual(VALUES.map(() => 'refused'));
    const other = stranger.keyring.get('owner');
    if (other === undefined) throw new Error('no key');
    ring.set('payments', { ...key, publicKey: other.publicKey });
    expect(await read()).toEqual(VALUES.map(() => 'refused'));
  });
});
