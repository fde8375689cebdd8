// The contract registry over HTTP on real parts: shipped contracts, weaker versions, what it keeps beside contracts.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capabilitiesNamed, parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { cli, put } from './guide.testing.js';
import { ADMINISTRATOR, EDITOR, itemsOf, OPERATOR, startSystem, TENANT } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const FOLDER = 'examples/contracts';
const SECOND = { subject: 'dana', roles: ['contract_editor'] };

let system: System;

beforeAll(async () => {
  system = await startSystem();
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

const all = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file): Contract => {
    const read = parseContract(readFileSync(`${FOLDER}/${file}`, 'utf8'));
    if (!read.ok) throw new Error(file);
    return read.contract;
  });

/** Each after those it names. */
function ordered(): readonly Contract[] {
  const done: Contract[] = [];
  const visit = (contract: Contract): void => {
    if (done.includes(contract)) return;
    for (const { name } of capabilitiesNamed(contract))
      for (const other of all) if (other.name === name && name !== contract.name) visit(other);
    done.push(contract);
  };
  all.forEach(visit);
  return done;
}
const example = (name: string): Contract => all.find((contract) => contract.name === name) ?? fail();

/** Two contracts, each undone by the other. */
function mutual(one: string, other: string): readonly [Contract, Contract] {
  const as = (name: string, inverse_capability: string): Contract => ({
    ...example('labels.add_label'),
    name,
    inverse_capability,
  });
  return [as(one, other), as(other, one)];
}

