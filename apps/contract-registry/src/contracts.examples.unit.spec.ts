// Every shipped contract, through the core of the registry, in an order in which each finds what it names.
import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { adviceOn, bindReversal, capabilitiesNamed, parseContract, toolFingerprint } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { harness, wire } from '@recourse/testing';
import { registryCore, REGISTRY_COMMANDS } from './core.js';

const FOLDER = 'examples/contracts';
const CONTRACTS = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => readFileSync(`${FOLDER}/${file}`, 'utf8'));
const envelope = {
  command_id: 'c',
  tenant: 'acme',
  principal: 'dana',
  accounts: [] as readonly string[],
  roles: ['contract_editor'],
  route: 'r',
  idempotency_key: 'k',
  body_sha256: Buffer.alloc(32),
  issued_at: 0,
  signature: Buffer.alloc(0),
};

function read(body: string): Contract {
  const parsed = parseContract(body);
  if (!parsed.ok)
    throw new Error(
      `${body.slice(0, 80)}: ${parsed.problems.map(({ code, path }) => `${code} ${path ?? ''}`).join(', ')}`,
    );
  return parsed.contract;
}
const all = CONTRACTS.map(read);
function named(name: string): Contract {
  const found = all.find((contract) => contract.name === name);
  if (found === undefined) throw new Error(`no example ${name}`);
  return found;
}
function ordered(): readonly Contract[] {
  const done: Contract[] = [];
  const visit = (contract: Contract): void => {
    if (done.includes(contract)) return;
    for (const { name } of capabilitiesNamed(contract)) if (name !== contract.name) visit(named(name));
    done.push(contract);
  };
  all.forEach(visit);
  return done;
}

