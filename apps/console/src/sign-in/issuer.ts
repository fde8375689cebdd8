// The issuer as an OpenID Connect client sees it: discovery, the way there, the exchange of what comes back.
import { decodeJwt } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  Configuration,
  enableNonRepudiationChecks,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { ServerMetadata } from 'openid-client';
import { z } from 'zod';
import { ConsoleRefusal } from '../problem.js';
import type { ConsoleConfig } from '../config.js';
import type { Person } from './sessions.js';
import type { SignIn } from './sign-in-cookie.js';

/** Somebody the issuer vouches for. */
export interface SignedIn {
  readonly person: Person;
  readonly token: string;
  /** Epoch milliseconds. */
  readonly tokenEndsAt: number;
}

export interface Issuer {
  /** Where a browser is sent, and what has to be remembered meanwhile. Errors: ConsoleRefusal(ISSUER_AWAY). */
  leave(): Promise<{ readonly to: string; readonly kept: Omit<SignIn, 'endsAt' | 'then'> }>;
  /** Errors: ConsoleRefusal(SIGN_IN_REFUSED, ISSUER_AWAY). */
  comeBack(address: URL, kept: SignIn): Promise<SignedIn>;
}

type Settings = Pick<ConsoleConfig, 'issuer' | 'discoveryUrl' | 'publicUrl' | 'clientId' | 'clientSecret' | 'scope'>;

const METADATA = z.looseObject({ issuer: z.string(), authorization_endpoint: z.string(), token_endpoint: z.string() });
const CLAIMS = z.object({
  sub: z.string(),
  tenant: z.string(),
  roles: z.array(z.string()).default([]),
  exp: z.number(),
});
const DISCOVERY_MS = 5_000;

export const CALLBACK_PATH = '/auth/callback';

/** Asks the issuer what it offers at the first sign-in, and keeps the answer. */
export function createIssuer(settings: Settings): Issuer {
  let known: Promise<Configuration> | null = null;
  const configuration = (): Promise<Configuration> => {
    known ??= discover(settings).catch((cause: unknown) => {
      known = null;
      throw new ConsoleRefusal('ISSUER_AWAY', undefined, { cause });
    });
    return known;
  };
  return {
    leave: async () => {
      const [verifier, state, nonce] = [randomPKCECodeVerifier(), randomState(), randomNonce()];
      const to = buildAuthorizationUrl(await configuration(), {
        redirect_uri: callbackOf(settings),
        scope: settings.scope,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
      return { to: to.href, kept: { state, nonce, verifier } };
    },
    comeBack: async (address, { state, nonce, verifier }) => {
      const found = await configuration();
      const answer = await authorizationCodeGrant(found, address, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      }).catch((cause: unknown) => {
        throw new ConsoleRefusal(isAway(cause) ? 'ISSUER_AWAY' : 'SIGN_IN_REFUSED', undefined, { cause });
      });
      return signedIn(answer.access_token);
    },
  };
}

/** Nobody answered, or not in time, or the issuer is in trouble itself: no word about the person. */
export function isAway(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null) return false;
  const { name, code, status, cause: below } = cause as Readonly<Record<string, unknown>>; // whatever it holds is looked at
  if (typeof status === 'number') return status >= 500;
  // What `fetch` throws where no answer came names the reason; a bug does not.
  const isNoAnswer = name === 'TypeError' && below !== undefined;
  return isNoAnswer || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || isAway(below);
}

/** What the token says, for the page to show: the services look at it themselves. Errors: ConsoleRefusal(SIGN_IN_REFUSED). */
function signedIn(token: string): SignedIn {
  const claims = CLAIMS.safeParse(claimsOf(token));
  if (!claims.success)
    throw new ConsoleRefusal('SIGN_IN_REFUSED', 'The token of the issuer lacks sub, tenant, roles or exp.', {
      cause: claims.error,
    });
  const { sub, tenant, roles, exp } = claims.data;
  return { person: { subject: sub, tenant, roles }, token, tokenEndsAt: exp * 1_000 };
}

function claimsOf(token: string): unknown {
  try {
    return decodeJwt(token);
  } catch {
    return null;
  }
}

export function callbackOf({ publicUrl }: Pick<ConsoleConfig, 'publicUrl'>): string {
  return new URL(CALLBACK_PATH, publicUrl).href;
}

async function discover({ issuer, discoveryUrl, clientId, clientSecret }: Settings): Promise<Configuration> {
  const answer = await fetch(discoveryUrl, { signal: AbortSignal.timeout(DISCOVERY_MS), redirect: 'error' });
  const metadata = METADATA.parse(await answer.json());
  if (metadata.issuer !== issuer) throw new Error(`the issuer calls itself ${metadata.issuer}, not ${issuer}`);
  const found = new Configuration(
    metadata as ServerMetadata, // what is needed of it was just checked; the rest is optional there too
    clientId,
    {},
    clientSecret === undefined ? None() : ClientSecretPost(clientSecret),
  );
  enableNonRepudiationChecks(found);
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated to stand out; the development issuer has no TLS
  if (metadata.token_endpoint.startsWith('http:')) allowInsecureRequests(found);
  return found;
}