describe('the registry over HTTP', () => {
  it('takes every shipped contract', async () => {
    for (const contract of ordered()) {
      const { status, body } = await system.post('registry', '/v1/contracts', contract, {
        person: EDITOR,
        key: contract.name,
      });
      expect({ name: contract.name, status, body }).toMatchObject({
        status: 201,
        body: { version: 1, state: 'registered' },
      });
    }
  }, 120_000);

  it('keeps a weaker version waiting for a second person', async () => {
    const weaker = { ...example('labels.add_label'), version: undefined, reversal_window_ms: 90 * 86_400_000 };
    const { status, body } = await system.post('registry', '/v1/contracts', weaker, { person: EDITOR });
    expect([status, body['state']]).toEqual([201, 'proposed']);
    const waiting = itemsOf(await system.get('registry', '/v1/contract-proposals?name=labels.add_label', EDITOR));
    expect(waiting).toMatchObject([{ proposed_by: EDITOR.subject, digest: body['digest'] }]);
    const confirm = (person: typeof EDITOR) =>
      system.post('registry', '/v1/contracts/labels.add_label/confirm', { digest: body['digest'] }, { person });
    expect(await confirm(EDITOR)).toMatchObject({ status: 403, body: { code: 'SELF_CONFIRMATION' } });
    expect(await confirm(SECOND)).toMatchObject({ status: 201, body: { version: 2, state: 'registered' } });
    expect((await system.get('registry', '/v1/contracts/labels.add_label', EDITOR)).body).toMatchObject({
      version: 2,
      registered_by: EDITOR.subject,
      confirmed_by: SECOND.subject,
    });
    expect(itemsOf(await system.get('registry', '/v1/contract-proposals?name=labels.add_label', EDITOR))).toEqual([]);
  }, 60_000);

  it('takes contracts that undo each other in one request, over HTTP and at the command line, and neither alone', async () => {
    const [pin, unpin] = mutual('labels.pin_label', 'labels.unpin_label');
    const alone = await system.post('registry', '/v1/contracts', pin, { person: EDITOR });
    expect(alone).toMatchObject({ status: 422, body: { code: 'CONTRACT_REFUSED' } });
    const both = await system.post(
      'registry',
      '/v1/contracts/together',
      { contracts: [pin, unpin] },
      { person: EDITOR },
    );
    expect(both).toMatchObject({
      status: 201,
      body: { contracts: [pin, unpin].map(({ name }) => ({ name, version: 1, state: 'registered' })) },
    });
    const folder = mkdtempSync(join(tmpdir(), 'recourse-together-'));
    try {
      const [hide, show] = mutual('labels.hide_label', 'labels.show_label');
      for (const contract of [hide, show]) put(folder, `contracts/${contract.name}.json`, contract);
      const registered = await cli(system, EDITOR, folder, 'contract', 'register', 'contracts/');
      expect([registered.code, registered.note]).toEqual([0, '']);
      const spoiled = { ...show, name: 'labels.reveal_label', inverse_capability: 'labels.nobody_has' };
      put(folder, 'spoiled/hide.json', { ...hide, name: 'labels.veil_label', inverse_capability: spoiled.name });
      put(folder, 'spoiled/show.json', spoiled);
      expect((await cli(system, EDITOR, folder, 'contract', 'register', 'spoiled/')).code).not.toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const names = ['pin', 'unpin', 'hide', 'show', 'veil', 'reveal'].map((verb) => `labels.${verb}_label`);
    const held = await Promise.all(names.map((name) => system.get('registry', `/v1/contracts/${name}`, EDITOR)));
    expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 404]);
  }, 60_000);

  it('confirms together what needs the other as it will be', async () => {
    const pair = mutual('labels.lock_label', 'labels.unlock_label');
    const forced = pair.map((contract) => {
      const { properties } = contract.args_schema as { readonly properties: Facts };
      const args_schema = { ...contract.args_schema, properties: { ...properties, force: { type: 'boolean' } } };
      const force = { from: 'constant', value: true };
      return { ...contract, args_schema, reversal_args: { ...contract.reversal_args, force } };
    });
    const sent = (contracts: unknown) =>
      system.post('registry', '/v1/contracts/together', { contracts }, { person: EDITOR });
    expect((await sent(pair)).status).toBe(201);
    const proposed = (await sent(forced)).body['contracts'] as readonly Facts[];
    const [lock, unlock] = proposed.map(({ digest }) => String(digest));
    expect(proposed.map(({ state }) => state)).toEqual(['proposed', 'proposed']);
    const confirm = (body: Facts) =>
      system.post('registry', '/v1/contracts/labels.lock_label/confirm', body, { person: SECOND });
    expect(await confirm({ digest: lock })).toMatchObject({ status: 422, body: { code: 'CONTRACT_REFUSED' } });
    expect(await confirm({ digest: lock, together: { 'labels.unlock_label': unlock } })).toMatchObject({
      status: 201,
      body: { contracts: pair.map(({ name }) => ({ name, version: 2, state: 'registered' })) },
    });
  }, 60_000);

  it('keeps, versions and retires a kill switch, per tenant', async () => {
    const entry: Facts = {
      owner: 'payments',
      doc: 'Refunds run twice.',
      scope: { over: 'capability', capability: 'payments.issue_refund' },
      severity: 'sev1',
      runbook: 'runbooks/refunds.md',
      reason: 'double refunds',
    };
    const post = (body: Facts, person = OPERATOR) =>
      system.post('registry', '/v1/entries/kill_switch', { name: 'refunds', entry: body }, { person });
    expect(await post({ ...entry, severity: 'sev9' })).toMatchObject({ status: 422, body: { code: 'ENTRY_REFUSED' } });
    expect(await post(entry, EDITOR)).toMatchObject({ status: 403, body: { code: 'ROLE_REQUIRED' } });
    expect(await post(entry)).toMatchObject({ status: 201, body: { version: 1, tenant: TENANT } });
    expect((await system.get('registry', '/v1/entries/kill_switch/refunds', OPERATOR)).body).toMatchObject({
      retired: false,
      entry: { severity: 'sev1' },
    });
    expect(
      await system.post(
        'registry',
        '/v1/entries/kill_switch/refunds/retire',
        { reason: 'fixed' },
        { person: OPERATOR },
      ),
    ).toMatchObject({ status: 200 });
    expect(itemsOf(await system.get('registry', '/v1/entries/kill_switch?retired=false', ADMINISTRATOR))).toEqual([]);
    expect((await system.get('registry', '/v1/entries/wish', OPERATOR)).status).toBe(400);
  }, 60_000);
});

function fail(): never {
  throw new Error('no such example');
}
