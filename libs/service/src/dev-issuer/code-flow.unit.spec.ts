// The development issuer as a program that signs people in sees it.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { decodeJwt } from 'jose';
import { createDevIssuer } from '../dev-issuer.main.js';

const VERIFIER = 'v'.repeat(64);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const REDIRECT = 'http://127.0.0.1:4000/auth/callback';
const ASKED = {
  client_id: 'console',
  redirect_uri: REDIRECT,
  response_type: 'code',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  state: 'a state',
  nonce: 'a nonce',
};
const MIRA = { subject: 'mira', tenant: 'demo', roles: 'approver operator' };

let folder: string;
let issuer: FastifyInstance;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-issuer-'));
  issuer = await createDevIssuer({ dataDir: folder, issuer: 'https://issuer.test', audience: 'recourse' });
});
afterEach(async () => {
  await issuer.close();
  rmSync(folder, { recursive: true });
});

const form = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString();
const send = (url: string, fields: Readonly<Record<string, string>>) =>
  issuer.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: form(fields),
  });

async function codeFor(fields: Readonly<Record<string, string>> = MIRA): Promise<string> {
  const { headers } = await send('/authorize', { ...ASKED, ...fields });
  return new URL(String(headers.location)).searchParams.get('code') ?? '';
}
const exchange = (code: string, more: Readonly<Record<string, string>> = {}) =>
  send('/oauth/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    client_id: 'console',
    code_verifier: VERIFIER,
    ...more,
  });

describe('the code flow of the development issuer', () => {
  it('hands out a token that the edges take, and an identity token with the nonce, for a code and its verifier', async () => {
    const answer = await exchange(await codeFor());
    const tokens = answer.json<{ access_token: string; id_token: string }>();
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      iss: 'https://issuer.test',
      aud: 'recourse',
      sub: 'mira',
      tenant: 'demo',
      roles: ['approver', 'operator'],
    });
    expect(decodeJwt(tokens.id_token)).toMatchObject({ aud: 'console', sub: 'mira', nonce: 'a nonce' });
  });

  it.each([
    ['another verifier', { code_verifier: 'w'.repeat(64) }],
    ['another redirect', { redirect_uri: 'http://127.0.0.1:4001/auth/callback' }],
    ['another client', { client_id: 'somebody' }],
  ])('gives nothing for %s', async (_what, more) => {
    const answer = await exchange(await codeFor(), more);
    expect([answer.statusCode, answer.json()]).toEqual([400, { error: 'invalid_grant' }]);
  });

  it('takes a code once', async () => {
    const code = await codeFor();
    expect((await exchange(code)).statusCode).toBe(200);
    expect((await exchange(code)).statusCode).toBe(400);
  });

  it.each([
    ['to another machine', { redirect_uri: 'https://elsewhere.example/auth/callback' }],
    ['to a name that only begins like this one', { redirect_uri: 'http://127.0.0.1.elsewhere.example/x' }],
    ['without S256', { code_challenge_method: 'plain' }],
  ])('sends nobody back %s', async (_what, more) => {
    expect((await send('/authorize', { ...ASKED, ...MIRA, ...more })).statusCode).toBe(400);
    expect((await issuer.inject({ url: `/authorize?${form({ ...ASKED, ...more })}` })).statusCode).toBe(400);
  });

  it('carries what it was given through a page on which no script runs', async () => {
    const page = await issuer.inject({ url: `/authorize?${form({ ...ASKED, state: '"><script>alert(1)</script>' })}` });
    expect(page.body).not.toContain('<script');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.body).toContain('Development only');
  });
});
