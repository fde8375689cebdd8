import { describe, expect, it } from '@jest/globals';
import { requireAccess } from './access.js';
import type { Access } from './access.js';
import { idleRolesOf, requireSomeRole, rolesOf } from './principal.js';
import type { Principal } from './principal.js';
import { EdgeRefusal } from './problem.js';

function holder(tenant: string, ...words: readonly string[]): Principal {
  const idle = idleRolesOf(words, tenant);
  return { subject: 'dana', tenant, roles: rolesOf(words, tenant), ...(idle !== undefined && { idle }) };
}
function refusal(work: () => void): { readonly message: string; readonly problems: readonly string[] } {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof EdgeRefusal && thrown.code === 'ROLE_REQUIRED')
      return { message: thrown.message, problems: thrown.problems.map(({ code }) => code) };
  }
  throw new Error('nothing was refused for want of a role');
}
const ROW: Access = { roles: ['operator', 'approver'], reach: 'tenant' };

describe('a role that gives nothing where its token is for', () => {
  it.each([
    ['viewer', '*', 'ROLE_OF_ONE_TENANT', 'viewer for all tenants (*)'],
    ['platform_editor', 'acme', 'ROLE_OF_ALL_TENANTS', 'platform_editor for acme'],
  ])('is named, with where it counts: %s for %s', (role, tenant, code, said) => {
    const { message, problems } = refusal(() => {
      requireSomeRole(holder(tenant, role));
    });
    expect(message).toBe(`the token carries ${said}, where that gives nothing`);
    expect(problems).toEqual([code]);
  });

  it.each([
    [['auditor', 'operator'], '*', 'ROLE_OF_ONE_TENANT'],
    [['auditor', 'platform_approver'], 'acme', 'ROLE_OF_ALL_TENANTS'],
  ])('is named by the row of a route that asks for it: %j for %s', (words, tenant, code) => {
    expect(
      refusal(() => {
        requireAccess(ROW, holder(tenant, ...words));
      }).problems,
    ).toEqual([code]);
  });

  it('is said of a role that a route asks for of all tenants', () => {
    expect(
      refusal(() => {
        requireAccess({ roles: ['administrator'], reach: 'all' }, holder('acme', 'administrator'));
      }).problems,
    ).toEqual(['ROLE_OF_ALL_TENANTS']);
  });

  it('is not said of a token that lacks the role everywhere', () => {
    for (const lacking of [holder('acme', 'viewer'), holder('*', 'auditor', 'viewer')]) {
      const { message, problems } = refusal(() => {
        requireAccess(ROW, lacking);
      });
      expect([message, problems]).toEqual(['one of the roles operator, approver is needed', []]);
    }
    const none = refusal(() => {
      requireSomeRole(holder('*', 'root', 'constructor'));
    });
    expect([none.message, none.problems]).toEqual([expect.stringMatching(/none of the roles viewer, /), []]);
  });
});
