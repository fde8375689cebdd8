import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey } from 'jose';
import { createAuthenticate } from './authenticate.js';
import type { Authenticate } from './authenticate.js';
import { directoryIn } from './directory.js';
import { keysAt, keysOfFile } from './issuer-keys.js';
import type { IssuerKeys } from './issuer-keys.js';

const ISSUER = 'urn:recourse:dev';
const AUDIENCE = 'recourse';
const folder = mkdtempSync(join(tmpdir(), 'recourse-auth-'));
const file = join(folder, 'jwks.json');
let key: CryptoKey;
let foreign: CryptoKey;
let authenticate: Authenticate;

function withKeys(keys: IssuerKeys): Authenticate {
  return createAuthenticate({ issuer: ISSUER, audience: AUDIENCE, keys, directory: directoryIn(undefined) });
}

beforeAll(async () => {
  const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
  key = pair.privateKey;
  foreign = (await generateKeyPair('EdDSA', { crv: 'Ed25519' })).privateKey;
  writeFileSync(file, JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'EdDSA' }] }));
  authenticate = withKeys(keysOfFile(file));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Wish {
  readonly issuer?: string;
  readonly audience?: string;
  readonly expires?: string;
  readonly claims?: Record<string, unknown>;
  readonly signer?: CryptoKey;
}
async function bearer({
  issuer = ISSUER,
  audience = AUDIENCE,
  expires = '1h',
  claims = { tenant: 'acme', roles: ['approver'] },
  signer = key,
}: Wish = {}): Promise<string> {
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', kid: 'k' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('dana')
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(signer);
  return `Bearer ${token}`;
}

describe('a token', () => {
  it('says who asks', async () => {
    expect(await authenticate(await bearer())).toEqual({ subject: 'dana', tenant: 'acme', roles: ['approver'] });
  });

  it('keeps apart what gives nothing where it is for, so that a refusal names it', async () => {
    const claims = { tenant: '*', roles: ['auditor', 'viewer', 'root'] };
    expect(await authenticate(await bearer({ claims }))).toMatchObject({ roles: ['auditor'], idle: ['viewer'] });
  });

  it.each<[string, Wish]>([
    ['of another issuer', { issuer: 'urn:other' }],
    ['for another audience', { audience: 'other' }],
    ['that has expired', { expires: '-1m' }],
    ['without a tenant', { claims: { roles: [] } }],
    ['of an empty tenant', { claims: { tenant: '', roles: [] } }],
    ['of a blank tenant', { claims: { tenant: ' ', roles: [] } }],
    ['of a tenant with blanks around it', { claims: { tenant: 'acme ', roles: [] } }],
    ['without roles', { claims: { tenant: 'acme' } }],
    ['with roles that are no list', { claims: { tenant: 'acme', roles: 'approver' } }],
  ])('%s is refused', async (_what, wish) => {
    await expect(authenticate(await bearer(wish))).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
  });

  it('signed by an unknown key is refused', async () => {
    await expect(authenticate(await bearer({ signer: foreign }))).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
  });

  it('of an algorithm that is not allowed is refused: a shared secret, or none at all', async () => {
    const shared = await new SignJWT({ tenant: 'acme', roles: [] })
      .setProtectedHeader({ alg: 'HS256', kid: 'k' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject('dana')
      .setExpirationTime('1h')
      .sign(Buffer.alloc(32, 1));
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const none = `${part({ alg: 'none' })}.${part({ iss: ISSUER, aud: AUDIENCE, sub: 'dana', exp: 9_999_999_999, tenant: 'acme', roles: [] })}.`;
    for (const token of [shared, none])
      await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
  });

  it('without an expiry is refused', async () => {
    const token = await new SignJWT({ tenant: 'acme', roles: [] })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'k' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject('dana')
      .sign(key);
    await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
  });

  it('has to be there', async () => {
    for (const header of [undefined, '', 'Basic abc', 'Bearer '])
      await expect(authenticate(header)).rejects.toMatchObject({ code: 'TOKEN_MISSING' });
  });

  it('lets nobody in while the keys cannot be read', async () => {
    const going = join(folder, 'going.json');
    copyFileSync(file, going);
    const gone = withKeys(keysOfFile(going));
    rmSync(going);
    for (const unavailable of [gone, withKeys(keysAt({ url: 'http://127.0.0.1:1/jwks.json' }))])
      await expect(unavailable(await bearer())).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' });
  });

  it.each([
    ['is not there', null, 'ENOENT'],
    ['is no JSON', 'keys', 'JSON'],
    ['is no set of keys', '{"kty":"OKP"}', 'JSON Web Key Set malformed'],
    ['holds no key', '{"keys":[]}', 'there is no key in it'],
  ])('is checked nowhere where the file of the keys %s: the program does not start', (_what, content, why) => {
    const path = join(folder, 'at-start.json');
    rmSync(path, { force: true });
    if (content !== null) writeFileSync(path, content);
    expect(() => keysOfFile(path)).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        message: expect.stringMatching(new RegExp(`^RECOURSE_JWKS_FILE: .*at-start.json holds no keys .*${why}`)),
      }),
    );
  });
});
