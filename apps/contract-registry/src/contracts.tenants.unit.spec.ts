// Whose a contract or an entry is: a tenant's or the platform's. A tenant tightens and never loosens; a taken name blocks nobody.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { charterVerdict, contractByName, contractView, editorsOf, entryOf, entryView } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, memoryView, WAYS, wire } from '@recourse/testing';
import { registryCore, REGISTRY_COMMANDS } from './core.js';

type Json = Record<string, unknown>;
const READ = 'payments.get_refund';
const ISSUE = 'payments.issue_refund';
const PLATFORM = { tenant: '*', principal: 'pia', roles: ['platform_editor'] };
const ACME = { tenant: 'acme', principal: 'dana', roles: ['contract_editor'] };
const GLOBEX = { tenant: 'globex', principal: 'gil', roles: ['contract_editor'] };
let asked = 0;

function envelope(who: Json) {
  asked += 1;
  return {
    command_id: `cmd_${asked}`,
    accounts: [] as readonly string[],
    route: 'r',
    idempotency_key: `k${asked}`,
    body_sha256: Buffer.alloc(32),
    issued_at: 0,
    signature: Buffer.alloc(0),
    ...who,
  };
}
function sent(type: string, who: Json, body: Json, key = String(body['name'])): RecordInput {
  return wire(REGISTRY_COMMANDS, type, { envelope: envelope(who), together: {}, ...body }, { key });
}
function example(name: string, changes: Json = {}): Json {
  const { version: _numbered, ...text } = JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Json;
  return Object.fromEntries(Object.entries({ ...text, ...changes }).filter(([, value]) => value !== undefined));
}
const register = (contract: Json, who: Json): RecordInput =>
  sent('RegisterContract', who, { name: contract['name'], body: JSON.stringify(contract), together: [] });
const retire = (name: string, version: number, who: Json): RecordInput =>
  sent('RetireContract', who, { name, version });
const refund = (changes: Json = {}): Json => example(ISSUE, { recovery_approval_mode: 'human', ...changes });
const REFUSED_HERE = { status: 'rejected', httpStatus: 403, code: 'ROLE_REQUIRED' } as const;

