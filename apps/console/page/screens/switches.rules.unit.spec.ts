// Whose switch is set and lifted, what is said before, and what is sent.
import { describe, expect, it } from '@jest/globals';
import {
  entryOf,
  liftHappens,
  nameOf,
  notYet,
  refusedSwitch,
  stopHappens,
  stoppingIn,
  typedOf,
} from './switches.rules.js';
import type { Over, Stopping } from './switches.rules.js';

const stopping = (over: Over, what = '', owner = 'acme'): Stopping => ({ owner, over, what, haltsUndoing: false });
const person = (tenant: string, ...roles: string[]) => ({ tenant, roles });
const SAID = { by: 'olga', reason: 'why', fields: { severity: 'sev1', runbook: 'https://runbooks.example.com/stop' } };

describe('a kill switch', () => {
  it('is of the tenant that is named, or of all where somebody says so, and is said and typed as that', () => {
    const all = person('*', 'administrator');
    expect(notYet(stopping('tenant', '', ''), all)).toMatch(/whose/);
    expect(notYet(stopping('tenant', '', 'acme'), all)).toBeNull();
    expect(stopHappens(stopping('tenant', '', 'acme'))[0]).toBe(
      'Nothing of acme is dispatched any more, forward or back.',
    );
    expect(stopHappens(stopping('tenant', '', '*'))[0]).toContain('of ALL tenants');
    expect(stopHappens(stopping('agent', 'bot', '*'))[0]).toContain('of ALL tenants');
    expect([typedOf('stop-tenant', 'acme'), typedOf('stop-tenant', '*')]).toEqual([
      'stop-tenant of acme',
      'stop-tenant of ALL tenants',
    ]);
  });

  it('is lifted as that of its owner, which is said', () => {
    const row = {
      tenant: 'globex',
      name: 's',
      entry: { scope: { over: 'agent', agent: 'bot', halts_recovery: true } },
    };
    expect(liftHappens(row)[0]).toBe(
      'What it stops goes on at once: agent bot, and the undoing of what it did, of globex.',
    );
    expect(liftHappens({ ...row, tenant: '*' })[0]).toContain('of ALL tenants');
  });

  it.each([
    ['a tenant', 'acme', person('acme', 'operator'), true],
    ['a tenant', 'acme', person('acme', 'approver'), false],
    ['a tenant', 'acme', person('*', 'administrator'), true],
    ['a tenant', 'acme', person('*', 'platform_editor'), false],
    ['the platform', '*', person('acme', 'administrator'), false],
    ['the platform', '*', person('*', 'platform_editor'), true],
    ['the platform', '*', person('*', 'auditor'), false],
  ])('of %s (%s) is set and lifted by %j: %j', (_what, owner, who, may) => {
    expect(refusedSwitch(who, owner) === null).toBe(may);
  });

  it('has a name of its own for each scope', () => {
    const scopes = [
      stopping('agent', 'ops.bot'),
      stopping('agent', 'ops-bot'),
      stopping('capability', 'ops.bot'),
      stopping('agent', 'tenant'),
      stopping('tenant'),
      // The registry takes no second scope under a name: this one is set beside the first, and both stand.
      { ...stopping('agent', 'ops.bot'), haltsUndoing: true },
      stopping('agent', 'undoing-ops.bot'),
    ];
    expect(new Set(scopes.map(nameOf)).size).toBe(scopes.length);
    expect(nameOf(stopping('capability', ' payments.refund '))).toBe('stop-capability-payments.refund');
    const alike = ['team/pay', 'team=pay', 'team-pay', `${'x'.repeat(170)}1`, `${'x'.repeat(170)}2`];
    expect(new Set(alike.map((what) => nameOf(stopping('agent', what)))).size).toBe(alike.length);
    for (const what of ['team/bot', 'x'.repeat(170)])
      expect(nameOf(stopping('agent', what))).toMatch(/^\w[\w.:@-]{0,127}$/);
  });

  it('over an agent halts the undoing of what it did only where somebody chose that, and says so', () => {
    const agent = stopping('agent', 'bot');
    const whole = { ...agent, haltsUndoing: true };
    expect(entryOf(agent, SAID).scope).toEqual({ over: 'agent', agent: 'bot' });
    expect(entryOf(whole, SAID).scope).toEqual({ over: 'agent', agent: 'bot', halts_recovery: true });
    expect(stopHappens(agent)[1]).toMatch(/is still undone/);
    expect(stopHappens(whole)[1]).toMatch(/is not undone either/);
    expect(stopHappens(stopping('capability', 'a.b'))[1]).toMatch(/would call it halt/);
    expect(stopHappens(stopping('tenant'))[1]).toMatch(/would go out halt/);
  });

  it('is what somebody typed, at the tenant they are of, and halts no undoing but that of an agent', () => {
    const typed = { over: 'agent', what: 'bot', undoing: 'halts', tenant: ' globex ' };
    expect(stoppingIn(typed, 'acme')).toEqual({ owner: 'acme', over: 'agent', what: 'bot', haltsUndoing: true });
    expect(stoppingIn(typed, '*').owner).toBe('globex');
    expect(stoppingIn({ ...typed, over: 'tenant' }, 'acme').haltsUndoing).toBe(false);
    expect(stoppingIn({}, 'acme')).toEqual(stopping('capability'));
  });
});
