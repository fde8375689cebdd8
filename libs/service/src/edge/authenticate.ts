// Tokens: JWTs of one pinned issuer for one pinned audience, signed with one of three algorithms by a key of its JWKS.
//
// Boundary: believes a token until it expires. That somebody lost a role is known when the issuer gives no new token; until then
// the last one counts, so the life of tokens is the longest time a revoked approver can still approve.
import { readFileSync, statSync } from 'node:fs';
import { isSubject, isTenant, SUBJECT_FORM } from '@recourse/kernel';
import { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify } from 'jose';
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Directory } from './directory.js';
import { idleRolesOf, rolesOf } from './principal.js';
import { ALL_TENANTS } from './roles.js';
import type { Principal } from './principal.js';
import { EdgeRefusal } from './problem.js';

export interface AuthenticationOptions {
  readonly issuer: string;
  readonly audience: string;
  /** Where the issuer's public keys are. */
  readonly jwks: { readonly url: string } | { readonly file: string };
  readonly directory: Directory;
}

/** Says who sent a request. Errors: EdgeRefusal(TOKEN_MISSING, TOKEN_REFUSED, PRINCIPAL_INVALID, ROLES_CONFLICT, ISSUER_UNAVAILABLE, DIRECTORY_UNAVAILABLE). */
export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

/** Asymmetric only: with a shared secret every verifier could sign. `none` is in no list. */
export const ALGORITHMS = ['EdDSA', 'ES256', 'RS256'] as const;
const CLOCK_TOLERANCE_S = 5;
const JWKS_TIMEOUT_MS = 3_000;
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i;

const CLAIMS = z.object({
  sub: z.string(),
  directory_subject: z.string().optional(),
  tenant: z.string().max(128),
  roles: z.array(z.string().min(1).max(64)).max(32),
});

/** Makes the check of one edge; an address is asked at the first token. Errors: TypeError for a file without keys at start. */
export function createAuthenticate({ issuer, audience, jwks, directory }: AuthenticationOptions): Authenticate {
  const keys =
    'url' in jwks ? createRemoteJWKSet(new URL(jwks.url), { timeoutDuration: JWKS_TIMEOUT_MS }) : keysOfFile(jwks.file);
  return async (authorization) => {
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new EdgeRefusal('TOKEN_MISSING', 'send a bearer token');
    const payload = await verified(token, keys, { issuer, audience });
    const claims = CLAIMS.safeParse(payload);
    if (!claims.success)
      throw new EdgeRefusal('TOKEN_REFUSED', 'the token lacks sub, tenant or roles, or names them in another form');
    if (claims.data.tenant !== ALL_TENANTS && !isTenant(claims.data.tenant))
      throw new EdgeRefusal('TOKEN_REFUSED', 'the token names no tenant: it is empty, or has blanks around it');
    return principalOf(claims.data, directory);
  };
}

/**
 * Whose account it is says the directory; a token that names another person is nobody's.
 *
 * Errors: EdgeRefusal(PRINCIPAL_INVALID, ROLES_CONFLICT, DIRECTORY_UNAVAILABLE).
 */
function principalOf(
  { sub, directory_subject: claimed, tenant, roles }: z.infer<typeof CLAIMS>,
  directory: Directory,
): Principal {
  if (!isSubject(sub)) throw new EdgeRefusal('PRINCIPAL_INVALID', `the token's subject is none: ${SUBJECT_FORM}`);
  const person = directory(sub);
  if (claimed !== undefined && claimed !== person.subject)
    throw new EdgeRefusal('PRINCIPAL_INVALID', 'the token names another person than the directory has for its account');
  const idle = idleRolesOf(roles, tenant);
  return { ...person, tenant, roles: rolesOf(roles, tenant), ...(idle !== undefined && { idle }) };
}

async function verified(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: [...ALGORITHMS],
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    return payload;
  } catch (cause) {
    if (cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout) && !isNoAnswer(cause)) {
      throw new EdgeRefusal('TOKEN_REFUSED', `the token was refused (${cause.code})`, [], { cause });
    }
    throw new EdgeRefusal('ISSUER_UNAVAILABLE', 'the keys of the token issuer cannot be read', [], { cause });
  }
}

/** jose says with its base class that the address of the keys answered, but not with keys. */
function isNoAnswer(error: errors.JOSEError): boolean {
  return error.code === 'ERR_JOSE_GENERIC' || error.code === 'ERR_JWKS_INVALID';
}

/** Keys of a file, read again when it changes. Errors: TypeError for one that has none now, which would let nobody in. */
function keysOfFile(path: string): JWTVerifyGetKey {
  let read = firstKeysIn(path);
  return (header, token) => {
    const at = statSync(path).mtimeMs;
    if (read.at !== at) read = { at, keys: createLocalJWKSet(keySetIn(path)) };
    return read.keys(header, token);
  };
}

function firstKeysIn(path: string): { readonly at: number; readonly keys: JWTVerifyGetKey } {
  try {
    const [at, set] = [statSync(path).mtimeMs, keySetIn(path)];
    const keys = createLocalJWKSet(set);
    if (set.keys.length === 0) throw new TypeError('there is no key in it');
    return { at, keys };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`RECOURSE_JWKS_FILE: ${path} holds no keys of a token issuer: ${why}`, { cause });
  }
}

/** jose checks the shape and throws JWKSInvalid. */
function keySetIn(path: string): JSONWebKeySet {
  return JSON.parse(readFileSync(path, 'utf8')) as JSONWebKeySet;
}
