// Tenants whose names begin alike: what one registers, or names, says nothing of the other, whatever slashes there are in names.
import { describe, expect, it } from '@jest/globals';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { fact, memoryView } from '@recourse/testing';
import { contractByName, contractView, editorsOf } from '../view.js';
import { isSomeAgentStopped, killVerdict } from './kills.js';
import {
  answerableFor,
  bundleVersions,
  charterFor,
  charterVerdict,
  entryView,
  ownersEver,
  routinesFor,
  standingEntry,
} from './view.js';

const [ACME, ACME_EU] = ['acme', 'acme/eu'];

const entries = () => memoryView(entryView);

function register(view: ReturnType<typeof entries>, kind: string, tenant: string, name: string, body: Json): void {
  const digest = Buffer.from(sha256Hex(`${tenant} ${name}`), 'hex');
  const text = canonicalJson(body);
  const more = { version: 1, registered_by: 'eddie', command_id: `cmd-${tenant}-${name}` };
  view.append(name, fact('EntryRegistered', { kind, name, tenant, digest, body: text, ...more }));
}

const charter = (agent: string, owner: string): Json => ({
  ...{ owner, doc: 'What it is for.', agent, purpose: 'refunds' },
  ...{ allowed: ['orders.read'], denied: ['payments.issue_refund'] },
});

describe('a tenant whose name begins that of another, and a slash', () => {
  it('registers charters for agents of its own alone', () => {
    const view = entries();
    register(view, 'agent_charter', ACME_EU, 'bot', charter('bot', 'olga'));
    register(view, 'agent_charter', ACME, 'bot', charter('eu/bot', 'mallory'));
    register(view, 'agent_charter', ACME, 'bot', charter('other', 'mallory'));
    expect(charterVerdict(view, ACME_EU, 'bot', 'payments.issue_refund')).toMatchObject({ admitted: false });
    expect(charterFor(view, ACME_EU, 'bot')?.owners).toEqual(['olga']);
    expect(ownersEver(view, ACME_EU, 'bot')).toEqual(['olga']);
    expect(ownersEver(view, ACME, 'eu/bot')).toEqual(['mallory']);
  });

  it('stops its own agents alone', () => {
    const SWITCH = { owner: 'olga', doc: 'Stops it.', reason: 'astray', severity: 'sev2', runbook: 'Wait.' };
    const view = entries();
    const stop = (agent: string): Json => ({
      ...SWITCH,
      scope: { over: 'agent', agent },
    });
    register(view, 'kill_switch', 'acme/agent', 'all', {
      ...SWITCH,
      scope: { over: 'tenant' },
    });
    register(view, 'kill_switch', ACME, 'all', stop('tenant'));
    register(view, 'kill_switch', ACME, 'one', stop('agents'));
    const acting = (tenant: string, agent: string) => ({ tenant, agent, capability: 'payments.issue_refund' });
    expect(killVerdict(view, acting('acme/agent', 'bot'))).toMatchObject({ code: 'KILLED' });
    expect(killVerdict(view, acting(ACME, 'tenant'))).toMatchObject({ code: 'KILLED' });
    expect(isSomeAgentStopped(view, 'acme/agent')).toBe(false);
    register(view, 'kill_switch', ACME, 'all', stop('bot'));
    expect(killVerdict(view, acting('acme/agent', 'bot'))).toMatchObject({ code: 'KILLED' });
  });

  it('has nothing of the other by a name that goes on with the rest', () => {
    const view = entries();
    const [owner, doc] = ['olga', 'Says what is shipped.'];
    register(view, 'context_source', ACME_EU, 'warehouse', {
      ...{ owner, doc, sensitivity: 'internal', access: 'read', ttl_ms: 60_000 },
    });
    register(view, 'policy_bundle', ACME_EU, 'risk', { owner, doc, admission: [], recovery: [] });
    expect(answerableFor(view, ACME_EU, 'warehouse')).toEqual(['olga']);
    expect(answerableFor(view, ACME, 'eu/warehouse')).toEqual([]);
    expect(standingEntry(view, 'policy_bundle', ACME_EU, 'risk')).toBeDefined();
    expect(standingEntry(view, 'policy_bundle', ACME, 'eu/risk')).toBeUndefined();
    expect(bundleVersions(view, ACME_EU, 'risk', 1)).toHaveLength(1);
    expect(bundleVersions(view, ACME, 'eu/risk', 1)).toEqual([]);
    expect(routinesFor(view, ACME, 'eu/payments.issue_refund')).toEqual([]);
  });

  it('is bound by no contract of the other', () => {
    const view = memoryView(contractView);
    const name = 'payments.issue_refund';
    const digest = Buffer.from(sha256Hex(name), 'hex');
    const body = canonicalJson({ name });
    const more = { version: 1, registered_by: 'eddie', command_id: 'cmd-1', tenant: ACME_EU };
    view.append(name, fact('ContractRegistered', { name, digest, body, ...more }));
    expect(view.get(`name/acme%2Feu/${name}`)).toBeDefined();
    expect(contractByName(view, ACME, `eu/${name}`)).toBeUndefined();
    expect(editorsOf(view, ACME_EU, digest)).toEqual(['eddie', 'eddie']);
    expect(editorsOf(view, ACME, digest)).toEqual(['eddie']);
  });
});
