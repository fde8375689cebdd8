// The page: one document for every address, and its files. Nothing that runs or styles stands in the document itself.
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConsoleRefusal } from '../problem.js';

/** Stands in the built document where each answer has a word of its own: components that add a style sheet sign it so. */
export const NONCE_PLACE = '__NONCE__';
/** Stands where each answer says how far services had come before it: what a page reads is from then or later. */
export const POSITION_PLACE = '__POSITION__';

/** Scripts of our own files; styles too, or with the word of this answer; nothing from or to anywhere else. */
export function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

export const HEADERS: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const YEAR_S = 31_536_000;

export interface PageParts {
  /** Holds what Vite built. */
  readonly folder: string;
  /** Where the stream of who asks goes on; empty where it begins. */
  readonly positionFor: (request: FastifyRequest) => string;
}

/** Errors: when there is no page in the folder. */
export async function addPage(app: FastifyInstance, { folder, positionFor }: PageParts): Promise<void> {
  const document = readFileSync(join(folder, 'index.html'), 'utf8');
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    index: false,
    // Their names are made of what is in them.
    maxAge: YEAR_S * 1_000,
    immutable: true,
    preCompressed: true,
  });
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' && !/^\/(api|assets|auth|events|session)(\/|$)/.test(request.url);
    if (!isPage) throw new ConsoleRefusal('PAGE_MISSING');
    const nonce = randomBytes(16).toString('base64url');
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-security-policy', policyOf(nonce))
      .send(document.replaceAll(NONCE_PLACE, nonce).replaceAll(POSITION_PLACE, positionFor(request)));
  });
}
