// Signing in and out, and who is signed in.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { giveAnything, rolesGiven } from '@recourse/service/roles';
import { ConsoleRefusal } from '../problem.js';
import type { Issuer } from './issuer.js';
import { CALLBACK_PATH } from './issuer.js';
import type { Session, Sessions } from './sessions.js';
import { isSame, isWordOf } from './sessions.js';
import { SIGN_IN_MS, signInCookie, surplusOf } from './sign-in-cookie.js';
import type { SignInSeal } from './sign-in-cookie.js';

export interface SignInParts {
  readonly issuer: Issuer;
  readonly sessions: Sessions;
  readonly seal: SignInSeal;
  /** Address of the console as browsers reach it. */
  readonly publicUrl: string;
  readonly sessionMs: number;
  readonly now: () => number;
}

/** A page sends the word of its session in it. */
export const CSRF_HEADER = 'x-recourse-csrf';

/** Over TLS the names hold browsers to it: no other host, no other path, never in the clear. */
export function cookieNames(publicUrl: string): { readonly session: string; readonly signIn: string } {
  const prefix = publicUrl.startsWith('https:') ? '__Host-' : '';
  return { session: `${prefix}recourse_session`, signIn: `${prefix}recourse_sign_in` };
}

/** Finds the session of a request. Errors: ConsoleRefusal(SESSION_MISSING). */
export type SessionOf = (request: FastifyRequest) => Session;

export function sessionOf({ sessions, publicUrl }: Pick<SignInParts, 'sessions' | 'publicUrl'>): SessionOf {
  const { session: name } = cookieNames(publicUrl);
  return ({ cookies }) => {
    const found = sessions.find(cookies[name]);
    if (found === null) throw new ConsoleRefusal('SESSION_MISSING');
    return found;
  };
}

/** True where the roles of a session give anything: who has none reads nothing here either. */
export function reads({ person: { roles, tenant } }: Session): boolean {
  return giveAnything(roles, tenant);
}

/** Finds the session of a request that may read. Errors: ConsoleRefusal(SESSION_MISSING, ROLE_REQUIRED). */
export function readerOf(whose: SessionOf): SessionOf {
  return (request) => {
    const session = whose(request);
    if (!reads(session)) throw new ConsoleRefusal('ROLE_REQUIRED');
    return session;
  };
}

/** Lets through only what a page of the session sent. Errors: ConsoleRefusal(CSRF_REFUSED). */
export function requireOwnPage({ headers }: FastifyRequest, session: Session, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOurs = origin === undefined || origin === new URL(publicUrl).origin;
  if (!isOurs || (site !== undefined && site !== 'same-origin') || !isWordOf(session, headers[CSRF_HEADER]))
    throw new ConsoleRefusal('CSRF_REFUSED');
}

/** Where a browser says that a request comes from: a page of ours, or an address that somebody entered. */
const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

/** Lets nothing be read because a page elsewhere led here: readings of payloads are on record under a name. Errors: ConsoleRefusal(CSRF_REFUSED). */
export function requireOwnSite({ headers }: FastifyRequest): void {
  if (!OWN_SITES.includes(headers['sec-fetch-site'])) throw new ConsoleRefusal('CSRF_REFUSED');
}

export function addSignIn(app: FastifyInstance, parts: SignInParts): void {
  const { issuer, sessions, seal, publicUrl } = parts;
  const names = cookieNames(publicUrl);
  const whose = sessionOf(parts);
  app.get<{ Querystring: { then?: string } }>('/auth/sign-in', async ({ query, cookies }, reply) => {
    const { to, kept } = await issuer.leave();
    const carried = seal.seal({ ...kept, then: pathOf(query.then) });
    for (const name of surplusOf(names.signIn, cookies, carried.length))
      setCookie(reply, name, '', { publicUrl, lifeMs: 0 });
    const name = signInCookie(names.signIn, kept.state);
    return setCookie(reply, name, carried, { publicUrl, lifeMs: SIGN_IN_MS }).redirect(to, 303);
  });
  addComingBack(app, parts);
  app.post('/auth/sign-out', (request, reply) => {
    const session = whose(request);
    requireOwnPage(request, session, publicUrl);
    sessions.end(session.id, 'sign-out');
    return setCookie(reply, names.session, '', { publicUrl, lifeMs: 0 }).status(204).send();
  });
  app.get('/session', (request) => {
    const { person, csrf, endsAt } = whose(request);
    // As the services count them: the page offers by them.
    return { ...person, roles: rolesGiven(person.roles, person.tenant), csrf, ends_at: endsAt };
  });
}

function addComingBack(app: FastifyInstance, { issuer, sessions, seal, publicUrl, ...parts }: SignInParts): void {
  const names = cookieNames(publicUrl);
  app.get<{ Querystring: { state?: unknown } }>(CALLBACK_PATH, async (request, reply) => {
    const { cookies, query } = request;
    const name = signInCookie(names.signIn, String(query.state));
    const kept = seal.open(cookies[name]);
    if (kept === null) {
      if (sessions.find(cookies[names.session]) === null) throw new ConsoleRefusal('SIGN_IN_REFUSED');
      // It came back before, or too late, and somebody is signed in: nobody is told that they are not.
      return reply.redirect('/', 303);
    }
    const { person, token, tokenEndsAt } = await issuer.comeBack(new URL(request.url, publicUrl), kept);
    setCookie(reply, name, '', { publicUrl, lifeMs: 0 });
    const before = sessions.find(cookies[names.session]);
    // Pages that signed in side by side are of one session: the last of them would end it under the others.
    if (before !== null && isSame(before.person, person) && before.openedAt > kept.endsAt - SIGN_IN_MS)
      return reply.redirect(kept.then, 303);
    // Whoever was signed in at this browser before no longer is.
    sessions.end(before?.id, 'sign-in');
    const lifeMs = Math.min(parts.sessionMs, tokenEndsAt - parts.now());
    const { id } = sessions.open(person, token, lifeMs);
    return setCookie(reply, names.session, id, { publicUrl, lifeMs }).redirect(kept.then, 303);
  });
}

function setCookie(
  reply: FastifyReply,
  name: string,
  value: string,
  { publicUrl, lifeMs }: { readonly publicUrl: string; readonly lifeMs: number },
): FastifyReply {
  return reply.setCookie(name, value, {
    path: '/',
    httpOnly: true,
    // The issuer is another site: coming back from it is a navigation, which carries such a cookie; nothing else does.
    sameSite: 'lax',
    secure: publicUrl.startsWith('https:'),
    maxAge: Math.floor(lifeMs / 1_000),
  });
}

/** A browser carries it in a cookie, of which it takes 4 KB. */
const PATH_MAX = 1_000;

/** Where to go on after signing in: a path of this console, and nowhere else. */
export function pathOf(asked: unknown): string {
  if (typeof asked !== 'string' || !/^\/(?![/\\])/.test(asked)) return '/';
  const base = 'http://console.invalid';
  if (!URL.canParse(asked, base)) return '/';
  const { origin, pathname, search } = new URL(asked, base);
  const path = `${pathname}${search}`;
  return origin === base && !pathname.startsWith('//') && path.length <= PATH_MAX ? path : '/';
}
