// Sign-in at the development issuer: the OpenID Connect code flow with PKCE, without any password.
//
// Boundary: believes whoever says who they are, as all of this issuer does. What it holds to are the bounds of the flow, so that a
// program that signs in here signs in elsewhere: S256 only, a code is used once, within a minute, for one redirect.
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { PEOPLE, signInPage, SHEET } from './sign-in-page.js';

/** What a token says of its holder. */
export interface Claims {
  readonly subject: string;
  readonly tenant: string;
  readonly roles: readonly string[];
}

export interface CodeFlow {
  readonly issuer: string;
  /** Signs an access token. */
  readonly accessToken: (claims: Claims) => Promise<string>;
  /** Signs an identity token for a client. */
  readonly idToken: (
    claims: Claims,
    of: { readonly clientId: string; readonly nonce: string | undefined },
  ) => Promise<string>;
  readonly lifetimeS: number;
  readonly now?: () => number;
}

/** Programs that sign people in run on this machine: nobody else is handed a code. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost)(:\d{1,5})?\/[\w/-]*$/;
/** From the page to the exchange, milliseconds. */
const CODE_LIVES_MS = 60_000;
/** Codes that nobody came for; the oldest goes. */
const CODES_MAX = 1_000;

const text = z.string().min(1).max(512);
const AUTHORIZE = z.object({
  client_id: text,
  redirect_uri: z.string().regex(LOOPBACK, 'must lead to this machine'),
  response_type: z.literal('code'),
  code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  code_challenge_method: z.literal('S256'),
  state: text.optional(),
  nonce: text.optional(),
  scope: z.string().max(512).optional(),
});
const CHOICE = AUTHORIZE.extend({
  subject: z.string().min(1).max(256),
  tenant: z.string().min(1).max(128),
  roles: z
    .string()
    .max(512)
    .default('')
    .transform((words) => words.split(/[\s,]+/).filter((word) => word !== '')),
});
const EXCHANGE = z.object({
  grant_type: z.literal('authorization_code'),
  code: text,
  redirect_uri: text,
  client_id: text,
  code_verifier: z.string().min(43).max(128),
});

type Authorization = z.infer<typeof AUTHORIZE>;

interface Issued {
  readonly claims: Claims;
  readonly asked: Authorization;
  readonly at: number;
}

/** Adds discovery, the sign-in page and the exchange of codes. */
export function addCodeFlow(app: FastifyInstance, flow: CodeFlow): void {
  const { now = Date.now } = flow;
  const codes = new Map<string, Issued>();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body.toString())));
  });
  app.get('/.well-known/openid-configuration', ({ host }) => discovery(flow.issuer, `http://${host}`));
  app.get('/sign-in.css', (_request, reply) => reply.type('text/css').send(SHEET));
  app.get('/authorize', (request, reply) => {
    const asked = AUTHORIZE.safeParse(request.query);
    if (!asked.success) return refuse(reply, asked.error.issues);
    return page(reply, signInPage(fieldsOf(asked.data), PEOPLE));
  });
  app.post('/authorize', (request, reply) => {
    const chosen = CHOICE.safeParse(request.body);
    if (!chosen.success) return refuse(reply, chosen.error.issues);
    const { subject, tenant, roles, ...asked } = chosen.data;
    const code = randomBytes(24).toString('base64url');
    codes.set(code, { claims: { subject, tenant, roles }, asked, at: now() });
    const [oldest] = codes.keys();
    if (codes.size > CODES_MAX && oldest !== undefined) codes.delete(oldest);
    const back = new URL(asked.redirect_uri);
    back.searchParams.set('code', code);
    back.searchParams.set('iss', flow.issuer);
    if (asked.state !== undefined) back.searchParams.set('state', asked.state);
    return reply.redirect(back.href, 303);
  });
  app.post('/oauth/token', async (request, reply) => {
    const given = EXCHANGE.safeParse(request.body);
    const issued = given.success ? codes.get(given.data.code) : undefined;
    if (!given.success || issued === undefined || !fits(given.data, issued, now()))
      return reply.status(400).send({ error: given.success ? 'invalid_grant' : 'invalid_request' });
    codes.delete(given.data.code);
    return reply.header('cache-control', 'no-store').send(await tokens(flow, issued));
  });
}

async function tokens(flow: CodeFlow, { claims, asked }: Issued): Promise<object> {
  return {
    access_token: await flow.accessToken(claims),
    id_token: await flow.idToken(claims, { clientId: asked.client_id, nonce: asked.nonce }),
    token_type: 'Bearer',
    expires_in: flow.lifetimeS,
  };
}

/** Does an exchange fit what the code was given for? */
function fits(given: z.infer<typeof EXCHANGE>, { asked, at }: Issued, now: number): boolean {
  const challenge = createHash('sha256').update(given.code_verifier).digest('base64url');
  return (
    now - at <= CODE_LIVES_MS &&
    challenge === asked.code_challenge &&
    given.client_id === asked.client_id &&
    given.redirect_uri === asked.redirect_uri
  );
}

function discovery(issuer: string, address: string): object {
  return {
    issuer,
    authorization_endpoint: `${address}/authorize`,
    token_endpoint: `${address}/oauth/token`,
    jwks_uri: `${address}/jwks.json`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  };
}

function fieldsOf(asked: Authorization): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** No script at all, and the form goes nowhere but here and back to a program of this machine. */
const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self' http://127.0.0.1:* http://localhost:*; frame-ancestors 'none'; base-uri 'none'";

function page(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('cache-control', 'no-store')
    .send(html);
}

function refuse(reply: FastifyReply, problems: readonly z.core.$ZodIssue[]): FastifyReply {
  return reply.status(400).type('application/problem+json').send({ code: 'INPUT_INVALID', problems });
}
