// Development issuer: issues any token to anyone, so that the stack runs without a directory; a page signs people in by the code flow.
//
// Variables: RECOURSE_ISSUER_PORT, RECOURSE_ISSUER_DATA_DIR (keeps the key), RECOURSE_JWT_ISSUER, RECOURSE_JWT_AUDIENCE.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigInvalid, loadConfig, port, text } from '@recourse/config';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { z } from 'zod';
import { addCodeFlow } from './dev-issuer/code-flow.js';
import type { Claims } from './dev-issuer/code-flow.js';
import { openApiSchema } from './edge/validate.js';

export const ISSUER_CONFIG = {
  port: port('RECOURSE_ISSUER_PORT', { doc: 'Port the development issuer listens on.', fallback: '0' }),
  dataDir: text('RECOURSE_ISSUER_DATA_DIR', { doc: 'Folder that keeps its key.' }),
  issuer: text('RECOURSE_JWT_ISSUER', { doc: 'Issuer its tokens name.' }),
  audience: text('RECOURSE_JWT_AUDIENCE', { doc: 'Audience its tokens name.' }),
} as const;

const WARNING =
  'DEVELOPMENT ONLY: this issuer gives a token for any subject, role and tenant to whoever asks. Never run it where anything is worth protecting.';
/** A working day. */
const LIFETIME_S = 8 * 3_600;
const ASK = z.strictObject({
  subject: z.string().min(1).max(256),
  tenant: z.string().min(1).max(128),
  roles: z.array(z.string().min(1).max(64)).max(32).default([]),
});

interface IssuerKey {
  readonly sign: CryptoKey;
  readonly published: JWK;
}

/** Makes the issuer; the key is made at the first start and kept. */
export async function createDevIssuer({
  dataDir,
  issuer,
  audience,
}: {
  readonly dataDir: string;
  readonly issuer: string;
  readonly audience: string;
}): Promise<FastifyInstance> {
  const key = await keyIn(dataDir);
  writeFileSync(join(dataDir, 'jwks.json'), JSON.stringify({ keys: [key.published] }));
  const app = fastify({ logger: false });
  app.get('/', () => ({
    warning: WARNING,
    issuer,
    audience,
    token: { method: 'POST', path: '/token', body: openApiSchema(ASK) },
  }));
  app.get('/jwks.json', () => ({ keys: [key.published] }));
  app.post('/token', async (request, reply) => {
    const asked = ASK.safeParse(request.body);
    if (!asked.success)
      return reply
        .status(400)
        .type('application/problem+json')
        .send({ code: 'INPUT_INVALID', problems: asked.error.issues });
    const token = await sign(asked.data, { key, issuer, audience });
    return { access_token: token, token_type: 'Bearer', expires_in: LIFETIME_S, warning: WARNING };
  });
  addCodeFlow(app, {
    issuer,
    lifetimeS: LIFETIME_S,
    accessToken: (claims) => sign({ ...claims }, { key, issuer, audience }),
    idToken: ({ subject }, { clientId, nonce }) => sign({ subject, nonce }, { key, issuer, audience: clientId }),
  });
  return app;
}

interface Signing {
  readonly key: IssuerKey;
  readonly issuer: string;
  readonly audience: string;
}

type Signed = Pick<Claims, 'subject'> & Readonly<Record<string, string | readonly string[] | undefined>>;

function sign({ subject, ...claims }: Signed, { key, issuer, audience }: Signing): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', kid: key.published.kid ?? '' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(`${String(LIFETIME_S)}s`)
    .sign(key.sign);
}

async function keyIn(folder: string): Promise<IssuerKey> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'issuer-key.json');
  if (!existsSync(path)) await makeKey(path);
  // makeKey wrote it.
  const secret = JSON.parse(readFileSync(path, 'utf8')) as JWK;
  const { d: _secret, ...open } = secret;
  const sign = await importJWK(secret, 'EdDSA');
  if (sign instanceof Uint8Array) throw new TypeError(`${path} holds no Ed25519 key`);
  return { sign, published: { ...open, alg: 'EdDSA', use: 'sig', kid: await calculateJwkThumbprint(open) } };
}

async function makeKey(path: string): Promise<void> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  writeFileSync(`${path}.new`, JSON.stringify(await exportJWK(privateKey)), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

async function main(): Promise<void> {
  try {
    const config = loadConfig(
      ISSUER_CONFIG,
      Object.fromEntries(Object.values(ISSUER_CONFIG).map(({ name }) => [name, process.env[name]])),
    );
    const app = await createDevIssuer(config);
    const url = await app.listen({ port: config.port, host: '127.0.0.1' });
    process.stdout.write(`${JSON.stringify({ level: 'warn', service: 'dev-issuer', url, msg: WARNING })}\n`);
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        void app.close();
      });
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigInvalid ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

if (import.meta.main) await main();
