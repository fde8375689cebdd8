// What a second person is shown of a proposal, and who that may be.
import { describe, expect, it } from '@jest/globals';
import { bindsWords, changeOf, confirmHappens, ownerWords, refusedConfirm, versionsOf } from './proposals.rules.js';

const version = (tenant: string, number: number, more: object = {}) => ({
  tenant,
  version: number,
  retired: false,
  contract: { of: tenant, version: number },
  ...more,
});
const PROPOSAL = {
  tenant: 'acme',
  name: 'a.b',
  proposed_by: 'olga',
  digest: 'ab',
  contract: { of: 'acme', version: 11 },
};
const person = (subject: string, tenant: string, ...roles: string[]) => ({
  subject,
  tenant,
  roles,
  csrf: '',
  ends_at: 0,
});

describe('a proposal for a second person', () => {
  it('stands beside the newest contract of its owner, or the platform’s where the owner has none that binds', () => {
    const versions = [version('acme', 9), version('acme', 10), version('*', 3), version('globex', 12)];
    expect(changeOf(PROPOSAL, versions)).toEqual({ then: { of: 'acme', version: 10 }, now: PROPOSAL.contract });
    const retired = [version('acme', 9), version('acme', 10, { retired: true }), version('*', 3)];
    expect(changeOf(PROPOSAL, retired).then).toEqual({ of: '*', version: 3 });
    expect(changeOf(PROPOSAL, []).then).toBeUndefined();
  });

  it('that retires what binds stands beside the platform’s, which would bind then', () => {
    const retiring = { ...PROPOSAL, retires: true, weakenings: ['impact'] };
    expect(changeOf(retiring, [version('acme', 11), version('*', 3)])).toEqual({
      then: { of: 'acme', version: 11 },
      now: { of: '*', version: 3 },
    });
    expect(confirmHappens(retiring)).toEqual([
      expect.stringContaining('retired'),
      'Weaker: impact.',
      'Its digest is ab.',
    ]);
  });

  it.each([
    ['the editor of its tenant', person('mira', 'acme', 'contract_editor'), 'acme', null],
    ['an administrator of all', person('mira', '*', 'administrator'), 'acme', null],
    ['the editor of the platform', person('mira', '*', 'platform_editor'), '*', null],
    ['who proposed it', person('olga', 'acme', 'contract_editor'), 'acme', /second person/],
    ['an approver', person('mira', 'acme', 'approver'), 'acme', /roles/],
    ['the editor of a tenant, the platform’s', person('mira', 'acme', 'contract_editor'), '*', /platform/],
    ['the editor of the platform, a tenant’s', person('mira', '*', 'platform_editor'), 'acme', /roles/],
  ])('is confirmed by %s: %j', (_what, who, tenant, why) => {
    const refused = refusedConfirm(who, { ...PROPOSAL, tenant });
    expect(refused ?? '').toMatch(why ?? /^$/);
  });
});

describe('a contract that an owner and the platform have under one name', () => {
  const all = [version('acme', 1), version('*', 7), version('acme', 2), version('*', 8)];

  it('is shown as that of its owner, whose versions are counted apart', () => {
    expect(versionsOf(all, 'acme').map((row) => row['version'])).toEqual([2, 1]);
    expect(versionsOf(all, '*').map((row) => row['version'])).toEqual([8, 7]);
    expect([ownerWords('*'), ownerWords('acme')]).toEqual(['the platform', 'acme']);
  });

  it('says whether it binds, and which does where it is another', () => {
    expect(bindsWords(version('acme', 2), version('acme', 2))).toBe('yes');
    expect(bindsWords(version('acme', 2), version('*', 8))).toBe('no: version 8 of the platform does');
    expect(bindsWords(version('acme', 2), version('acme', 2, { retired: true }))).toMatch(/^no: it is retired/);
  });
});