describe.each(WAYS)('a contract of the platform, $way', ({ isRebuilt }) => {
  const start = () => {
    const registry = harness(registryCore(), { isRebuilt });
    for (const name of [READ, 'payments.reverse_refund']) registry.when(register(example(name), PLATFORM), 1);
    return registry.when(register(refund(), PLATFORM), 2).then(fact('ContractRegistered', { tenant: '*', version: 1 }));
  };
  const problemsOf = (registry: ReturnType<typeof start>): readonly string[] =>
    (registry.decision().answer?.body['problems'] as { code: string; path: string }[]).map(
      ({ code, path }) => `${code} ${path}`,
    );

  it.each([
    ['an editor', ['contract_editor'], '*'],
    ['an approver of the platform', ['platform_approver'], '*'],
    ['an auditor', ['auditor'], '*'],
  ])('is not registered by %s of a tenant or of all without the role', (_, roles, tenant) => {
    start()
      .when(register(example(READ, { owner: 'others' }), { tenant, principal: 'dana', roles }), 3)
      .thenNothing()
      .thenAnswer(REFUSED_HERE);
  });

  it('is not retired by a tenant, which is told whose it is', () => {
    start()
      .when(retire(ISSUE, 1, ACME), 3)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'CONTRACT_OF_PLATFORM' })
      .when(retire(ISSUE, 1, { ...ACME, roles: ['administrator'] }), 4)
      .thenAnswer({ code: 'CONTRACT_OF_PLATFORM' })
      .when(retire(ISSUE, 1, PLATFORM), 5)
      .then(fact('RegistrationProposed', { tenant: '*', version: 1, retires: true }));
  });

  it.each<[string, Json]>([
    ['/blast_radius/scope', { blast_radius: { scope: 'tenant' } }],
    ['/reversal_window_ms', { reversal_window_ms: 7_200_000 }],
    ['/risk_level', { risk_level: 'low' }],
    ['/stale_check', { stale_check: undefined, unchecked_because: 'We trust it.' }],
  ])('is not loosened by a tenant, and the field is named: %s', (path, changes) => {
    const registry = start()
      .when(register(refund(changes), ACME), 3)
      .thenNothing();
    registry.thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACT_REFUSED' });
    expect(problemsOf(registry)).toContain(`CONTRACT_LOOSER_THAN_PLATFORM ${path}`);
  });

  it('is not loosened by a tenant whose money counts as nothing, beside what the platform reads of the arguments', () => {
    const registry = harness(registryCore(), { isRebuilt });
    for (const name of [READ, 'payments.reverse_refund']) registry.when(register(example(name), PLATFORM), 1);
    registry
      .when(register(refund({ consequence: undefined }), PLATFORM), 2)
      .when(register(refund({ consequence: { money: '0' } }), ACME), 3)
      .thenNothing()
      .thenAnswer({ httpStatus: 422, code: 'CONTRACT_REFUSED' });
    expect(problemsOf(registry)).toEqual(['CONTRACT_LOOSER_THAN_PLATFORM /consequence/money']);
  });

  it('is tightened by a tenant, for itself alone', () => {
    const registry = start();
    const view = memoryView(contractView);
    const stricter = refund({ recovery_approval_mode: 'dual_control', reversal_window_ms: 60_000 });
    registry.when(register(stricter, ACME), 3).then(fact('ContractRegistered', { tenant: 'acme', version: 1 }));
    for (const { type, body } of registry.records()) view.append(ISSUE, fact(type, body));
    const bound = (tenant: string) => contractByName(view, tenant, ISSUE)?.contract.recovery_approval_mode;
    expect([bound('acme'), bound('globex'), bound('*')]).toEqual(['dual_control', 'human', 'human']);
  });

  it('binds again where it has become stricter than the own one of a tenant, and once that is retired', () => {
    const registry = start();
    const view = memoryView(contractView);
    let seen = 0;
    const follow = (input: RecordInput): void => {
      const all = registry.when(input, 3).records();
      for (const { type, body } of all.slice(seen)) view.append(ISSUE, fact(type, body));
      seen = all.length;
    };
    const bound = (): unknown => contractByName(view, 'acme', ISSUE)?.contract.reversal_window_ms;
    follow(register(refund({ reversal_window_ms: 60_000 }), ACME));
    expect(bound()).toBe(60_000);
    follow(register(refund({ reversal_window_ms: 30_000 }), PLATFORM));
    expect(bound()).toBe(30_000);
    follow(register(refund({ reversal_window_ms: 20_000 }), ACME));
    expect(bound()).toBe(20_000);
    follow(retire(ISSUE, 2, ACME));
    expect(bound()).toBe(20_000);
    const digest = Buffer.from(String(registry.decision().answer?.body['digest']), 'hex');
    follow(sent('ConfirmRegistration', { ...ACME, principal: 'ravi' }, { name: ISSUE, digest }));
    expect(bound()).toBe(30_000);
  });

  it('binds again in place of a stricter one of a tenant only after a second person', () => {
    const registry = start()
      .when(register(refund({ reversal_window_ms: 60_000 }), ACME), 3)
      .when(retire(ISSUE, 1, ACME), 4)
      .then(fact('RegistrationProposed', { tenant: 'acme', version: 1, retires: true, proposed_by: 'dana' }))
      .thenAnswer({ httpStatus: 201, body: { state: 'proposed' } });
    const digest = Buffer.from(String(registry.decision().answer?.body['digest']), 'hex');
    const confirm = (who: Json): RecordInput => sent('ConfirmRegistration', who, { name: ISSUE, digest });
    const bound = () => registry.rows('contract').find(({ group }) => group === `acme/${ISSUE}`)?.doc['retired'];
    registry
      .when(retire(ISSUE, 1, { ...ACME, principal: 'ravi' }), 5)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { state: 'proposed' } })
      .when(confirm({ ...ACME, principal: 'Dana' }), 6)
      .thenAnswer({ httpStatus: 403, code: 'SELF_CONFIRMATION' })
      .when(confirm({ ...ACME, principal: 'svc:editor' }), 6)
      .thenAnswer({ code: 'CONFIRMER_NOT_A_PERSON' });
    expect(bound()).toBe(false);
    registry
      .when(confirm({ ...ACME, principal: 'ravi' }), 7)
      .then(fact('ContractRetired', { tenant: 'acme', version: 1, retired_by: 'dana', confirmed_by: 'ravi' }));
    expect([bound(), registry.rows('proposal')]).toEqual([true, []]);
  });

  it('is retired by two people of the platform, since what a tenant has may be looser', () => {
    const registry = start()
      .when(register(refund({ recovery_approval_mode: 'dual_control' }), PLATFORM), 3)
      .when(retire(ISSUE, 1, PLATFORM), 4)
      .then(fact('ContractRetired', { version: 1, confirmed_by: null }))
      .when(retire(ISSUE, 2, PLATFORM), 5)
      .then(
        fact('RegistrationProposed', {
          ...{ tenant: '*', version: 2, retires: true, proposed_by: 'pia' },
          weakenings: [
            ": it is the platform's, and what tenants have of their own binds them without it, however loose",
          ],
        }),
      )
      .thenAnswer({ httpStatus: 201, body: { state: 'proposed', differences: [] } });
    const digest = Buffer.from(String(registry.decision().answer?.body['digest']), 'hex');
    const confirm = (who: Json): RecordInput => sent('ConfirmRegistration', who, { name: ISSUE, digest });
    registry
      .when(confirm(PLATFORM), 6)
      .thenAnswer({ httpStatus: 403, code: 'SELF_CONFIRMATION' })
      .when(confirm({ ...PLATFORM, principal: 'paul' }), 7)
      .then(fact('ContractRetired', { tenant: '*', version: 2, retired_by: 'pia', confirmed_by: 'paul' }));
  });

  it('leaves no older version of an owner in force where the newest is retired, here as in other services', () => {
    for (const who of [ACME, PLATFORM]) {
      const registry = harness(registryCore(), { isRebuilt })
        .when(register(example(READ), who), 1)
        .when(register(example(READ, { owner: 'others' }), who), 2)
        .when(retire(READ, 2, who), 3);
      const digest = Buffer.from(String(registry.decision().answer?.body['digest']), 'hex');
      if (who === PLATFORM)
        registry.when(sent('ConfirmRegistration', { ...who, principal: 'paul' }, { name: READ, digest }), 3);
      registry.then(fact('ContractRetired', { version: 2 }));
      const view = memoryView(contractView);
      for (const { type, body } of registry.records()) view.append(READ, fact(type, body));
      expect(contractByName(view, 'acme', READ)).toBeUndefined();
      registry.when(register(example('payments.reverse_refund'), ACME), 4).thenNothing();
      expect(problemsOf(registry)).toEqual(['CAPABILITY_UNKNOWN /reconcile_capability']);
    }
  });

  it('that is as strict as the own one of a tenant binds again at the word of one person', () => {
    start()
      .when(register(refund(), ACME), 3)
      .when(retire(ISSUE, 1, ACME), 4)
      .then(fact('ContractRetired', { tenant: 'acme', confirmed_by: null }));
  });

  it('blocks no name of a tenant, nor the other way about', () => {
    const registry = start()
      .when(register(refund(), ACME), 3)
      .then(fact('ContractRegistered', { tenant: 'acme', version: 1 }))
      .when(register(refund(), GLOBEX), 4)
      .then(fact('ContractRegistered', { tenant: 'globex', version: 1 }));
    expect(registry.rows('contract').map(({ group }) => group)).toEqual(
      expect.arrayContaining([`*/${ISSUE}`, `acme/${ISSUE}`, `globex/${ISSUE}`]),
    );
    const digests = registry
      .rows('contract')
      .flatMap(({ group, doc }) => (group.endsWith(ISSUE) ? [doc['digest']] : []));
    expect(new Set(digests).size).toBe(3);
    registry
      .when(retire(ISSUE, 1, GLOBEX), 5)
      .then(fact('ContractRetired', { tenant: 'globex' }))
      .when(register(example('labels.get_labels'), ACME), 6)
      .when(register(example('labels.get_labels', { owner: 'platform' }), PLATFORM), 7)
      .then(fact('ContractRegistered', { tenant: '*', version: 1 }));
  });

  it('that waits for a second person does so beside what waits of a tenant', () => {
    const weaker = refund({ reversal_window_ms: 7_200_000 });
    const registry = start()
      .when(register(weaker, PLATFORM), 3)
      .then(fact('RegistrationProposed', { tenant: '*' }));
    const digest = Buffer.from(String(registry.decision().answer?.body['digest']), 'hex');
    const confirm = (who: Json): RecordInput => sent('ConfirmRegistration', who, { name: ISSUE, digest });
    registry
      .when(confirm({ ...ACME, principal: 'ravi' }), 4)
      .thenNothing()
      .thenAnswer({ code: 'PROPOSAL_UNKNOWN' })
      .when(sent('WithdrawRegistration', ACME, { name: ISSUE }), 5)
      .thenNothing()
      .thenAnswer({ code: 'PROPOSAL_UNKNOWN' })
      .when(confirm(PLATFORM), 6)
      .thenAnswer({ code: 'SELF_CONFIRMATION' })
      .when(confirm({ ...PLATFORM, principal: 'paul' }), 7)
      .then(fact('ContractRegistered', { tenant: '*', version: 2, confirmed_by: 'paul' }));
    expect(registry.rows('proposal')).toEqual([]);
  });

  it('is not loosened by confirming what was proposed before it became stricter', () => {
    const registry = start()
      .when(register(refund({ reversal_window_ms: 30_000 }), ACME), 3)
      .when(register(refund({ reversal_window_ms: 60_000 }), ACME), 4)
      .then(fact('RegistrationProposed', { tenant: 'acme', version: 2 }));
    const digest = Buffer.from(String(registry.decision().answer?.body['digest']), 'hex');
    registry
      .when(register(refund({ reversal_window_ms: 40_000 }), PLATFORM), 5)
      .when(sent('ConfirmRegistration', { ...ACME, principal: 'ravi' }, { name: ISSUE, digest }), 6)
      .thenNothing()
      .thenAnswer({ code: 'CONTRACT_REFUSED' });
    expect(problemsOf(registry)).toEqual(['CONTRACT_LOOSER_THAN_PLATFORM /reversal_window_ms']);
  });

  it('has editors of its own, who count beside those of the tenant', () => {
    const registry = start().when(register(refund(), ACME), 3);
    const view = memoryView(contractView);
    for (const { type, body } of registry.records()) view.append(ISSUE, fact(type, body));
    const { digest = Buffer.alloc(0) } = contractByName(view, '*', ISSUE) ?? {};
    expect(new Set(editorsOf(view, 'acme', digest))).toEqual(new Set(['pia', 'dana']));
    expect(new Set(editorsOf(view, 'globex', digest))).toEqual(new Set(['pia']));
  });
});

