import { beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { createAuthenticate } from './authenticate.js';
import type { Authenticate } from './authenticate.js';
import { directoryIn } from './directory.js';
import { keysAt } from './issuer-keys.js';
import type { IssuerKeys } from './issuer-keys.js';

const ISSUER = { issuer: 'urn:recourse:dev', audience: 'recourse' };
const REST_MS = 30_000;
interface Pair {
  readonly key: CryptoKey;
  readonly published: JWK;
}
let first: Pair;
let second: Pair;
const pairOf = async (kid: string): Promise<Pair> => {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
  return { key: privateKey, published: { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' } };
};
beforeAll(async () => {
  [first, second] = [await pairOf('first'), await pairOf('second')];
});

const tokenBy = async ({ key, published }: Pair): Promise<string> => {
  const claims = new SignJWT({ tenant: 'acme', roles: ['viewer'] });
  const { issuer, audience } = ISSUER;
  const said = claims.setIssuer(issuer).setAudience(audience).setSubject('dana').setExpirationTime('1h');
  return `Bearer ${await said.setProtectedHeader({ alg: 'EdDSA', kid: published.kid ?? '' }).sign(key)}`;
};

/** An issuer at an address that can fall silent; its keys are asked for at each token. */
function issuerWith(keys: readonly JWK[]): {
  readonly issuer: { keys: readonly JWK[] | null; asked: number; now: number };
  readonly found: IssuerKeys;
  readonly authenticate: Authenticate;
} {
  const issuer = { keys: keys as readonly JWK[] | null, asked: 0, now: 0 };
  const found = keysAt({
    url: 'http://dana:secret@issuer.test/jwks.json',
    fetch: () => {
      issuer.asked += 1;
      return issuer.keys === null
        ? Promise.reject(new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND issuer.test') }))
        : Promise.resolve(Response.json({ keys: issuer.keys }));
    },
    now: () => issuer.now,
    freshMs: 0,
  });
  const authenticate = createAuthenticate({ ...ISSUER, keys: found, directory: directoryIn(undefined) });
  return { issuer, found, authenticate };
}

describe('the keys of a token issuer at an address', () => {
  it('are asked for at the start until they are there, and what is wrong is said meanwhile', async () => {
    const { issuer, found } = issuerWith([]);
    issuer.keys = null;
    const told: string[] = [];
    const terms = {
      signal: new AbortController().signal,
      onFailure: ({ code, detail }: { readonly code: string; readonly detail: string }) => {
        told.push(`${code} ${detail}`);
        told.push(String(found.trouble()?.code));
      },
      sleep: () => {
        issuer.keys = [first.published];
        return Promise.resolve();
      },
    };
    await found.learn(terms);
    expect(told).toEqual([
      'ISSUER_UNAVAILABLE RECOURSE_JWKS_URL: http://issuer.test/jwks.json gives no keys: getaddrinfo ENOTFOUND issuer.test',
      'ISSUER_UNAVAILABLE',
    ]);
    expect([found.trouble(), issuer.asked]).toEqual([null, 2]);
  });

  it('are not known before it was heard, nor where it gives none: nobody is let in by them', async () => {
    const { issuer, found } = issuerWith([]);
    expect(found.trouble()).toMatchObject({
      code: 'ISSUER_UNAVAILABLE',
      detail: 'RECOURSE_JWKS_URL: http://issuer.test/jwks.json gives no keys: it has not answered yet',
    });
    const told: string[] = [];
    await found.learn({
      signal: new AbortController().signal,
      onFailure: ({ detail }) => {
        told.push(detail, String(found.trouble()?.detail));
      },
      sleep: () => {
        issuer.keys = [first.published];
        return Promise.resolve();
      },
    });
    const none = 'RECOURSE_JWKS_URL: http://issuer.test/jwks.json gives no keys: there is none in its set';
    expect([told, found.trouble()]).toEqual([[none, none], null]);
  });

  it('are asked for no more once it is over', async () => {
    const { issuer, found } = issuerWith([]);
    issuer.keys = null;
    const over = new AbortController();
    await found.learn({
      signal: over.signal,
      onFailure: () => {
        over.abort();
      },
      sleep: () => Promise.resolve(),
    });
    expect(issuer.asked).toBe(1);
  });

  it('are kept while it is silent, which is no trouble, and it is asked twice a minute then', async () => {
    const { issuer, found, authenticate } = issuerWith([first.published]);
    const token = await tokenBy(first);
    await authenticate(token);
    issuer.keys = null;
    for (let count = 0; count < 3; count += 1) expect(await authenticate(token)).toMatchObject({ subject: 'dana' });
    expect([issuer.asked, found.trouble()]).toEqual([2, null]);
    issuer.now += REST_MS;
    await authenticate(token);
    expect(issuer.asked).toBe(3);
  });

  it('refuse no token of a newer key while it is silent, and know it as soon as it answers', async () => {
    const { issuer, authenticate } = issuerWith([first.published]);
    const newer = await tokenBy(second);
    await authenticate(await tokenBy(first));
    issuer.keys = null;
    await expect(authenticate(newer)).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' });
    issuer.keys = [second.published];
    expect(await authenticate(newer)).toMatchObject({ subject: 'dana' });
    await expect(authenticate(await tokenBy({ ...first, published: { kid: 'gone' } }))).rejects.toMatchObject({
      code: 'TOKEN_REFUSED',
    });
  });
});
