// Where a program's token comes from: itself, a variable, a file that somebody renews, or a development issuer.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '@recourse/kernel';
import { bodyOf, docOf, edgeClient, EdgeProblem } from '../edge/edge.js';
import type { EdgeOptions } from '../edge/edge.js';
import { ConnectProblem } from './connect.problem.js';
import { valueIn } from './whereabouts.js';
import type { Environment } from './whereabouts.js';

/** Answers the token of the next request. Errors: ConnectProblem(TOKEN_MISSING, ISSUER_UNREACHABLE). */
export type TokenSource = () => Promise<string>;

/** What a token is asked for with. */
export interface TokenAsk {
  /** The token itself, or who answers it. */
  readonly token?: string | (() => Promise<string>);
  readonly environment: Environment;
  /** Relative paths are meant from here. */
  readonly folder: string;
  readonly issuerUrl: string | null;
  /** Whom a development issuer is asked a token for. */
  readonly subject: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly clock: Clock;
  readonly fetch?: EdgeOptions['fetch'];
}

/** A token is asked for anew when less than this is left of it; milliseconds. */
const RENEW_LEAD_MS = 60_000;

/** The first source that is known: given, RECOURSE_TOKEN_FILE, RECOURSE_TOKEN, a development issuer. Errors: ConnectProblem(TOKEN_MISSING, ISSUER_UNREACHABLE). */
export function tokenSource(ask: TokenAsk): TokenSource {
  const { token, environment, folder, issuerUrl } = ask;
  if (typeof token === 'function') return token;
  const file = valueIn(environment, 'RECOURSE_TOKEN_FILE');
  const said = token ?? (file === undefined ? valueIn(environment, 'RECOURSE_TOKEN') : undefined);
  if (said !== undefined) return () => Promise.resolve(said);
  if (file !== undefined) return () => tokenIn(resolve(folder, file));
  if (issuerUrl !== null) return issuedBy(issuerUrl, ask);
  throw new ConnectProblem('TOKEN_MISSING', 'nothing gives a token');
}

/** Read at each request: whoever renews it writes the file anew. */
async function tokenIn(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new ConnectProblem('TOKEN_MISSING', `${file} cannot be read`, { cause });
  }
}

function issuedBy(url: string, { subject, tenant, roles, clock, fetch }: TokenAsk): TokenSource {
  const issuer = edgeClient({
    url,
    name: 'the development issuer',
    token: () => Promise.resolve(null),
    ...(fetch === undefined ? {} : { fetch }),
  });
  let held: { readonly token: string; readonly until: number } | null = null;
  return async () => {
    if (held !== null && clock.now() < held.until) return held.token;
    const askedAt = clock.now();
    const body = await issuer
      .ask({ method: 'POST', path: '/token', body: { subject, tenant, roles } })
      .then(bodyOf)
      .catch((cause: unknown) => {
        const isAway = cause instanceof EdgeProblem && cause.status === null;
        throw isAway
          ? new ConnectProblem('ISSUER_UNREACHABLE', `the development issuer at ${url} does not answer`, { cause })
          : new ConnectProblem('TOKEN_MISSING', `the development issuer at ${url} gave no token`, { cause });
      });
    const { access_token: token, expires_in: seconds } = body;
    if (typeof token !== 'string')
      throw new ConnectProblem('TOKEN_MISSING', `the development issuer at ${url} gave no token`);
    held = { token, until: askedAt + Number(seconds ?? 0) * 1_000 - RENEW_LEAD_MS };
    return token;
  };
}

/** The tenant a token names; null where it names none. Nobody is believed by it: the services check the token. Pure. */
export function tenantIn(token: string): string | null {
  try {
    const claims = docOf(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
    const { tenant } = claims;
    return typeof tenant === 'string' && tenant !== '*' ? tenant : null;
  } catch {
    return null;
  }
}