describe('an entry of the platform', () => {
  const words = { owner: 'platform', doc: 'd' };
  const source = { ...words, sensitivity: 'personal', access: 'read', ttl_ms: 1_000, trust_permille: 300 };
  const charter = { ...words, agent: 'agent-7', purpose: 'p', allowed: ['payments.get_*'], denied: [] };
  const kill = { ...words, scope: { over: 'tenant' }, severity: 'sev1', runbook: 'r', reason: 'r' };
  const bundle = {
    ...words,
    admission: [{ name: 'evidence', when: 'gate.evidence == true', reason: 'r' }],
    recovery: [{ name: 'all', when: 'true', approval: 'human', reason: 'r' }],
  };
  const entry = (kind: string, body: unknown, who: Json): RecordInput =>
    sent('RegisterEntry', who, { kind, name: 'one', body: JSON.stringify(body) });
  const lift = (kind: string, who: Json): RecordInput => sent('RetireEntry', who, { kind, name: 'one', reason: 'r' });

  it.each([
    ['policy_bundle', bundle],
    ['agent_charter', charter],
    ['context_source', source],
    ['kill_switch', kill],
    ['subscription', { ...words, consumer: 'c', scope: 'acme', mode: 'sync', commit_to_user_ms: 1 }],
  ])('is changed by roles of the platform alone: %s', (kind, body) => {
    const everyRole = ['contract_editor', 'operator', 'approver', 'budget_owner', 'auditor', 'platform_approver'];
    harness(registryCore())
      .when(entry(kind, body, { ...PLATFORM, roles: everyRole }), 1)
      .thenNothing()
      .thenAnswer(REFUSED_HERE)
      .when(entry(kind, body, PLATFORM), 2)
      .then(fact('EntryRegistered', { tenant: '*', version: 1 }))
      .when(lift(kind, { ...ACME, roles: ['administrator'] }), 3)
      .thenAnswer({ code: 'ENTRY_UNKNOWN' })
      .when(lift(kind, { ...PLATFORM, roles: everyRole }), 4)
      .thenAnswer(REFUSED_HERE)
      .when(entry(kind, body, { ...ACME, roles: ['administrator'] }), 5)
      .then(fact('EntryRegistered', { tenant: 'acme', version: 1 }))
      .when(lift(kind, PLATFORM), 6)
      .then(fact('EntryRetired', { tenant: '*' }));
  });

  it("is tightened by a tenant's own of the same name, and not loosened", () => {
    const registry = harness(registryCore());
    const own = { ...ACME, roles: ['administrator'] };
    const view = memoryView(entryView);
    for (const [kind, body, who] of [
      ['context_source', source, PLATFORM],
      ['context_source', { ...source, ttl_ms: 60_000, trust_permille: 900, sensitivity: 'regulatory' }, own],
      ['agent_charter', charter, PLATFORM],
      ['agent_charter', { ...charter, allowed: ['payments.*'] }, own],
      ['policy_bundle', bundle, PLATFORM],
      ['policy_bundle', { ...bundle, admission: [], recovery: [] }, own],
    ] as const)
      for (const record of registry.when(entry(kind, body, who), 1).recorded()) view.append('k', record);
    expect(entryOf(view, 'context_source', 'acme', 'one')).toMatchObject({
      ttl_ms: 1_000,
      trust_permille: 300,
      sensitivity: 'personal',
    });
    expect(charterVerdict(view, 'acme', 'agent-7', 'payments.get_refund').admitted).toBe(true);
    expect(charterVerdict(view, 'acme', 'agent-7', 'payments.issue_refund')).toMatchObject({
      code: 'INTENT_NOT_ALLOWED',
    });
    expect(entryOf(view, 'policy_bundle', 'acme', 'one')).toMatchObject({
      admission: [{ name: 'platform/evidence' }],
      recovery: [{ name: 'platform/all', approval: 'human' }],
    });
  });
});
