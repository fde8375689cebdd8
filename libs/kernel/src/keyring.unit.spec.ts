import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import {
  ProvenSignatures,
  parseKeyring,
  publicKeyText,
  signerOf,
  speakerOf,
  speaksFor,
  speaksUnder,
  observersIn,
} from './keyring.js';

const pair = generateKeyPairSync('ed25519');
const entry = {
  id: 'ledger-1',
  public_key: publicKeyText(pair.publicKey),
  speaks_as: 'service',
  names: ['mutation-ledger'],
  tenants: ['*'],
};
const ringOf = (...keys: readonly object[]): string => JSON.stringify({ keys });

describe('signatures that were checked', () => {
  it.each([
    ['one that proves its text', true],
    ['one that is none', false],
  ])('are checked once, however often they come: %s', (_what, isGenuine) => {
    let checked = 0;
    const { proves } = new ProvenSignatures(1, () => {
      checked += 1;
      return isGenuine;
    });
    const said = Array.from({ length: 1_000 }, () => proves(pair.publicKey, 'text', Buffer.alloc(64, 7)));
    expect([new Set(said), checked]).toEqual([new Set([isGenuine]), 1]);
  });

  it('say nothing of another text, another signature or another key', () => {
    const other = generateKeyPairSync('ed25519').publicKey;
    let checked = 0;
    const { proves } = new ProvenSignatures(1, () => (checked += 1) < 0);
    const [one, two] = [Buffer.alloc(64, 1), Buffer.alloc(64, 2)];
    for (const [key, text, signature] of [
      [pair.publicKey, 'a', one],
      [pair.publicKey, 'b', one],
      [pair.publicKey, 'b', two],
      [other, 'b', two],
    ] as const)
      proves(key, text, signature);
    expect(checked).toBe(4);
  });
});

