// What is read of rows.
import { describe, expect, it } from '@jest/globals';
import { ofTenant } from './rows.js';

describe('a command', () => {
  it('names the tenant of the row it is about, and none where the row names none', () => {
    expect([ofTenant('acme'), ofTenant(null), ofTenant(undefined)]).toEqual([{ tenant: 'acme' }, {}, {}]);
  });
});
