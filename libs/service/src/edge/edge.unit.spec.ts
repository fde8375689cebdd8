import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { requireAccess } from './access.js';
import { rolesOf, tenantOfCommand, tenantOfRead } from './principal.js';
import { ROLES } from './roles.js';
import { EdgeRefusal, problemOf } from './problem.js';
import { render } from './render.js';
import { idText, parse, tenantText } from './validate.js';

const DANA = { subject: 'dana', tenant: 'acme', roles: ['approver'] };
const ROOT = { subject: 'root', tenant: '*', roles: ['administrator'] };
const POSING = { subject: 'eve', tenant: '*', roles: ['approver'] };
const refused = (work: () => unknown): unknown => {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof EdgeRefusal ? error.code : error;
  }
};

describe('a tenant', () => {
  it('is that of the token, for reads and commands', () => {
    expect([tenantOfRead(DANA), tenantOfRead(DANA, 'acme'), tenantOfCommand(DANA, undefined)]).toEqual([
      'acme',
      'acme',
      'acme',
    ]);
    expect(refused(() => tenantOfRead(DANA, 'other'))).toBe('TENANT_FOREIGN');
    expect(refused(() => tenantOfCommand(DANA, 'other'))).toBe('TENANT_FOREIGN');
    expect(refused(() => tenantOfCommand(DANA, '*'))).toBe('TENANT_FOREIGN');
  });

  it('may be any for who speaks for all, and must be named in a command', () => {
    expect([tenantOfRead(ROOT), tenantOfRead(ROOT, 'acme'), tenantOfCommand(ROOT, 'acme')]).toEqual([
      undefined,
      'acme',
      'acme',
    ]);
    expect(refused(() => tenantOfCommand(ROOT, undefined))).toBe('INPUT_INVALID');
  });

  it('is none for who claims all without the role', () => {
    expect(refused(() => tenantOfRead(POSING))).toBe('TENANT_FOREIGN');
    expect(refused(() => tenantOfCommand(POSING, 'acme'))).toBe('TENANT_FOREIGN');
    expect(
      refused(() => {
        requireAccess({ roles: ['administrator', 'approver'], reach: 'all' }, POSING);
      }),
    ).toBe('ROLE_REQUIRED');
  });
});

describe('the roles of a token', () => {
  it('are a closed set: what is not in it gives nothing', () => {
    const ofTenant = Object.keys(ROLES).filter((role) => !role.startsWith('platform_'));
    expect(
      rolesOf(
        ofTenant.filter((role) => !['approver', 'agent'].includes(role)),
        'acme',
      ),
    ).toHaveLength(ofTenant.length - 2);
    const words = ['approver', 'approver', 'root', '__proto__', 'constructor', 'APPROVER'];
    expect(rolesOf(words, 'acme')).toEqual(['approver']);
  });

  it('are those of the page about people, with the same words', () => {
    const rows = [...readFileSync('docs/guides/people.md', 'utf8').matchAll(/^\| `(\w+)` \| ([^|]*) \|$/gm)].map(
      ([, role, gives]) => [role, gives],
    );
    expect(rows.filter(([role]) => Object.hasOwn(ROLES, role ?? ''))).toEqual(Object.entries(ROLES));
  });

  it('make nobody contract editor and approver at once; an administrator may be either', () => {
    expect(refused(() => rolesOf(['contract_editor', 'approver'], 'acme'))).toBe('ROLES_CONFLICT');
    for (const role of ['approver', 'operator', 'budget_owner', 'administrator'])
      expect(refused(() => rolesOf(['agent', role], 'acme'))).toBe('ROLES_CONFLICT');
    for (const roles of [
      ['administrator', 'approver'],
      ['administrator', 'contract_editor'],
    ])
      expect(rolesOf(roles, 'acme')).toEqual(roles);
  });

  it('for all tenants are those alone that say so: what one is in a tenant gives nothing in the others', () => {
    const everything = Object.keys(ROLES).filter((role) => role !== 'platform_editor');
    const own = ['auditor', 'administrator', 'platform_approver'];
    expect(rolesOf(everything, '*')).toEqual([...own, 'approver', 'platform_administrator']);
    expect(rolesOf(['approver', 'contract_editor', 'operator'], '*')).toEqual([]);
    expect(refused(() => rolesOf(['platform_editor', 'platform_approver'], '*'))).toBe('ROLES_CONFLICT');
    expect(rolesOf(['platform_editor', 'platform_approver', 'viewer'], 'acme')).toEqual(['viewer']);
  });

  it('tell an administrator of all tenants from one of a tenant, and no token says that it is one', () => {
    expect(rolesOf(['administrator'], '*')).toEqual(['administrator', 'platform_administrator']);
    expect(rolesOf(['administrator', 'platform_administrator'], 'acme')).toEqual(['administrator']);
    expect(rolesOf(['auditor', 'platform_administrator'], '*')).toEqual(['auditor']);
  });
});

