import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Doc, SealScope } from '../service-core.js';
import { MemoryKeyStore } from './key-store.memory.js';
import { SECRET_BYTES, openBytes, sealBytes } from './keys.js';
import { Lacking } from '../lacks.js';
import { mapPayloads } from './payload-walk.js';
import { openBytesLoaded, openLoaded, sealedUnder, showLoaded } from './sealing.js';
import type { PayloadDoc } from './sealing.js';
import { BELIEVED_MS, Vault } from './vault.js';

const DAY_MS = 86_400_000;
const WHO = { by: 'root', reason: 'asked to be forgotten' };
const CUSTOMER = { tenant: 'acme', subject: 'customer/7' };
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
const plain = (text: string): PayloadDoc => ({
  content_type: 'application/json',
  encoding: 'plain',
  key_id: null,
  body: Buffer.from(text),
  sha256: sha256(Buffer.from(text)),
});

let store: MemoryKeyStore;
let now: number;
let drawn: number;

beforeEach(() => {
  store = new MemoryKeyStore();
  now = 0;
  drawn = 0;
});

function vault(believedMs = BELIEVED_MS): Vault {
  return new Vault({
    store,
    windowMs: DAY_MS,
    believedMs,
    now: () => now,
    random: (bytes) => {
      drawn += 1;
      return Buffer.alloc(bytes, drawn);
    },
  });
}

/** Seals a doc and makes its key durable, as the loop does with a batch. */
async function sealed(
  by: Vault,
  doc: Doc,
  scope: SealScope | ((member: Doc | null) => SealScope) = CUSTOMER,
  at = 0,
): Promise<Doc> {
  for (;;) {
    const batch = by.batch(at);
    const result = batch.seal(doc, typeof scope === 'function' ? scope : () => scope);
    if (await batch.settle()) return result;
  }
}

describe('sealed bytes', () => {
  const secret = Buffer.alloc(SECRET_BYTES, 7);

  it('open under their key and context, and under no other', () => {
    const bytes = sealBytes(secret, 'text/plain', Buffer.from('rahul@example.test'));
    expect(openBytes(secret, 'text/plain', bytes)?.toString()).toBe('rahul@example.test');
    expect(openBytes(Buffer.alloc(SECRET_BYTES, 8), 'text/plain', bytes)).toBeNull();
    expect(openBytes(secret, 'application/json', bytes)).toBeNull();
  });

  it('open to nothing once one bit was changed, wherever it stands', () => {
    const bytes = sealBytes(secret, 'text/plain', Buffer.from('secret'));
    for (let at = 0; at < bytes.length; at += 1) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(openBytes(secret, 'text/plain', altered)).toBeNull();
    }
  });

  it('are the same for the same content, and share no nonce with other content', () => {
    const [one, again, other] = ['a', 'a', 'b'].map((text) => sealBytes(secret, 'text/plain', Buffer.from(text)));
    expect(again).toEqual(one);
    expect(other?.subarray(1, 13)).not.toEqual(one?.subarray(1, 13));
  });

  it('refuse a secret of another length', () => {
    expect(() => sealBytes(Buffer.alloc(32), 'text/plain', Buffer.of(1))).toThrow(RangeError);
  });
});