describe('a keyring', () => {
  it('knows whom a key speaks for', () => {
    const signer = signerOf('ledger-1', pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    const signature = signer.sign('text');
    const speaker = speakerOf(parseKeyring(ringOf(entry)), { keyId: 'ledger-1', text: 'text', signature, signedAt: 1 });
    expect(speaker).toMatchObject({ roles: ['service'], names: ['mutation-ledger'], tenants: ['*'] });
  });

  it('tells names and tenants from others', () => {
    expect([
      speaksUnder({ names: ['a'] }, 'a'),
      speaksUnder({ names: ['a'] }, 'A'),
      speaksUnder({ names: ['*'] }, 'b'),
    ]).toEqual([true, false, true]);
    expect([
      speaksFor({ tenants: ['a'] }, 'a'),
      speaksFor({ tenants: ['a'] }, 'b'),
      speaksFor({ tenants: ['*'] }, 'b'),
    ]).toEqual([true, false, true]);
  });

  it.each([
    ['no JSON', '{', 'the file'],
    ['no list', '{"keys": {}}', '/keys'],
    ['an entry that is none', ringOf([]), '/keys/0'],
    ['an id with a blank', ringOf({ ...entry, id: 'a b' }), '/keys/0/id'],
    ['an id twice', ringOf(entry, entry), '/keys/1/id'],
    ['a short key', ringOf({ ...entry, public_key: 'AAAA' }), '/keys/0/public_key'],
    ['a role nobody has', ringOf({ ...entry, speaks_as: 'root' }), '/keys/0/speaks_as'],
    ['a role twice', ringOf({ ...entry, speaks_as: ['worker', 'worker'] }), '/keys/0/speaks_as'],
    ['no names', ringOf({ ...entry, names: [] }), '/keys/0/names'],
    ['a name that is empty', ringOf({ ...entry, names: [''] }), '/keys/0/names'],
    ['no tenants', ringOf({ ...entry, tenants: undefined }), '/keys/0/tenants'],
    ['an instant that is none', ringOf({ ...entry, valid_until: 'soon' }), '/keys/0/valid_until'],
    ['a number for an instant', ringOf({ ...entry, revoked_at: '5' }), '/keys/0/revoked_at'],
    ['an instant as it is spoken', ringOf({ ...entry, revoked_at: '01/02/2026' }), '/keys/0/revoked_at'],
    ['an instant of no zone', ringOf({ ...entry, revoked_at: '2026-01-31T00:00:00' }), '/keys/0/revoked_at'],
    ['an instant with a blank', ringOf({ ...entry, revoked_at: '2026-01-31 00:00:00Z' }), '/keys/0/revoked_at'],
    ['digits behind its minute', ringOf({ ...entry, revoked_at: '2026-01-31T00:00123Z' }), '/keys/0/revoked_at'],
    ['a zone that nobody has', ringOf({ ...entry, revoked_at: '2026-01-31T00:00:00+9900' }), '/keys/0/revoked_at'],
    ['a day that no calendar has', ringOf({ ...entry, revoked_at: '2026-02-30' }), '/keys/0/revoked_at'],
    ['a member that is mistyped', ringOf({ ...entry, revoked: '2026-01-01T00:00:00Z' }), '/keys/0/revoked'],
    ['one key under two ids', ringOf(entry, { ...entry, id: 'ledger-2' }), '/keys/1/public_key'],
  ])('with %s is refused, and says where', (_what, text, place) => {
    expect(() => parseKeyring(text)).toThrow(`KEYRING_INVALID: ${place} must be`);
  });

  it('says of an instant how one is written', () => {
    expect(() => parseKeyring(ringOf({ ...entry, revoked_at: 'now' }))).toThrow(
      'a date, or a date and a time with its zone, such as 2026-01-31, 2026-01-31T00:00:00Z or 2026-01-31T01:00:00+01:00',
    );
  });

  it.each([
    ['2026-01-31', Date.UTC(2026, 0, 31)],
    ['2026-01-31T12:30Z', Date.UTC(2026, 0, 31, 12, 30)],
    ['2026-01-31T12:30:15.250+02:00', Date.UTC(2026, 0, 31, 10, 30, 15, 250)],
    ['2026-01-31T12:30:15.250999Z', Date.UTC(2026, 0, 31, 12, 30, 15, 250)],
    ['2026-01-31T12:30:15.123456789+00:00', Date.UTC(2026, 0, 31, 12, 30, 15, 123)],
    ['2026-01-31T12:30:15+0530', Date.UTC(2026, 0, 31, 7, 0, 15)],
    ['2026-01-31t12:30:15z', Date.UTC(2026, 0, 31, 12, 30, 15)],
  ])('takes %s as it is', (revoked_at, at) => {
    expect(parseKeyring(ringOf({ ...entry, revoked_at })).get('ledger-1')?.revokedAt).toBe(at);
  });

  it.each([
    ['text that is no key', 'hello'],
    [
      'a key of another kind',
      generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    ],
  ])('signs with no %s', (_what, pem) => {
    expect(() => signerOf('id', pem)).toThrow('KEYRING_INVALID');
  });
});

describe('the observers of a keyring', () => {
  const entry = (id: string, more: object): object => ({
    id,
    public_key: Buffer.alloc(32, id).toString('base64'),
    speaks_as: 'observer',
    names: [id],
    tenants: ['*'],
    ...more,
  });

  it('are those of other keys that count now', () => {
    const ring = parseKeyring(
      JSON.stringify({
        keys: [
          entry('acts', { speaks_as: ['worker', 'observer'] }),
          entry('sees', {}),
          entry('works', { speaks_as: 'worker' }),
          entry('gone', { revoked_at: '2026-01-01T00:00:00Z' }),
          entry('early', { valid_from: '2027-01-01T00:00:00Z' }),
          entry('late', { valid_until: '2026-01-01T00:00:00Z' }),
        ],
      }),
    );
    const at = Date.parse('2026-06-01T00:00:00Z');
    expect(observersIn(ring, 'acts', at)).toEqual([{ names: ['sees'], tenants: ['*'] }]);
    expect(observersIn(ring, 'sees', at)).toEqual([{ names: ['acts'], tenants: ['*'] }]);
  });
});