describe('the shipped contracts', () => {
  it('all register, each after those it names', () => {
    const registry = harness(registryCore());
    const refused = ordered().flatMap((contract, at) => {
      const body = JSON.stringify(contract);
      registry.when(
        wire(
          REGISTRY_COMMANDS,
          'RegisterContract',
          { envelope: { ...envelope, command_id: `c${at}` }, name: contract.name, body, together: [] },
          { key: contract.name },
        ),
        at + 1,
      );
      const answer = registry.decision().answer;
      return answer?.status === 'accepted'
        ? []
        : [`${contract.name}: ${JSON.stringify(answer?.body['problems'] ?? answer?.body)}`];
    });
    expect(refused).toEqual([]);
    expect(registry.rows('contract')).toHaveLength(all.length);
    expect(all.length).toBeGreaterThan(40);
  });

  it.each([
    ['label add and remove', 'reversible', 'labels.add_label'],
    ['flag set and unset', 'reversible', 'flags.set_flag'],
    ['soft delete', 'reversible', 'documents.archive_document'],
    ['update with prior value', 'reversible', 'crm.update_contact'],
    ['charge and refund', 'compensable', 'payments.charge_card'],
    ['ship and recall', 'compensable', 'shipping.dispatch_parcel'],
    ['book and cancel with a fee', 'compensable', 'travel.book_trip'],
    ['grant and revoke', 'compensable', 'access.grant_role'],
    ['email or text message', 'irreversible', 'mail.send_message'],
    ['external wire', 'irreversible', 'bank.send_wire'],
    ['physical action', 'irreversible', 'devices.unlock_door'],
    ['hard delete', 'irreversible', 'storage.purge_object'],
  ])('show %s as %s (A16)', (_, reversalClass, name) => {
    expect(named(name).reversal_class).toBe(reversalClass);
  });

  it.each([
    'tickets.close_ticket',
    'config.restore_config',
    'channels.post_correction',
    'github.revert_pull_request',
    'desk.request_human_review',
  ])('name a precise action: %s (C17)', (name) => {
    expect(named(name).effect.split(' ').length).toBeGreaterThan(3);
  });

  it('hold what a config update needs: previous and new value, version, resource (C27)', () => {
    const facts = {
      args: { resource: 'r', value: 'new' },
      result: { resource: 'r', value: 'new', version: 7 },
      priorValue: { value: 'old' },
      externalRef: null,
    };
    expect(bindReversal(named('config.update_config'), facts)).toEqual({
      kind: 'bound',
      args: { resource: 'r', value: 'old', expected_version: 7 },
      then: [],
    });
  });
  it('hold what a ticket update needs: prior status and comment id (C28)', () => {
    const facts = {
      args: { ticket: 't', status: 'closed', comment: 'c' },
      result: { ticket: 't', status: 'closed', comment_id: 'c9' },
      priorValue: { status: 'open' },
      externalRef: null,
    };
    expect(bindReversal(named('tickets.update_ticket'), facts)).toEqual({
      kind: 'bound',
      args: { ticket: 't', status: 'open', comment_id: 'c9' },
      then: [],
    });
  });
  it('hold what a pull request needs: branch, commit, number, repository (C29)', () => {
    const facts = {
      args: { repository: 'a/b', pull_number: 5, branch: 'main' },
      result: { commit: 'abc' },
      priorValue: null,
      externalRef: null,
    };
    expect(bindReversal(named('github.merge_pull_request'), facts)).toEqual({
      kind: 'bound',
      args: { repository: 'a/b', pull_number: 5, branch: 'main', commit: 'abc' },
      then: [],
    });
  });
  it('names what is missing and guesses nothing (C30)', () => {
    const facts = {
      args: { resource: 'r', value: 'new' },
      result: null,
      priorValue: { value: 'old' },
      externalRef: null,
    };
    expect(bindReversal(named('config.update_config'), facts)).toEqual({
      kind: 'incomplete',
      missing: ['result/version'],
    });
  });

  it('hold the refund of the declaration: compensable, by a person, an hour, one call, 5,000 a run (D5, A85)', () => {
    expect(named('payments.issue_refund')).toMatchObject({
      reversal_class: 'compensable',
      compensation_capability: 'payments.reverse_refund',
      recovery_approval_mode: 'human',
      reversal_window_ms: 3_600_000,
      blast_radius: { max_calls_per_run: 1, max_value_per_run: { amount_minor: 500_000, currency: 'INR' } },
      consequence: { money: 'args.amount_minor' },
      value: { amount: '/amount_minor' },
    });
  });

  it('keep risk apart from reversal: either can be left out without the other (D3)', () => {
    const { risk, ...without } = named('payments.issue_refund');
    expect(risk).not.toBe('');
    expect(parseContract(JSON.stringify(without)).ok).toBe(true);
  });

  it('are the same tool before and after a reversal is declared (D7)', () => {
    const contract = named('payments.issue_refund');
    const before = {
      ...contract,
      reversal_class: undefined,
      compensation_capability: undefined,
      reversal_args: undefined,
      recovery_approval_mode: undefined,
      verification: undefined,
    };
    expect(toolFingerprint(JSON.parse(JSON.stringify(before)) as Contract)).toBe(toolFingerprint(contract));
    expect(toolFingerprint({ ...contract, args_schema: { type: 'object' } })).not.toBe(toolFingerprint(contract));
  });

  it('declare of each compensation what it leaves and what it counts itself (B9)', () => {
    const compensable = all.filter(({ reversal_class: declared }) => declared === 'compensable');
    expect(compensable.length).toBeGreaterThan(4);
    for (const { compensation_capability, residue } of compensable) {
      const own = named(compensation_capability ?? '');
      expect([
        own.name,
        residue !== undefined,
        own.consequence !== undefined || own.value !== undefined,
        own.impact === 'read',
      ]).toEqual([own.name, true, true, false]);
    }
  });

  it('leave nothing uncapped and nothing unsaid that a lint would ask for, where something can be undone', () => {
    const asked = all
      .filter(({ reversal_class: declared }) => declared === 'reversible' || declared === 'compensable')
      .flatMap((contract) =>
        adviceOn(contract)
          .filter(({ technique }) => technique === null || technique === 'blast_radius_cap')
          .map(({ code }) => `${contract.name} ${code}`),
      );
    expect(asked.filter((each) => !each.endsWith('KEY_SHORTER_THAN_WINDOW'))).toEqual([]);
  });
});
