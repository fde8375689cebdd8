import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import type { Keyring } from '@recourse/kernel';
import { MemoryBroker } from '../memory/broker.memory.js';
import { testKeys } from '../testing/test-keys.js';
import { believedSigner } from './believed-signer.js';
import { signedKafka } from './signed.kafka.js';
import { signingFrom } from './signing-files.js';

const LOG = 'recourse.things';
const NOW = Date.parse('2026-05-01T12:00:00Z');
const END = '2026-05-01T13:00:00Z';
const keys = testKeys({
  owner: { role: 'service', names: ['things'] },
  ending: { role: 'service', names: ['things'], valid_until: END },
  revoked: { role: 'service', names: ['things'], revoked_at: '2026-05-01T11:00:00Z' },
  early: { role: 'service', names: ['things'], valid_from: '2026-05-02T00:00:00Z' },
  others: { role: 'service', names: ['others'] },
  payments: { role: 'worker', names: ['things'] },
});
const elsewhere = testKeys({
  owner: { role: 'service', names: ['things'] },
  stranger: { role: 'service', names: ['things'] },
});
const folder = mkdtempSync(join(tmpdir(), 'recourse-keys-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('the key of a service', () => {
  it.each([
    ['that is not in the keyring', elsewhere.signer('stranger'), 'KEY_UNKNOWN'],
    ['that is another than the one of its id', elsewhere.signer('owner'), 'SIGNATURE_INVALID'],
    ['that was taken back', keys.signer('revoked'), 'KEY_REVOKED'],
    ['that is not valid yet', keys.signer('early'), 'KEY_NOT_VALID'],
    ['that speaks as another service', keys.signer('others'), 'SPEAKER_MISMATCH'],
    ['that speaks as a worker', keys.signer('payments'), 'SPEAKER_MISMATCH'],
  ])('%s begins nothing', (_what, signer, why) => {
    const begin = () =>
      believedSigner(signer, { keyring: () => keys.keyring, clock: new ManualClock(NOW), service: 'things' });
    expect(begin).toThrow(expect.objectContaining({ code: 'KEY_NOT_BELIEVED', message: expect.stringContaining(why) }));
  });

  it('is refused with its files, before anything is written with it', () => {
    const [keyringFile, signingKeyFile] = [join(folder, 'keyring.json'), join(folder, 'owner.pem')];
    writeFileSync(keyringFile, keys.text);
    writeFileSync(signingKeyFile, keys.pem('owner'), { mode: 0o600 });
    const from = (signingKeyId: string) =>
      signingFrom(
        { wires: 'strict', keyringFile, signingKeyFile, signingKeyId },
        { ownerOf: () => 'things', clock: new ManualClock(NOW), service: 'things' },
      );
    expect(() => from('owner-2')).toThrow(/KEY_NOT_BELIEVED.*owner-2 does not speak as things now \(KEY_UNKNOWN\)/);
    expect(from('owner')?.signer?.keyId).toBe('owner');
  });

  it('is refused in a file that others may open, and the keyring, of public keys, is not', () => {
    const [keyringFile, signingKeyFile] = [join(folder, 'open.json'), join(folder, 'open.pem')];
    for (const [file, text] of [
      [keyringFile, keys.text],
      [signingKeyFile, keys.pem('owner')],
    ] as const) {
      writeFileSync(file, text);
      chmodSync(file, 0o644);
    }
    const from = () =>
      signingFrom(
        { wires: 'strict', keyringFile, signingKeyFile, signingKeyId: 'owner' },
        { ownerOf: () => 'things', clock: new ManualClock(NOW), service: 'things' },
      );
    expect(from).toThrow(/KEYRING_INVALID.*open\.pem.*everybody on the machine may use the file \(mode 0644\)/);
    chmodSync(signingKeyFile, 0o440);
    expect(from()?.signer?.keyId).toBe('owner');
  });

  it('is believed by no keyring that everybody on the machine may change, and one that was good before stands', async () => {
    const keyringFile = join(folder, 'written.json');
    writeFileSync(keyringFile, keys.text);
    const clock = new ManualClock(NOW);
    const from = () =>
      signingFrom(
        { wires: 'strict', keyringFile, signingKeyFile: undefined, signingKeyId: undefined },
        { ownerOf: () => 'things', clock },
      );
    chmodSync(keyringFile, 0o646);
    expect(from).toThrow(
      /KEYRING_INVALID.*written\.json.*everybody on the machine may change the file \(mode 0646\): chmod o-w /,
    );
    chmodSync(keyringFile, 0o664);
    const signing = from();
    expect(signing?.keyring().has('stranger')).toBe(false);
    chmodSync(keyringFile, 0o666);
    writeFileSync(keyringFile, elsewhere.text);
    await clock.advance(2_000);
    expect(signing?.keyring().has('stranger')).toBe(false);
    expect(signing?.trouble?.()).toMatchObject({ code: 'KEYRING_INVALID', detail: expect.stringContaining('0666') });
    chmodSync(keyringFile, 0o644);
    await clock.advance(2_000);
    expect([signing?.keyring().has('stranger'), signing?.trouble?.()]).toEqual([true, null]);
  });

  it('tells what is wrong with it, and with the file of the keyring, before anything is signed', async () => {
    const [keyringFile, signingKeyFile] = [join(folder, 'followed.json'), join(folder, 'followed.pem')];
    writeFileSync(keyringFile, keys.text);
    writeFileSync(signingKeyFile, keys.pem('ending'), { mode: 0o600 });
    const clock = new ManualClock(NOW);
    const places = { wires: 'strict', keyringFile, signingKeyFile, signingKeyId: 'ending' } as const;
    const trouble = signingFrom(places, { ownerOf: () => 'things', clock, service: 'things' })?.trouble;
    expect(trouble?.()).toBeNull();
    writeFileSync(keyringFile, '{');
    await clock.advance(2_000);
    expect(trouble?.()).toMatchObject({ code: 'KEYRING_INVALID' });
    rmSync(keyringFile);
    await clock.advance(2_000);
    expect(trouble?.()).toMatchObject({ code: 'KEYRING_INVALID', detail: expect.stringContaining(keyringFile) });
    writeFileSync(keyringFile, keys.text);
    await clock.advance(2_000);
    expect(trouble?.()).toBeNull();
    await clock.advance(Date.parse(END) - clock.now());
    expect(trouble?.()).toMatchObject({ code: 'KEY_NOT_BELIEVED', detail: expect.stringContaining('KEY_NOT_VALID') });
  });

  it('signs nothing once it is believed no more, so that its log goes on from nothing that is void', async () => {
    const broker = new MemoryBroker({});
    const admin = await broker.forActor('admin').admin();
    await admin.ensureTopics([{ name: LOG, partitions: 1 }]);
    const clock = new ManualClock(NOW);
    let ring: Keyring = keys.keyring;
    const options = { keyring: () => ring, clock, service: 'things' };
    const sending = async (id: 'owner' | 'ending') => {
      const signing = { ...options, signer: believedSigner(keys.signer(id), options), ownerOf: () => 'things' };
      return (await signedKafka(broker.forActor('things'), signing).logProducer()).send(LOG, 0, [
        { key: Buffer.from('k'), value: Buffer.from(id) },
      ]);
    };
    await expect(sending('owner')).resolves.toMatchObject({ baseOffset: expect.anything() });
    const ending = believedSigner(keys.signer('ending'), options);
    expect(ending.sign('a')).toEqual(keys.signer('ending').sign('a'));
    await clock.advance(Date.parse(END) - NOW);
    expect(() => ending.sign('a')).toThrow('KEY_NOT_VALID');
    const owner = believedSigner(keys.signer('owner'), options);
    ring = elsewhere.keyring;
    expect(() => owner.sign('a')).toThrow('SIGNATURE_INVALID');
    await expect(sending('owner')).rejects.toMatchObject({ code: 'KEY_NOT_BELIEVED' });
    ring = keys.keyring;
    expect(owner.sign('a')).toBeInstanceOf(Buffer);
  });
});

it('the key of an agent or a worker begins, and signs nothing while nobody believes it', async () => {
  const clock = new ManualClock(NOW);
  const signer = believedSigner(keys.signer('early'), { keyring: () => keys.keyring, clock });
  expect(() => signer.sign('a')).toThrow('by the keyring the key early does not speak now (KEY_NOT_VALID)');
  await clock.advance(86_400_000);
  expect(signer.sign('a')).toBeInstanceOf(Buffer);
});
