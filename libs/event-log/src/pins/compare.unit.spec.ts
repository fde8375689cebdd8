// What a record sealed beside what was decided in the clear: it is taken only where it opens to the same.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { FRAME_SIZE, leafHash, schemaIdOf, sha256 } from '@recourse/chain';
import { createCodecs } from '@recourse/messages';
import { ownCodecs } from '@recourse/testing';
import { acceptedOf } from '../own-log.js';
import { MemoryKeyStore } from '../sealing/key-store.memory.js';
import { Vault } from '../sealing/vault.js';
import type { Doc } from '../service-core.js';
import { compareRecords } from './compare.js';
import type { Compared, Standing } from './compare.js';
import { NO_KEYS, OpenKeys } from './payload-keys.js';

const [LOG, TYPE] = ['recourse.assumptions', 'AssumptionStated'];
const codecs = ownCodecs();
const store = new MemoryKeyStore();
let standing: Standing;

function stated(content: string): Doc {
  const body = Buffer.from(content);
  const statement = { content_type: 'application/json', encoding: 'plain', key_id: null, body, sha256: sha256(body) };
  return {
    ...{ event_id: 'inv-1', tenant: 'acme', ref: 'order/1#open', run_id: null, source: 'warehouse', statement },
    ...{ kind: 'invalidated', source_kind: 'observation', stated_at: 1, verdict: 'invalidated', superseded: false },
    content_sha256: sha256(body),
  };
}

beforeAll(async () => {
  await codecs.prepareWriter(LOG);
  const vault = new Vault({ store, windowMs: 1_000, now: () => 0, random: (bytes) => Buffer.alloc(bytes, 7) });
  const batch = vault.batch(0);
  const body = batch.seal(stated('{"shipped":true}'), () => ({ tenant: 'acme', subject: 'order' }));
  await batch.settle();
  const whole = { ...body, seq: 1, prev_hash: Buffer.alloc(32), decided_at: 5 };
  const value = codecs.encode(LOG, TYPE, whole);
  const fingerprint = codecs.fingerprintOf(schemaIdOf(value) ?? -1) ?? Buffer.alloc(32);
  const hash = leafHash(fingerprint, Buffer.from('order/1#open'), value.subarray(FRAME_SIZE));
  standing = { record: acceptedOf(TYPE, whole, { seq: 1, hash }), key: 'order/1#open' };
});

async function compared(content: string, from: MemoryKeyStore | null): Promise<Compared> {
  const keys = from === null ? NO_KEYS : new OpenKeys(from);
  if (keys instanceof OpenKeys) await keys.loadFor(standing.record.body);
  return compareRecords([{ type: TYPE, body: stated(content) }], [standing], {
    ...{ codecs, log: LOG, keyed: new Set<string>(), keys },
  });
}

describe('what a record sealed, beside what was decided in the clear', () => {
  it('is taken and named where it opens to the same, and what repeats its hash follows', async () => {
    expect(await compared('{"shipped":true}', store)).toEqual({
      differs: null,
      taken: ['AssumptionStated /statement'],
      closed: null,
    });
  });

  it('is another where it opens to something else', async () => {
    const { differs, taken } = await compared('{"shipped":false}', store);
    expect([differs?.field, taken]).toEqual([expect.stringMatching(/^\/statement/), []]);
  });

  it('is not compared without its key, and not once that was destroyed', async () => {
    expect((await compared('{"shipped":true}', null)).closed).toBe('payload_sealed');
    expect((await compared('{"shipped":true}', new MemoryKeyStore())).closed).toBe('payload_sealed');
    await store.destroy({ by: 'ada', reason: 'asked for', tenant: 'acme' });
    expect((await compared('{"shipped":true}', store)).closed).toBe('payload_erased');
  });
});

describe('a record of before its schema grew', () => {
  const [OLDER, HASH] = [900, 32];
  const plain = { keyed: new Set<string>(), keys: NO_KEYS, log: LOG };
  const without = (whole: Doc): Doc =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => name !== 'outweighed_by'));

  /** Codecs that know the schema as it was, and as it is. */
  async function both(): Promise<{ readonly codecs: ReturnType<typeof createCodecs>; readonly before: Standing }> {
    const texts = new Map<number, string>();
    const grown = createCodecs({
      idOf: (subject, schema) => {
        const id = texts.size + 1;
        texts.set(id, schema);
        if (subject.endsWith(`.${TYPE}`)) texts.set(OLDER, shrunk(schema));
        return Promise.resolve(id);
      },
      schemaById: (id) => Promise.resolve(texts.get(id) ?? ''),
    });
    await grown.prepareWriter(LOG);
    await grown.load(OLDER);
    const whole = { ...without(stated('{}')), seq: 1, prev_hash: Buffer.alloc(32), decided_at: 5 };
    const value = grown.encode(LOG, TYPE, whole);
    const atEnd = value.length - HASH;
    const bytes = Buffer.concat([value.subarray(FRAME_SIZE, atEnd - 1), value.subarray(atEnd)]); // the octet of its null
    const hash = leafHash(grown.fingerprintOf(OLDER) ?? Buffer.alloc(32), Buffer.from('order/1#open'), bytes);
    return { codecs: grown, before: { record: acceptedOf(TYPE, whole, { seq: 1, hash }), key: 'order/1#open' } };
  }
  const shrunk = (schema: string): string => {
    const { fields, ...rest } = JSON.parse(schema) as { readonly fields: readonly { readonly name: string }[] };
    return JSON.stringify({ ...rest, fields: fields.filter(({ name }) => name !== 'outweighed_by') });
  };
  const against = async (body: Doc): Promise<Compared['differs']> => {
    const { codecs: grown, before } = await both();
    return compareRecords([{ type: TYPE, body }], [before], { ...plain, codecs: grown }).differs;
  };

  it('is equal where what it could say is, whatever the member says that it lacks', async () => {
    expect(await against(stated('{}'))).toBeNull();
    expect(await against({ ...stated('{}'), outweighed_by: 'bank' })).toBeNull();
  });

  it('is another where it says something else', async () => {
    expect(await against({ ...stated('{}'), source: 'bank' })).toEqual({ at: 0, field: '/source' });
  });
});
