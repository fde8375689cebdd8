import { describe, expect, it } from '@jest/globals';
import { contractDigest, entryOf, entryView, killVerdict } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { fact, harness, memoryView, WAYS, wire } from '@recourse/testing';
import { readFileSync } from 'node:fs';
import { registryCore, REGISTRY_COMMANDS } from './core.js';
import { CONTRACTS_LOG, ENTRY_KIND } from './rows.js';

type Json = Record<string, unknown>;
const envelope = (more: Json = {}) => ({
  command_id: 'c',
  tenant: 'acme',
  principal: 'dana',
  accounts: [] as readonly string[],
  roles: ['administrator'],
  route: 'r',
  idempotency_key: 'k',
  body_sha256: Buffer.alloc(32),
  issued_at: 0,
  signature: Buffer.alloc(0),
  ...more,
});
function register(kind: string, name: string, entry: unknown, who: Json = {}): RecordInput {
  return wire(
    REGISTRY_COMMANDS,
    'RegisterEntry',
    { envelope: envelope(who), kind, name, body: typeof entry === 'string' ? entry : JSON.stringify(entry) },
    { key: name },
  );
}
function retire(kind: string, name: string, who: Json = {}): RecordInput {
  return wire(REGISTRY_COMMANDS, 'RetireEntry', { envelope: envelope(who), kind, name, reason: 'over' }, { key: name });
}
const words = { owner: 'platform', doc: 'Why it is there.' };
const ENTRIES: Readonly<Record<string, Json>> = {
  policy_bundle: {
    ...words,
    admission: [{ name: 'evidence', when: 'gate.evidence == true', reason: 'no evidence' }],
    recovery: [{ name: 'large', when: 'mutation.amount > 1000', approval: 'dual_control', reason: 'large' }],
  },
  agent_charter: {
    ...words,
    agent: 'agent-7',
    purpose: 'Refunds.',
    allowed: ['payments.*'],
    denied: ['payments.send_wire'],
  },
  context_source: { ...words, sensitivity: 'internal', access: 'query', ttl_ms: 60_000 },
  kill_switch: {
    ...words,
    scope: { over: 'capability', capability: 'payments.issue_refund' },
    severity: 'sev1',
    runbook: 'runbooks/refunds.md',
    reason: 'double refunds',
  },
  subscription: { ...words, consumer: 'mailer', scope: 'acme/*/run-1', mode: 'sync', commit_to_user_ms: 100 },
};
const POST = JSON.parse(readFileSync('examples/contracts/channels.post_message.json', 'utf8')) as Json;
const ROUTINE = {
  name: 'status',
  capabilities: ['channels.post_message'],
  risk_max: 'medium',
  impacts: ['customer_visible'],
  window_ms: 86_400_000,
  per_agent: 20,
  per_tenant: 100,
  reason: 'status lines are routine',
};
const [kill, charter] = [ENTRIES['kill_switch'] ?? {}, ENTRIES['agent_charter'] ?? {}];