describe('a payload on its way into a log', () => {
  it('is sealed wherever it stands, and its hash is that of the sealed bytes', async () => {
    const args = plain('{"email":"rahul@example.test"}');
    const doc = await sealed(vault(), {
      run_id: 'r',
      execution: { args, result: null },
      observations: [{ observed: args }],
    });
    const [payload] = [(doc['execution'] as { args: PayloadDoc }).args];
    expect(JSON.stringify(doc)).not.toContain(args.body.toString('hex'));
    expect(Buffer.from(JSON.stringify(doc)).includes('rahul')).toBe(false);
    expect(payload).toMatchObject({
      encoding: 'sealed',
      content_type: 'application/json',
      sha256: sha256(payload.body),
    });
    expect(doc).toMatchObject({ run_id: 'r', observations: [{ observed: payload }] });
  });

  it('takes along a field that repeats its hash: the hash of something short tells what it is', async () => {
    const prior = plain('4111111111111111');
    const doc = await sealed(vault(), {
      execution: { prior_value: prior },
      ref: { prior_value_hash: prior.sha256, other: Buffer.alloc(32, 1) },
    });
    const { execution, ref } = doc as {
      execution: { prior_value: PayloadDoc };
      ref: { prior_value_hash: Buffer; other: Buffer };
    };
    expect(ref.prior_value_hash).toEqual(execution.prior_value.sha256);
    expect(ref.prior_value_hash).not.toEqual(prior.sha256);
    expect(ref.other).toEqual(Buffer.alloc(32, 1));
  });

  it('leaves the hash of a salted part of a unit as it was told: what is named by it stays named by it', async () => {
    const state = plain('a salt and 4111111111111111');
    const part = { ...CUSTOMER, unit: 'cp_1' };
    const doc = await sealed(vault(), { state: { body: state, chunk_sha256s: [state.sha256] } }, part);
    const { state: kept } = doc as { state: { body: PayloadDoc; chunk_sha256s: readonly Buffer[] } };
    expect([kept.body.encoding, kept.chunk_sha256s]).toEqual(['sealed', [state.sha256]]);
  });

  it('has a key of its subject and its window', async () => {
    const by = vault();
    const keys = await Promise.all(
      [
        [CUSTOMER, 0],
        [CUSTOMER, DAY_MS - 1],
        [CUSTOMER, DAY_MS],
        [{ ...CUSTOMER, subject: 'customer/8' }, 0],
        [{ ...CUSTOMER, tenant: 'globex' }, 0],
      ].map(
        async ([scope, at]) =>
          sealedUnder(await sealed(by, { args: plain('1') }, scope as typeof CUSTOMER, at as number))[0],
      ),
    );
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(4);
  });

  it('has a key of its own where it is part of a unit: destroying that takes nothing else of the subject', async () => {
    const by = vault();
    const [own, other, rest] = await Promise.all(
      [{ ...CUSTOMER, unit: 'cp_1' }, { ...CUSTOMER, unit: 'cp_2' }, CUSTOMER].map((scope) =>
        sealed(by, { state: plain('1') }, scope),
      ),
    );
    expect(await store.destroyUnits([{ tenant: 'acme', unit: 'cp_1' }], WHO.by, WHO.reason)).toBe(1);
    by.forget();
    expect(await Promise.all([own, other, rest].map((doc) => openLoaded(by, doc ?? {})))).toEqual([
      own,
      { state: plain('1') },
      { state: plain('1') },
    ]);
  });

  it('keeps the id of its key where it is part of no unit', async () => {
    // As it was before there were units, and behind it which key it is.
    expect(sealedUnder(await sealed(vault(), { args: plain('1') }))).toEqual([
      expect.stringMatching(/^key_1435b9b2cd11c843da1cb10e627c996e\.1\.[0-9a-f]{16}$/),
    ]);
  });

  it('is decided upon anew when another process made the key first', async () => {
    const [left, right] = [vault(), vault()];
    const batches = [left.batch(0), right.batch(0)];
    for (const batch of batches) batch.seal({ args: plain('1') }, () => CUSTOMER);
    expect(await batches[0]?.settle()).toBe(true);
    expect(await batches[1]?.settle()).toBe(false);
    expect(await sealed(right, { args: plain('1') })).toEqual(await sealed(left, { args: plain('1') }));
  });

  it('is sealed without a question under a key that was told of a moment ago, and asks again when that is old', async () => {
    const fresh = vault();
    await openLoaded(fresh, await sealed(vault(), { args: plain('1') }));
    const asked = jest.spyOn(store, 'ensure');
    await sealed(fresh, { args: plain('2') });
    expect(asked).not.toHaveBeenCalled();
    now += BELIEVED_MS + 1;
    await sealed(fresh, { args: plain('3') });
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('is sealed under a new key once the old one was destroyed', async () => {
    const by = vault();
    const before = await sealed(by, { args: plain('1') });
    await store.destroy({ ...WHO, tenant: 'acme' });
    now += BELIEVED_MS + 1;
    const after = await sealed(by, { args: plain('1') });
    expect(sealedUnder(after)).not.toEqual(sealedUnder(before));
    expect(await openLoaded(vault(), after)).toMatchObject({ args: { encoding: 'plain' } });
  });

  it('leaves nothing open under the old key once the store says that another stands, belief or not', async () => {
    const [by, fresh] = [vault(), vault()];
    const before = await sealed(by, { args: plain('1') });
    await sealed(fresh, { args: plain('0') });
    now += BELIEVED_MS + 1;
    // Somebody read under the key a moment before it was destroyed.
    await openLoaded(fresh, before);
    await store.destroy({ ...WHO, tenant: 'acme' });
    now += 1;
    await sealed(fresh, { args: plain('2') });
    expect(() => fresh.open(before)).toThrow(Lacking);
    expect(await openLoaded(fresh, before)).toBe(before);
  });

  it('is believed from when the store was asked, however late it answers', async () => {
    const doc = await sealed(vault(), { args: plain('1') });
    const late = vault();
    jest.spyOn(store, 'find').mockImplementationOnce(async (ids) => {
      const found = await MemoryKeyStore.prototype.find.call(store, ids);
      now += BELIEVED_MS + 1;
      return found;
    });
    await late.load(sealedUnder(doc));
    expect(late.open(doc)).toMatchObject({ args: { encoding: 'plain' } });
    now += BELIEVED_MS / 2 + 1;
    expect(() => late.open(doc)).toThrow(Lacking);
  });

  it('is derived from nothing that was destroyed: what was made of it is decided anew without it', async () => {
    await sealed(vault(), { args: plain('0') });
    await store.destroy({ ...WHO, tenant: 'acme' });
    const second = await sealed(vault(), { args: plain('1') });
    const fresh = vault();
    await openLoaded(fresh, second);
    await store.destroy({ ...WHO, tenant: 'acme' });
    const batch = fresh.batch(0);
    batch.seal({ bound: plain('made of 1') }, () => CUSTOMER);
    expect(await batch.settle()).toBe(false);
    expect(await openLoaded(fresh, second)).toBe(second);
  });

  it('stays sealed as it is when it comes sealed', async () => {
    const by = vault();
    const doc = await sealed(by, { args: plain('1') });
    expect(await sealed(by, doc, { tenant: 'acme', subject: 'other' })).toBe(doc);
  });

  it('opens for nobody under the key of another tenant, however it is asked for', async () => {
    const { args } = await sealed(vault(), { tenant: 'acme', args: plain('1') });
    const by = vault();
    for (const doc of [
      { tenant: 'globex', args },
      { tenant: 'globex', step: [{ args: { ...(args as PayloadDoc) } }] },
    ]) {
      expect(await openLoaded(by, doc)).toBe(doc);
      expect(await showLoaded(by, [doc])).toEqual([doc]);
      expect(mapPayloads(by.openOnUse(doc), ({ body }) => plain(body.toString('hex')))).toEqual(
        mapPayloads(doc, ({ body }) => plain(body.toString('hex'))),
      );
    }
    expect(await openLoaded(by, { tenant: 'acme', args })).toEqual({ tenant: 'acme', args: plain('1') });
    expect(await openLoaded(by, { execution: { tenant: 'globex' }, args })).toMatchObject({ args });
  });

  it('opens under a key of no tenant, and where nothing says whose it is', async () => {
    const { args } = await sealed(vault(), { args: plain('1') }, { tenant: '', subject: 'log/key' });
    expect(await openLoaded(vault(), { tenant: 'globex', args })).toMatchObject({ args: plain('1') });
    const { args: theirs } = await sealed(vault(), { args: plain('1') });
    expect(await openLoaded(vault(), { args: theirs })).toEqual({ args: plain('1') });
  });
});

describe('a record about several members', () => {
  const bySubject = (member: Doc | null): SealScope => ({
    tenant: 'acme',
    subject: typeof member?.['subject'] === 'string' ? member['subject'] : 'run/1',
  });
  const members = (...texts: readonly string[]): readonly Doc[] =>
    texts.map((text, index) => ({ subject: `customer/${index + 1}`, call: { args: plain(text) } }));

  it('leaves each of them readable when the key of another is destroyed', async () => {
    const by = vault();
    const doc = await sealed(by, { note: plain('0'), members: members('1', '2') }, bySubject);
    expect(new Set(sealedUnder(doc)).size).toBe(3);
    await store.destroy({ ...WHO, tenant: 'acme', subject: 'customer/1' });
    by.forget();
    const [first, second] = doc['members'] as readonly Doc[];
    expect(await openLoaded(by, doc)).toEqual({ note: plain('0'), members: [first, members('1', '2')[1]] });
    expect(await openLoaded(by, second ?? {})).toEqual(members('1', '2')[1]);
  });

  it('has in each the hash of its own payload, also where two have the same content', async () => {
    const same = plain('4111');
    const doc = await sealed(
      vault(),
      {
        of_first: sha256(Buffer.from('1')),
        members: [
          ...members('1').map((member) => ({ ...member, prior: same, prior_hash: same.sha256 })),
          { subject: 'customer/2', prior: same, prior_hash: same.sha256, of_first: sha256(Buffer.from('1')) },
        ],
      },
      bySubject,
    );
    const [first, second] = doc['members'] as readonly Readonly<Record<string, PayloadDoc>>[];
    const ofFirst = (first?.['call'] as unknown as { args: PayloadDoc }).args.sha256;
    expect([first?.['prior_hash'], second?.['prior_hash']]).toEqual([
      first?.['prior']?.sha256,
      second?.['prior']?.sha256,
    ]);
    expect(first?.['prior_hash']).not.toEqual(second?.['prior_hash']);
    expect([doc['of_first'], second?.['of_first']]).toEqual([ofFirst, ofFirst]);
  });

  it('goes back to what it was, member by member', async () => {
    const by = vault();
    const doc = await sealed(by, { members: members('1', '2') }, bySubject);
    const opened = await openLoaded(by, doc);
    expect(await sealed(by, opened, { tenant: 'acme', subject: 'other' }, 40 * DAY_MS)).toEqual(doc);
  });

  it('asks for the scope of a member once, and of no part that has nothing to seal', async () => {
    const asked: unknown[] = [];
    const two = { subject: 'customer/1', args: plain('1'), result: plain('2') };
    await sealed(vault(), { id: 'r', members: [two, { subject: 'customer/2' }] }, (member) => {
      asked.push(member);
      return bySubject(member);
    });
    expect(asked).toEqual([two]);
  });
});

describe('a sealed payload', () => {
  it('is opened by whoever has the key', async () => {
    const doc = await sealed(vault(), { execution: { args: plain('{"amount":5}') } });
    expect(await openLoaded(vault(), doc)).toEqual({ execution: { args: plain('{"amount":5}') } });
  });

  it('asks for its key first', async () => {
    const doc = await sealed(vault(), { args: plain('1') });
    expect(() => vault().open(doc)).toThrow(Lacking);
  });

  it('goes back to the very bytes it was, in whatever window and of whatever subject', async () => {
    const by = vault();
    const doc = await sealed(by, { args: plain('1') });
    const opened = await openLoaded(by, doc);
    expect(await sealed(by, { call: opened }, { tenant: 'acme', subject: 'other' }, 40 * DAY_MS)).toEqual({
      call: doc,
    });
  });

  it("takes nobody's word for its key: what says it is plain under a key is sealed under that of its subject", async () => {
    const theirs =
      sealedUnder(await sealed(vault(), { args: plain('1') }, { tenant: 'globex', subject: 'them' }))[0] ?? '';
    const doc = await sealed(vault(), { args: { ...plain('1'), key_id: theirs } });
    expect(sealedUnder(doc)).not.toContain(theirs);
  });

  it('stays sealed once its key was destroyed, within a minute, also where it was open', async () => {
    const by = vault();
    const doc = await sealed(by, { args: plain('1') });
    await openLoaded(by, doc);
    await store.destroy({ ...WHO, tenant: 'acme', subject: 'customer/7' });
    now += BELIEVED_MS + 1;
    expect(() => by.open(doc)).toThrow(Lacking);
    expect(await openLoaded(by, doc)).toBe(doc);
  });

  it('is not shown where it is asked for anew once its key was destroyed, nor opened here after that', async () => {
    const by = vault();
    const doc = await sealed(by, { args: plain('1') });
    await openLoaded(by, doc);
    await store.destroy({ ...WHO, tenant: 'acme', subject: 'customer/7' });
    expect(await showLoaded(by, [doc])).toMatchObject([{ args: { content: Buffer.from('1') } }]);
    expect(await showLoaded(by, [doc], true)).toEqual([doc]);
    expect([await showLoaded(by, [doc]), await openLoaded(by, doc)]).toEqual([[doc], doc]);
  });

  it('is shown to people with its content beside the bytes and hash of the log', async () => {
    const by = vault();
    const doc = await sealed(by, { args: plain('{"a":1}') });
    expect(await showLoaded(by, [doc])).toEqual([
      { args: { ...(doc['args'] as PayloadDoc), content: Buffer.from('{"a":1}') } },
    ]);
  });

  it('is loaded again when its key ceases to be believed between loading and opening', async () => {
    const by = vault();
    const doc = await sealed(by, { args: plain('1') });
    let reads = 0;
    const ageing: Vault = Object.assign(Object.create(by) as Vault, {
      load: async (ids: readonly string[]) => {
        await by.load(ids);
        reads += 1;
        if (reads === 1) now += BELIEVED_MS + 1;
      },
      open: (one: Doc) => by.open(one),
    });
    expect(await openLoaded(ageing, doc)).toMatchObject({ args: { encoding: 'plain' } });
    expect(reads).toBe(2);
  });

  it('opens also while a batch that proposes a key of the same id waits for the store, or failed to ask it', async () => {
    const doc = await sealed(vault(), { args: plain('1') });
    const other = vault();
    const batch = other.batch(0);
    const own = batch.seal({ args: plain('2') }, () => CUSTOMER);
    expect(await openLoaded(other, doc)).toEqual({ args: plain('1') });
    expect(other.open(own)).toEqual({ args: plain('2') });
    expect(await batch.settle()).toBe(false);
    expect(await openLoaded(other, doc)).toEqual({ args: plain('1') });
  });

  it('lends its key to what is sealed beside it, without another try', async () => {
    const doc = await sealed(vault(), { args: plain('1') });
    const other = vault();
    await openLoaded(other, doc);
    const batch = other.batch(0);
    const own = batch.seal({ args: plain('1') }, () => CUSTOMER);
    expect(await batch.settle()).toBe(true);
    expect(own).toEqual(doc);
  });

  it('under a key that the store has lost is no erased one: nothing is shown, and nothing decided on it', async () => {
    const doc = await sealed(vault(), { args: plain('1') });
    const whole = store;
    store = new MemoryKeyStore();
    const by = vault();
    await expect(openLoaded(by, doc)).rejects.toMatchObject({ code: 'KEY_STORE_UNAVAILABLE' });
    await expect(showLoaded(by, [doc])).rejects.toMatchObject({ code: 'KEY_STORE_UNAVAILABLE' });
    const { key_id: keyId, body } = doc['args'] as PayloadDoc;
    await expect(openBytesLoaded(by, keyId ?? '', body)).rejects.toMatchObject({ code: 'KEY_STORE_UNAVAILABLE' });
    // Nor is anything decided on it.
    const opening = by.openOnUse(doc);
    expect(() => by.using(() => (opening['args'] as PayloadDoc).body)).toThrow(
      expect.objectContaining({ code: 'KEY_STORE_UNAVAILABLE' }),
    );
    store = whole;
    const again = vault();
    expect(await openLoaded(again, doc)).toEqual({ args: plain('1') });
    await whole.destroy({ tenant: CUSTOMER.tenant, by: 'dpo', reason: 'asked' });
    expect(await openLoaded(vault(), doc)).toEqual(doc);
  });

  it('under a key that the store has lost is no erased one either once its subject is sealed anew there', async () => {
    const doc = await sealed(vault(), { args: plain('1') });
    store = new MemoryKeyStore();
    const by = vault();
    const since = await sealed(by, { args: plain('2') });
    expect(await openLoaded(by, since)).toEqual({ args: plain('2') });
    for (const reader of [by, vault()])
      await expect(openLoaded(reader, doc)).rejects.toMatchObject({ code: 'KEY_STORE_UNAVAILABLE' });
  });
});

describe('a payload that opens on use', () => {
  const argsOf = (doc: Doc): PayloadDoc => doc['args'] as PayloadDoc;
  const membersOf = ({ content_type, encoding, key_id, body, sha256 }: PayloadDoc): PayloadDoc => ({
    ...{ content_type, encoding, key_id, body, sha256 },
  });

  it('needs its key when it is used and not before, and is opened once', async () => {
    const doc = await sealed(vault(), { id: 'r', args: plain('{"a":1}'), nested: [{ more: plain('"b"') }] });
    const by = vault();
    const opening = by.openOnUse(doc);
    expect(() => argsOf(opening).body).toThrow(Lacking);
    await by.load(sealedUnder(doc));
    expect(mapPayloads(opening, membersOf)).toEqual({
      ...{ id: 'r', args: plain('{"a":1}') },
      nested: [{ more: plain('"b"') }],
    });
    expect(argsOf(opening).body).toBe(argsOf({ ...by.openOnUse({ ...doc }) }).body);
    expect(by.openOnUse(doc)).toBe(opening);
  });

  it('goes back to the very bytes it was, used or not, without its key', async () => {
    const doc = await sealed(vault(), { args: plain('1') });
    const by = vault();
    expect(await sealed(by, { step: { ...by.openOnUse(doc) } }, { tenant: 'acme', subject: 'other' })).toEqual({
      step: doc,
    });
    await by.load(sealedUnder(doc));
    const used = by.openOnUse(doc);
    expect(argsOf(used).encoding).toBe('plain');
    expect(await sealed(by, { args: argsOf(used), repeated: argsOf(used).sha256 })).toEqual({
      ...doc,
      repeated: argsOf(doc).sha256,
    });
  });

  it('stays sealed once its key was destroyed, within a minute, also where it was used', async () => {
    const by = vault();
    const doc = await sealed(by, { args: plain('1') });
    const opening = by.openOnUse(doc);
    expect(argsOf(opening).encoding).toBe('plain');
    await store.destroy({ ...WHO, tenant: 'acme', subject: 'customer/7' });
    now += BELIEVED_MS + 1;
    expect(() => argsOf(opening).body).toThrow(Lacking);
    await by.load(sealedUnder(doc));
    expect(mapPayloads(opening, membersOf)).toEqual(doc);
  });

  it('stays sealed as soon as it is told to ask, where that is sooner', async () => {
    const [by, sooner] = [vault(), vault(1_000)];
    const doc = await sealed(by, { args: plain('1') });
    const [opening, soonest] = await Promise.all(
      [by, sooner].map(async (one) => {
        await one.load(sealedUnder(doc));
        return one.openOnUse(doc);
      }),
    );
    await store.destroy({ ...WHO, tenant: 'acme', subject: 'customer/7' });
    now += 1_001;
    expect(argsOf(opening ?? {}).encoding).toBe('plain');
    expect(() => argsOf(soonest ?? {}).body).toThrow(Lacking);
  });

  it('tells whom it was decided by that its key was lacked, whatever was made of that', async () => {
    const docs = await Promise.all(
      ['7', '8'].map((subject) => sealed(vault(), { args: plain('1') }, { ...CUSTOMER, subject })),
    );
    const by = vault();
    const decide = (): readonly string[] => docs.map((doc) => argsOf(by.openOnUse(doc)).encoding);
    expect(by.using(decide)).toEqual({ decided: ['sealed', 'sealed'], lacked: docs.flatMap(sealedUnder) });
    const fail = (): never => {
      throw new Error(decide().join());
    };
    expect(() => by.using(fail)).toThrow(Lacking);
    await by.load(docs.flatMap(sealedUnder));
    expect(by.using(decide)).toEqual({ decided: ['plain', 'plain'], lacked: [] });
    expect(() => by.using(fail)).toThrow('plain,plain');
  });
});
