// Tokens: JWTs of one pinned issuer for one pinned audience, signed with one of three algorithms by a key of its JWKS.
//
// Boundary: believes a token until it expires. That somebody lost a role is known when the issuer gives no new token; until then
// the last one counts, so the life of tokens is the longest time a revoked approver can still approve.
import { Failure, isSubject, isTenant, SUBJECT_FORM } from '@recourse/kernel';
import { errors, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Directory } from './directory.js';
import { isSilent } from './issuer-keys.js';
import type { IssuerKeys } from './issuer-keys.js';
import { idleRolesOf, rolesOf } from './principal.js';
import { ALL_TENANTS } from './roles.js';
import type { Principal } from './principal.js';
import { EdgeRefusal } from './problem.js';

export interface AuthenticationOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: Pick<IssuerKeys, 'find'>;
  readonly directory: Directory;
}

/** Says who sent a request. Errors: EdgeRefusal(TOKEN_MISSING, TOKEN_REFUSED, PRINCIPAL_INVALID, ROLES_CONFLICT, DIRECTORY_UNAVAILABLE), Failure(ISSUER_UNAVAILABLE). */
export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

/** Asymmetric only: with a shared secret every verifier could sign. `none` is in no list. */
export const ALGORITHMS = ['EdDSA', 'ES256', 'RS256'] as const;
const CLOCK_TOLERANCE_S = 5;
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i;

const CLAIMS = z.object({
  sub: z.string(),
  directory_subject: z.string().optional(),
  tenant: z.string().max(128),
  roles: z.array(z.string().min(1).max(64)).max(32),
});

/** Makes the check of one edge. */
export function createAuthenticate({ issuer, audience, keys, directory }: AuthenticationOptions): Authenticate {
  return async (authorization) => {
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new EdgeRefusal('TOKEN_MISSING', 'send a bearer token');
    const payload = await verified(token, keys.find, { issuer, audience });
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
  const person = directory.find(sub);
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
    if (cause instanceof errors.JOSEError && !isSilent(cause))
      throw new EdgeRefusal('TOKEN_REFUSED', `the token was refused (${cause.code})`, [], { cause });
    throw new Failure('ISSUER_UNAVAILABLE', 'the keys of the token issuer cannot be read', { cause });
  }
}
