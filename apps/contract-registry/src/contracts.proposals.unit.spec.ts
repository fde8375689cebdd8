import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { RecordInput } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { fact, harness, WAYS, wire } from '@recourse/testing';
import { registryCore, REGISTRY_COMMANDS } from './core.js';
import { CONTRACTS_LOG, PROPOSAL_KIND } from './rows.js';

type Json = Record<string, unknown>;
const ISSUE = 'payments.issue_refund';
const WEEK_MS = 7 * 24 * 3_600_000;
let asked = 0;

function envelope(principal: string, more: Json = {}) {
  asked += 1;
  return {
    command_id: `cmd_${asked}`,
    tenant: 'acme',
    principal,
    accounts: [] as readonly string[],
    roles: ['contract_editor'],
    route: 'POST /contracts',
    idempotency_key: `k${asked}`,
    body_sha256: Buffer.alloc(32),
    issued_at: 0,
    signature: Buffer.alloc(0),
    ...more,
  };
}
function example(name: string, changes: Json = {}): Json {
  return Object.fromEntries(
    Object.entries({
      ...(JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Json),
      ...changes,
    }).filter(([, value]) => value !== undefined),
  );
}
function register(contract: Json, who = 'dana', more: Json = {}): RecordInput {
  const name = String(contract['name']);
  return wire(
    REGISTRY_COMMANDS,
    'RegisterContract',
    { envelope: envelope(who, more), name, together: [], body: JSON.stringify(contract) },
    { key: name },
  );
}
function confirm(digest: unknown, who: string, more: Json = {}, name = ISSUE): RecordInput {
  return wire(
    REGISTRY_COMMANDS,
    'ConfirmRegistration',
    { envelope: envelope(who, more), name, digest: Buffer.from(String(digest), 'hex'), together: {} },
    { key: name },
  );
}
function withdraw(who: string): RecordInput {
  return wire(REGISTRY_COMMANDS, 'WithdrawRegistration', { envelope: envelope(who), name: ISSUE }, { key: ISSUE });
}
const refund = (changes: Json = {}): Json => example(ISSUE, { version: undefined, ...changes });
const weaker = refund({ reversal_window_ms: 7_200_000 });
const other = refund({ blast_radius: { scope: 'tenant' } });

