import { describe, expect, it } from '@jest/globals';
import { standingIn } from './contracts.rules.js';

describe('the catalogue of contracts', () => {
  it('has the newest version of each owner, and none where that is retired', () => {
    const row = (name: string, tenant: string, version: number, retired = false) => ({
      name,
      tenant,
      version,
      retired,
    });
    const found = standingIn([
      row('a.one', '*', 2, true),
      row('a.one', '*', 1),
      row('a.one', 'acme', 1),
      row('a.two', '*', 1),
      row('a.two', '*', 10),
      row('a.two', '*', 9),
    ]);
    expect(found.map(({ name, tenant, version }) => [name, tenant, version])).toEqual([
      ['a.one', 'acme', 1],
      ['a.two', '*', 10],
    ]);
  });
});
