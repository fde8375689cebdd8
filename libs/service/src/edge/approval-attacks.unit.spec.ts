// Attacks on approvals that end at the edge: whoever is not let in sends nothing. Those that a core refuses are in the orchestrator.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTHeaderParameters } from 'jose';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Doc } from '@recourse/event-log';
import { accessOf, requireAccess } from './access.js';
import { createAuthenticate } from './authenticate.js';
import { keysOfFile } from './issuer-keys.js';
import type { Authenticate } from './authenticate.js';
import { CommandEdge } from './command-edge.js';
import { directoryIn } from './directory.js';
import { tenantOfCommand } from './principal.js';

const ISSUER = 'urn:recourse:production';
const AUDIENCE = 'recourse';
const NOW_S = Math.floor(Date.now() / 1_000);
const folder = mkdtempSync(join(tmpdir(), 'recourse-attacks-'));
const file = join(folder, 'jwks.json');
const people = join(folder, 'directory.json');
let ours: CryptoKey;
let oursPublic: CryptoKey;
let theirs: CryptoKey;
let theirsPublic: JWK;
let authenticate: Authenticate;
let sent: { readonly type: string; readonly body: Doc }[] = [];

beforeAll(async () => {
  const [mine, other] = [
    await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true }),
    await generateKeyPair('EdDSA', { crv: 'Ed25519' }),
  ];
  [ours, oursPublic, theirs] = [mine.privateKey, mine.publicKey, other.privateKey];
  theirsPublic = await exportJWK(other.publicKey);
  writeFileSync(
    file,
    JSON.stringify({ keys: [{ ...(await exportJWK(mine.publicKey)), kid: 'ours', alg: 'EdDSA', use: 'sig' }] }),
  );
  writeFileSync(people, JSON.stringify({ olga: ['olga@work', 'olga-admin'] }));
  authenticate = createAuthenticate({
    issuer: ISSUER,
    audience: AUDIENCE,
    keys: keysOfFile(file),
    directory: directoryIn(people),
  });
});
beforeEach(() => {
  sent = [];
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'olga',
  tenant: 'acme',
  roles: ['approver'],
  iat: NOW_S,
  exp: NOW_S + 600,
};
type Claims = Readonly<Record<string, unknown>>;

/** A token with other claims than a good one; what is undefined is left out. */
function token(
  claims: Claims = {},
  {
    by = ours,
    header = {},
  }: { readonly by?: CryptoKey | Uint8Array; readonly header?: Partial<JWTHeaderParameters> } = {},
): Promise<string> {
  return new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader({ alg: 'EdDSA', kid: 'ours', ...header }).sign(by);
}
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Approves as the orchestrator's edge does: who asks, for which tenant, then a command. */
async function approveWith(bearer: string, tenant?: string): Promise<void> {
  const principal = await authenticate(`Bearer ${bearer}`);
  const about = tenantOfCommand(principal, tenant);
  let encoding = { type: '', body: {} as Doc };
  const edge = new CommandEdge({
    codecs: {
      prepareWriter: () => Promise.resolve(),
      encode: (_topic, type, body) => {
        encoding = { type, body: body as Doc };
        return Buffer.from('x');
      },
    },
    producer: () =>
      Promise.resolve({
        send: () => {
          sent.push(encoding);
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
    commandRow: () => Promise.resolve(null),
    edgeKey: Buffer.alloc(32, 7),
    patienceMs: 1,
  });
  await edge.submit({
    topic: 'recourse.recovery-commands',
    log: 'recourse.recoveries',
    type: 'recourse.recoveries.ApproveStep',
    key: 'run-1',
    principal,
    tenant: about,
    route: 'POST /v1/steps/s/approve',
    idempotencyKey: 'k',
    body: {},
    build: (envelope) => ({ envelope, step_id: 's' }),
  });
}
const envelopes = (): unknown[] => sent.map(({ body }) => body['envelope']);

describe('a token that is not ours to believe sends nothing', () => {
  it.each<[string, () => Promise<string>, string]>([
    ['of the staging issuer', () => token({ iss: 'urn:recourse:staging' }), 'TOKEN_REFUSED'],
    ['of our issuer with a slash behind', () => token({ iss: `${ISSUER}/` }), 'TOKEN_REFUSED'],
    ['of no issuer', () => token({ iss: undefined }), 'TOKEN_REFUSED'],
    ['of a list of issuers, ours among them', () => token({ iss: [ISSUER, 'urn:other'] }), 'TOKEN_REFUSED'],
    ['for another service', () => token({ aud: 'payroll' }), 'TOKEN_REFUSED'],
    ['for a list of other services', () => token({ aud: ['payroll', 'recourse-staging'] }), 'TOKEN_REFUSED'],
    ['for nobody', () => token({ aud: undefined }), 'TOKEN_REFUSED'],
    [
      'that expired a minute ago, as that of a revoked approver does',
      () => token({ exp: NOW_S - 60 }),
      'TOKEN_REFUSED',
    ],
    ['that never expires', () => token({ exp: undefined }), 'TOKEN_REFUSED'],
    ['whose expiry is a text', () => token({ exp: '9999999999' }), 'TOKEN_REFUSED'],
    ['that is not valid yet', () => token({ nbf: NOW_S + 600 }), 'TOKEN_REFUSED'],
    ['signed by another issuer under the id of our key', () => token({}, { by: theirs }), 'TOKEN_REFUSED'],
    [
      'signed by another issuer under its own key id',
      () => token({}, { by: theirs, header: { kid: 'theirs' } }),
      'TOKEN_REFUSED',
    ],
    [
      'that brings its own key along',
      () => token({}, { by: theirs, header: { jwk: theirsPublic, kid: undefined as never } }),
      'TOKEN_REFUSED',
    ],
    [
      'that says where its keys are',
      () => token({}, { by: theirs, header: { jku: 'http://127.0.0.1:1/jwks.json', kid: 'theirs' } }),
      'TOKEN_REFUSED',
    ],
    ['of no algorithm', () => Promise.resolve(`${part({ alg: 'none' })}.${part(CLAIMS)}.`), 'TOKEN_REFUSED'],
    [
      'of no algorithm in other letters',
      () => Promise.resolve(`${part({ alg: 'nOnE', kid: 'ours' })}.${part(CLAIMS)}.`),
      'TOKEN_REFUSED',
    ],
    [
      'signed HS256 with our public key as PEM',
      async () => token({}, { by: Buffer.from(await exportSPKI(oursPublic)), header: { alg: 'HS256' } }),
      'TOKEN_REFUSED',
    ],
    [
      'signed HS256 with the bytes of our public key',
      async () =>
        token({}, { by: Buffer.from((await exportJWK(oursPublic)).x ?? '', 'base64url'), header: { alg: 'HS256' } }),
      'TOKEN_REFUSED',
    ],
    [
      'of a good one with other claims put in',
      async () => {
        const [head, , mark] = (await token()).split('.');
        return `${head ?? ''}.${part({ ...CLAIMS, sub: 'pia' })}.${mark ?? ''}`;
      },
      'TOKEN_REFUSED',
    ],
    ['of a good one with its signature cut short', async () => (await token()).slice(0, -8), 'TOKEN_REFUSED'],
    [
      'of a good one without its signature',
      async () => `${(await token()).split('.').slice(0, 2).join('.')}.`,
      'TOKEN_REFUSED',
    ],
    [
      'that asks for an extension nobody knows',
      () =>
        new SignJWT(CLAIMS)
          .setProtectedHeader({ alg: 'EdDSA', kid: 'ours', crit: ['urn:x'], 'urn:x': 1 })
          .sign(ours, { crit: { 'urn:x': true } }),
      'TOKEN_REFUSED',
    ],
    ['that is two tokens', async () => `${await token()} ${await token()}`, 'TOKEN_MISSING'],
  ])('%s', async (_what, make, code) => {
    await expect(approveWith(await make())).rejects.toMatchObject({ code });
    expect(sent).toEqual([]);
  });
});

describe('a token of ours that says something odd sends nothing', () => {
  it.each<[string, Claims]>([
    ['roles as a text', { roles: 'approver' }],
    ['roles as an object', { roles: { 0: 'approver' } }],
    ['roles within roles', { roles: [['approver']] }],
    ['no roles', { roles: undefined }],
    ['an empty role', { roles: ['approver', ''] }],
    ['no tenant', { tenant: undefined }],
    ['two tenants', { tenant: ['acme', 'globex'] }],
    ['somebody of a number', { sub: 7 }],
    ['a directory subject of a number', { directory_subject: 7 }],
    ['two directory subjects', { directory_subject: ['olga', 'ines'] }],
    ['a directory subject of null', { directory_subject: null }],
  ])('%s', async (_what, claims) => {
    await expect(approveWith(await token(claims))).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
    expect(sent).toEqual([]);
  });

  it.each([[['contract_editor', 'approver']], [['approver', 'operator', 'contract_editor']], [['agent', 'approver']]])(
    'the roles %j at once',
    async (roles) => {
      await expect(approveWith(await token({ roles }))).rejects.toMatchObject({ code: 'ROLES_CONFLICT' });
      expect(sent).toEqual([]);
    },
  );
});

describe('a token for another tenant sends nothing', () => {
  it.each<[string, Claims, string]>([
    ['globex', { tenant: 'globex' }, 'acme'],
    ['the same in capitals', { tenant: 'ACME' }, 'acme'],
    ['all, carried by an approver', { tenant: '*' }, 'acme'],
    ['all, claimed with an unknown role', { tenant: '*', roles: ['approver', 'root'] }, 'acme'],
    ['its own, said of all', { tenant: 'acme' }, '*'],
  ])('%s', async (_what, claims, about) => {
    await expect(approveWith(await token(claims), about)).rejects.toMatchObject({ code: 'TENANT_FOREIGN' });
    expect(sent).toEqual([]);
  });

  it('the same with a blank, which is no tenant at all', async () => {
    await expect(approveWith(await token({ tenant: 'acme ' }))).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
    expect(sent).toEqual([]);
  });
});

describe('who a token is for', () => {
  it.each<[string, Claims]>([
    ['another person', { sub: 'olga', directory_subject: 'ines' }],
    ['another person, of an account of hers', { sub: 'olga@work', directory_subject: 'ines' }],
    ['a person whose account it is not', { sub: 'ines', directory_subject: 'olga' }],
    ['a person of no name', { sub: 'olga', directory_subject: '' }],
  ])('says the directory, whoever the token names: %s', async (_what, claims) => {
    await expect(approveWith(await token(claims))).rejects.toMatchObject({ code: 'PRINCIPAL_INVALID' });
    expect(sent).toEqual([]);
  });

  it.each([
    ['a variation selector', 'olga\ufe0f'],
    ['a grapheme joiner', 'ol\u034fga'],
    ['a filler', 'olga\u3164'],
    ['a braille blank', 'olga\u2800'],
    ['a tag', 'olga\u{e0061}'],
    ['a zero-width space', 'ol\u200bga'],
    ['a Cyrillic letter', '\u043elga'],
    ['a blank', 'olga '],
    ['nothing', ''],
    ['no end', 'x'.repeat(257)],
    ['the name of a policy', 'policy:notices@1'],
    ['the name of a policy that looks like a person', 'user:Policy:notices@1'],
  ])('has a subject in the closed alphabet: not with %s', async (_what, sub) => {
    await expect(approveWith(await token({ sub }))).rejects.toMatchObject({ code: 'PRINCIPAL_INVALID' });
    expect(sent).toEqual([]);
  });

  it('is one human under two accounts, and both go with what they ask', async () => {
    for (const sub of ['olga@work', 'Olga-Admin']) await approveWith(await token({ sub }));
    const asking = { principal: 'olga', accounts: ['olga@work', 'olga-admin'] };
    expect(envelopes()).toMatchObject([asking, asking]);
    const [one, two] = envelopes() as { readonly command_id: string }[];
    expect(one?.command_id).toBe(two?.command_id);
  });

  it('carries the roles that are known and no power beside: words nobody defined, and the right word in other letters', async () => {
    await approveWith(await token({ roles: ['root', 'Approver', 'approver ', 'constructor', 'reporter', 'reporter'] }));
    expect(envelopes()).toMatchObject([{ roles: ['reporter'] }]);
    const principal = await authenticate(`Bearer ${await token({ roles: ['Approver', 'toString'] })}`);
    expect(() => {
      requireAccess(accessOf('recovery-orchestrator')('POST /v1/steps/:id/approve'), principal);
    }).toThrow(expect.objectContaining({ code: 'ROLE_REQUIRED' }));
  });

  it('is let in as approver of one tenant, as nobody else', async () => {
    await approveWith(await token());
    expect(envelopes()).toMatchObject([{ principal: 'olga', tenant: 'acme', roles: ['approver'] }]);
  });
});