describe.each(WAYS)('a weaker version, $way', ({ isRebuilt }) => {
  const start = () =>
    harness(registryCore(), { isRebuilt })
      .when(register(example('payments.get_refund')), 1)
      .when(register(example('payments.reverse_refund')), 2)
      .when(register(refund()), 3);
  const proposedBy = (who: string, contract = weaker) => {
    const registry = start().when(register(contract, who), 10);
    return { registry, digest: registry.decision().answer?.body['digest'] };
  };

  it.each([
    ['does something else', { effect: 'A customer gets money back, or a voucher.' }],
    ['answers otherwise', { result_schema: { ...(refund()['result_schema'] as Json), description: 'more' } }],
  ])('that %s is another tool: it waits for a second person too, with both fingerprints (D7)', (_, changes) => {
    const { registry, digest } = proposedBy('dana', refund(changes));
    registry.then(fact('RegistrationProposed', { name: ISSUE, version: 2 }));
    const [{ weakenings = [] } = {}] = registry
      .records()
      .slice(-1)
      .map(({ body }) => body as { weakenings?: string[] });
    const [approved] = registry.rows('contract').filter(({ group }) => group === `acme/${ISSUE}`);
    expect(weakenings).toEqual([
      expect.stringMatching(
        new RegExp(`^the tool is another: .*approved is ${String(approved?.doc['tool_fingerprint'])}$`),
      ),
    ]);
    registry.when(confirm(digest, 'eve'), 11).then(fact('ContractRegistered', { version: 2, confirmed_by: 'eve' }));
    const prints = registry
      .rows('contract')
      .flatMap(({ group, doc }) => (group === `acme/${ISSUE}` ? [doc['tool_fingerprint']] : []));
    expect(new Set(prints).size).toBe(2);
  });

  it('that is only undone otherwise is the same tool', () => {
    start()
      .when(register(refund({ reversal_window_ms: 1_800_000 })), 10)
      .then(fact('ContractRegistered', { version: 2 }));
  });

  it('waits for a second person, and says what makes it weaker', () => {
    const { registry } = proposedBy('dana');
    registry
      .then(
        fact('RegistrationProposed', {
          name: ISSUE,
          version: 2,
          proposed_by: 'dana',
          expires_at: 10 + WEEK_MS,
          weakenings: ['/reversal_window_ms: machines may undo it for longer'],
        }),
      )
      .thenAnswer({ status: 'accepted', httpStatus: 201 });
    expect(registry.decision().answer?.body).toMatchObject({
      state: 'proposed',
      version: 2,
      differences: [{ path: '/reversal_window_ms', kind: 'weakening' }],
    });
    expect(registry.rows('contract').filter(({ group }) => group === `acme/${ISSUE}`)).toHaveLength(1);
    expect(registry.rows(PROPOSAL_KIND)).toMatchObject([{ group: `acme/${ISSUE}`, dueAt: 10 + WEEK_MS }]);
  });

  it('registers when somebody else confirms exactly it', () => {
    const { registry, digest } = proposedBy('dana');
    registry
      .when(confirm(digest, 'ravi'), 11)
      .then(fact('ContractRegistered', { version: 2, registered_by: 'dana', confirmed_by: 'ravi' }))
      .thenAnswer({ httpStatus: 201 });
    expect(registry.rows(PROPOSAL_KIND)).toEqual([]);
    expect(registry.rows('contract').filter(({ group }) => group === `acme/${ISSUE}`)).toHaveLength(2);
    registry
      .when(confirm(digest, 'ravi'), 12)
      .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'PROPOSAL_UNKNOWN' });
  });

  it.each(['dana', 'Dana', 'user:DANA'])('is not confirmed by who proposed it, as %j', (who) => {
    const { registry, digest } = proposedBy('dana');
    registry
      .when(confirm(digest, who), 11)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'SELF_CONFIRMATION' });
  });

  it('is not confirmed by who proposed it, under another account of theirs', () => {
    const { registry, digest } = proposedBy('dana@work');
    registry
      .when(confirm(digest, 'd-7', { accounts: ['dana', 'Dana@work'] }), 11)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'SELF_CONFIRMATION' });
  });

  it('is not confirmed by registering it again, by the same person or by another', () => {
    const { registry } = proposedBy('dana');
    registry.when(register(weaker, 'dana'), 11).thenNothing().thenAnswer({ status: 'accepted', httpStatus: 200 });
    registry.when(register(weaker, 'ravi'), 12).thenNothing();
    expect(registry.decision().answer?.body).toMatchObject({ state: 'proposed' });
  });

  it.each([
    ['by an agent', 'agent:dana-bot', {}, 'CONFIRMER_NOT_A_PERSON'],
    ['by nobody', ' ', {}, 'CONFIRMER_NOT_A_PERSON'],
    ['without the role', 'ravi', { roles: ['approver'] }, 'ROLE_REQUIRED'],
  ])('is not confirmed %s', (_, who, more, code) => {
    const { registry, digest } = proposedBy('dana');
    registry
      .when(confirm(digest, who, more), 11)
      .thenNothing()
      .thenAnswer({ status: 'rejected', code });
  });

  it('is not confirmed under another digest than was looked at', () => {
    const { registry } = proposedBy('dana');
    registry
      .when(confirm('00'.repeat(32), 'ravi'), 11)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'PROPOSAL_DIFFERS' });
  });

  it('of one tenant is nothing to another', () => {
    const { registry, digest } = proposedBy('dana');
    registry
      .when(register({ ...weaker, name: 'payments.issue_credit', tenant: 'acme' }), 11)
      .when(register({ ...weaker, name: 'payments.issue_credit', tenant: 'acme', reversal_window_ms: 9_000_000 }), 12);
    const own = registry.decision().answer?.body['digest'];
    const foreign = confirm(own, 'ravi', { tenant: 'globex' }, 'payments.issue_credit');
    registry
      .when(foreign, 13)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'PROPOSAL_UNKNOWN' });
    expect(digest).not.toBe(own);
  });

  it('gives way to the next one, which was compared with what stands', () => {
    const { registry } = proposedBy('dana');
    registry
      .when(register(other, 'dana'), 11)
      .then(
        fact('RegistrationDropped', { version: 2, cause: 'superseded', dropped_by: 'dana' }),
        fact('RegistrationProposed', { version: 2 }),
      );
    registry
      .when(register(refund({ recovery_approval_mode: 'dual_control' })), 12)
      .then(
        fact('RegistrationDropped', { cause: 'superseded' }),
        fact('ContractRegistered', { version: 2, confirmed_by: null }),
      );
    expect(registry.rows(PROPOSAL_KIND)).toEqual([]);
  });

  it('is withdrawn by anybody with the role', () => {
    const { registry } = proposedBy('dana');
    registry
      .when(withdraw('dana'), 11)
      .then(fact('RegistrationDropped', { cause: 'withdrawn', dropped_by: 'dana' }))
      .when(withdraw('dana'), 12)
      .thenAnswer({ status: 'rejected', code: 'PROPOSAL_UNKNOWN' });
  });

  it('lapses when nobody confirms it in time', () => {
    const { registry, digest } = proposedBy('dana');
    registry
      .whenDue(10 + WEEK_MS)
      .then(fact('RegistrationDropped', { cause: 'lapsed', dropped_by: null, command_id: null }));
    registry.when(confirm(digest, 'ravi'), 11 + WEEK_MS).thenAnswer({ status: 'rejected', code: 'PROPOSAL_UNKNOWN' });
  });

  it('is not confirmed once what it names stands no more', () => {
    const { registry, digest } = proposedBy('dana');
    const retire = wire(
      REGISTRY_COMMANDS,
      'RetireContract',
      { envelope: envelope('dana'), name: 'payments.reverse_refund', version: 1 },
      { key: 'payments.reverse_refund' },
    );
    registry
      .when(retire, 11)
      .when(confirm(digest, 'ravi'), 12)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACT_REFUSED' });
  });

  it('is not smuggled in by retiring what stands first', () => {
    const retire = wire(
      REGISTRY_COMMANDS,
      'RetireContract',
      { envelope: envelope('dana'), name: ISSUE, version: 1 },
      { key: ISSUE },
    );
    start()
      .when(retire, 4)
      .when(register(weaker), 5)
      .then(fact('RegistrationProposed', { version: 2 }));
  });
});