describe.each(WAYS)('an entry of the registry, $way', ({ isRebuilt }) => {
  const start = () => harness(registryCore(), { isRebuilt });

  it.each(Object.keys(ENTRIES))('registers, versions and retires as %s', (kind) => {
    const registry = start()
      .when(register(kind, 'one', ENTRIES[kind]), 1)
      .then(fact('EntryRegistered', { kind, name: 'one', tenant: 'acme', version: 1, registered_by: 'dana' }))
      .thenAnswer({ status: 'accepted', httpStatus: 201 })
      .when(register(kind, 'one', ENTRIES[kind]), 2)
      .thenNothing()
      .thenAnswer({ httpStatus: 200 })
      .when(register(kind, 'one', { ...ENTRIES[kind], doc: 'Other words.' }), 3)
      .then(fact('EntryRegistered', { version: 2 }))
      .when(retire(kind, 'one'), 4)
      .then(fact('EntryRetired', { version: 2, reason: 'over' }))
      .when(retire(kind, 'one'), 5)
      .thenNothing()
      .thenAnswer({ status: 'accepted', httpStatus: 200 })
      .when(register(kind, 'one', ENTRIES[kind]), 6)
      .then(fact('EntryRegistered', { version: 3 }));
    expect(registry.rows(ENTRY_KIND)).toMatchObject([
      { group: `${kind}/acme`, key: 'one', doc: { version: 3, retired: false } },
    ]);
  });

  it('of one tenant is nothing to another', () => {
    start()
      .when(register('agent_charter', 'one', charter), 1)
      .when(retire('agent_charter', 'one', { tenant: 'globex' }), 2)
      .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'ENTRY_UNKNOWN' })
      .when(register('agent_charter', 'one', charter, { tenant: 'globex' }), 3)
      .then(fact('EntryRegistered', { tenant: 'globex', version: 1 }));
  });

  it.each([
    ['of a kind there is not', register('wish', 'one', {}), 'ENTRY_KIND_UNKNOWN'],
    ['under a name that is no address', register('kill_switch', 'a/b', kill), 'ENTRY_NAME_INVALID'],
    ['under a name longer than a key', register('kill_switch', 'x'.repeat(9_000), kill), 'ENTRY_NAME_INVALID'],
    [
      'by somebody without the role',
      register('kill_switch', 'one', kill, { roles: ['contract_editor'] }),
      'ROLE_REQUIRED',
    ],
    ['that is no JSON', register('kill_switch', 'one', '['), 'ENTRY_REFUSED'],
    ['that is not there', retire('kill_switch', 'one'), 'ENTRY_UNKNOWN'],
  ])('is refused %s', (_, input, code) => {
    start().when(input, 1).thenNothing().thenAnswer({ status: 'rejected', code });
  });

  it('is refused as a subscription beyond what a rollback can wait for, until one is retired', () => {
    const [mine, start100] = [ENTRIES['subscription'] ?? {}, start()];
    for (let n = 0; n < 100; n += 1) start100.when(register('subscription', `s${String(n)}`, mine), 1);
    start100
      .when(register('subscription', 'one-more', mine), 2)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'SUBSCRIPTIONS_FULL' })
      .when(register('subscription', 's7', { ...mine, doc: 'Other words.' }), 3)
      .then(fact('EntryRegistered', { version: 2 }))
      .when(retire('subscription', 's7'), 4)
      .when(register('subscription', 'one-more', mine), 5)
      .then(fact('EntryRegistered', { name: 'one-more' }));
  });

  it.each([
    ['asks two people', { forward_approval: 'dual_control' }, 'ROUTINE_FORBIDDEN'],
    ['is of high risk', { risk_level: 'high' }, 'ROUTINE_FORBIDDEN'],
    ['moves money', { impact: 'financial' }, 'ROUTINE_FORBIDDEN'],
    ['is of another tenant', { risk_level: 'high', tenant: 'globex' }, null],
    ['is routine', {}, null],
  ])('judges a routine rule by the contract of what it names, which %s: %j, %s', (_what, terms, code) => {
    const contract = JSON.stringify({ ...POST, ...terms });
    const bundle = { ...ENTRIES['policy_bundle'], routine: [ROUTINE] };
    const registry = start().given(
      fact('ContractRegistered', {
        name: 'channels.post_message',
        version: 1,
        tenant: 'tenant' in terms ? terms.tenant : '*',
        digest: contractDigest(contract),
        body: contract,
        registered_by: 'mira',
        confirmed_by: null,
      }),
    );
    registry.when(register('policy_bundle', 'notices', bundle, { accounts: ['d.ana'] }), 1);
    if (code === null) registry.then(fact('EntryRegistered', { registered_by: 'dana', accounts: ['d.ana'] }));
    else
      registry.thenNothing().thenAnswer({
        status: 'rejected',
        httpStatus: 422,
        code: 'ENTRY_REFUSED',
        body: { problems: [{ code, path: '/routine/0/capabilities' }] },
      });
  });

  it('takes no switch that is on in place of one of the same name over something else: what that stops would go on', () => {
    const over = (scope: Json) => ({ ...kill, scope });
    const run = harness(registryCore()).when(register('kill_switch', 'refunds', kill), 1);
    run
      .when(register('kill_switch', 'refunds', over({ over: 'tenant' })), 2)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'SWITCH_STANDS' })
      .when(register('kill_switch', 'refunds', { ...kill, reason: 'double refunds, since noon' }), 3)
      .then(fact('EntryRegistered', { version: 2 }))
      .when(retire('kill_switch', 'refunds'), 4)
      .then(fact('EntryRetired'))
      .when(register('kill_switch', 'refunds', over({ over: 'tenant' })), 5)
      .then(fact('EntryRegistered', { version: 3 }));
  });

  it('feeds kill switches to whoever obeys them, until each is lifted', () => {
    const view = memoryView(entryView);
    const registry = start();
    const follow = (input: RecordInput, now: number): void => {
      for (const record of registry.when(input, now).recorded()) view.append('k', record);
    };
    const acting = { tenant: 'acme', agent: 'agent-7', capability: 'payments.issue_refund' };
    const killed = (more: Partial<typeof acting> = {}): boolean => !killVerdict(view, { ...acting, ...more }).admitted;
    expect(killed()).toBe(false);
    follow(register('kill_switch', 'refunds', kill), 1);
    follow(register('kill_switch', 'refunds-too', kill), 2);
    expect([killed(), killed({ capability: 'payments.get_refund' }), killed({ tenant: 'globex' })]).toEqual([
      true,
      false,
      false,
    ]);
    follow(retire('kill_switch', 'refunds'), 3);
    expect(killed()).toBe(true);
    follow(register('kill_switch', 'an-agent', { ...kill, scope: { over: 'agent', agent: 'agent-7' } }), 4);
    follow(retire('kill_switch', 'refunds-too'), 4);
    expect([killed({ capability: 'payments.get_refund' }), killed({ agent: 'agent-8' })]).toEqual([true, false]);
    follow(retire('kill_switch', 'an-agent'), 5);
    expect(killed()).toBe(false);
    follow(register('kill_switch', 'all', { ...kill, scope: { over: 'tenant' } }, { tenant: '*' }), 6);
    expect([killed({ tenant: 'globex', agent: 'x', capability: 'a.b_c' })]).toEqual([true]);
    expect(entryOf(view, 'kill_switch', 'globex', 'all')).toMatchObject({ severity: 'sev1' });
  });
});

it('records of entries fit their schemas', async () => {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter(CONTRACTS_LOG, { register: true });
  const registry = harness(registryCore())
    .when(register('kill_switch', 'one', kill), 1)
    .when(retire('kill_switch', 'one'), 2);
  const types = registry.records().map(({ type, body, seq, decidedAt }) => {
    expect(
      codecs.encode(CONTRACTS_LOG, type, { ...body, seq, prev_hash: Buffer.alloc(32), decided_at: decidedAt }).length,
    ).toBeGreaterThan(5);
    return type;
  });
  expect(types).toEqual(['EntryRegistered', 'EntryRetired']);
});