describe('a problem', () => {
  it('has the code and status of what went wrong, and hides bugs', () => {
    expect(problemOf(new EdgeRefusal('NOT_FOUND', 'x'))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(problemOf(new Failure('DATABASE_UNAVAILABLE', 'secret host'))).toMatchObject({
      status: 503,
      code: 'DATABASE_UNAVAILABLE',
    });
    expect(JSON.stringify(problemOf(new Failure('DATABASE_UNAVAILABLE', 'secret host')))).not.toContain('secret');
    expect(problemOf(new Error('secret'))).toMatchObject({ status: 500, code: 'INTERNAL' });
    expect(JSON.stringify(problemOf(new Error('secret')))).not.toContain('secret');
    expect(problemOf(Object.assign(new Error('too large'), { statusCode: 413 }))).toMatchObject({
      status: 413,
      code: 'REQUEST_REFUSED',
    });
  });

  it('lists everything that is wrong with an input', () => {
    try {
      parse(z.strictObject({ id: idText, n: z.number() }), { id: 'a\0', n: 'x', more: 1 });
      throw new Error('was taken');
    } catch (error) {
      expect(error).toBeInstanceOf(EdgeRefusal);
      expect(problemOf(error).problems?.map(({ path }) => path)).toEqual(['/id', '/n', '/']);
    }
  });
});

describe('a tenant that is named', () => {
  const named = z.strictObject({ tenant: tenantText.optional() });

  it.each(['', ' ', 'acme ', 'a\nb'])('as %j is refused with its code', (tenant) => {
    expect(() => parse(named, { tenant })).toThrow(
      expect.objectContaining({
        code: 'INPUT_INVALID',
        problems: [expect.objectContaining({ code: 'TENANT_INVALID', path: '/tenant' })],
      }),
    );
  });

  it('is one, or all', () => {
    for (const tenant of ['acme', 'acme corp', '*', undefined]) expect(parse(named, { tenant })).toEqual({ tenant });
  });
});

describe('a rendered doc', () => {
  it('has bytes as hex and plain payloads as what they hold', () => {
    const sha256 = Buffer.alloc(2, 1);
    expect(
      render({
        hash: Buffer.from('ab', 'hex'),
        at: 5,
        list: [Buffer.from('cd', 'hex')],
        args: {
          content_type: 'application/json',
          encoding: 'plain',
          key_id: null,
          body: Buffer.from('{"a":1}'),
          sha256,
        },
        sealed: {
          content_type: 'application/json',
          encoding: 'sealed',
          key_id: 'k',
          body: Buffer.from('ff', 'hex'),
          sha256,
        },
        broken: { content_type: 'application/json', encoding: 'plain', key_id: null, body: Buffer.from('{'), sha256 },
      }),
    ).toEqual({
      hash: 'ab',
      at: 5,
      list: ['cd'],
      args: { content_type: 'application/json', encoding: 'plain', key_id: null, body: { a: 1 }, sha256: '0101' },
      sealed: { content_type: 'application/json', encoding: 'sealed', key_id: 'k', body: 'ff', sha256: '0101' },
      broken: { content_type: 'application/json', encoding: 'plain', key_id: null, body: '{', sha256: '0101' },
    });
  });
});