describe('a stronger or equal version', () => {
  it('registers by one person, with what differs', () => {
    const registry = harness(registryCore())
      .when(register(example('payments.get_refund')), 1)
      .when(register(example('payments.reverse_refund')), 2)
      .when(register(refund()), 3)
      .when(register(refund({ recovery_approval_mode: 'dual_control', owner: 'others' })), 4)
      .then(fact('ContractRegistered', { version: 2, confirmed_by: null }));
    expect(registry.decision().answer?.body).toMatchObject({
      state: 'registered',
      differences: [
        { kind: 'strengthening', path: '/recovery_approval_mode' },
        { kind: 'neutral', path: '/owner' },
      ],
    });
  });
});

it('records of proposals fit their schemas', async () => {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter(CONTRACTS_LOG, { register: true });
  const registry = harness(registryCore())
    .when(register(example('payments.get_refund')), 1)
    .when(register(example('payments.reverse_refund')), 2)
    .when(register(refund()), 3)
    .when(register(weaker), 4)
    .when(register(other), 5)
    .whenDue(5 + WEEK_MS);
  const types = registry
    .records()
    .slice(3)
    .map(({ type, body, seq, decidedAt }) => {
      expect(
        codecs.encode(CONTRACTS_LOG, type, { ...body, seq, prev_hash: Buffer.alloc(32), decided_at: decidedAt }).length,
      ).toBeGreaterThan(5);
      return type;
    });
  expect(types).toEqual(['RegistrationProposed', 'RegistrationDropped', 'RegistrationProposed', 'RegistrationDropped']);
});
