import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { contractByDigest, contractByName, contractDigest, contractView } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { fact, harness, memoryView, WAYS, wire } from '@recourse/testing';
import { registryCore, REGISTRY_COMMANDS } from './core.js';
import { CONTRACTS_LOG } from './rows.js';

type Json = Record<string, unknown>;
const envelope = {
  command_id: 'cmd_1',
  tenant: 'acme',
  principal: 'dana',
  accounts: [] as readonly string[],
  roles: ['contract_editor'],
  route: 'POST /contracts',
  idempotency_key: 'k',
  body_sha256: Buffer.alloc(32),
  issued_at: 0,
  signature: Buffer.alloc(0),
};
function example(name: string, changes: Json = {}): Json {
  const merged = { ...(JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Json), ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}
function register(contract: Json, who: Partial<typeof envelope> = {}): RecordInput {
  const name = String(contract['name']);
  return wire(
    REGISTRY_COMMANDS,
    'RegisterContract',
    { envelope: { ...envelope, ...who }, name, body: JSON.stringify(contract), together: [] },
    { key: name },
  );
}
function retire(name: string, version: number): RecordInput {
  return wire(REGISTRY_COMMANDS, 'RetireContract', { envelope, name, version }, { key: name });
}
const read = example('payments.get_refund');

describe.each(WAYS)('the contract registry, $way', ({ isRebuilt }) => {
  const start = () => harness(registryCore(), { isRebuilt });

  it('registers the contracts of the example, each after those it names', () => {
    const registry = start();
    for (const name of ['payments.get_refund', 'payments.reverse_refund', 'payments.issue_refund']) {
      registry
        .when(register(example(name)), 1)
        .then(
          fact('ContractRegistered', { name, version: 1, tenant: 'acme', registered_by: 'dana', command_id: 'cmd_1' }),
        )
        .thenAnswer({ status: 'accepted', httpStatus: 201 });
    }
    expect(registry.rows('contract').map((row) => [row.group, row.key, row.doc['retired']])).toEqual([
      ['acme/payments.get_refund', '1', false],
      ['acme/payments.issue_refund', '1', false],
      ['acme/payments.reverse_refund', '1', false],
    ]);
  });

  it('lists every problem of a contract, and records nothing', () => {
    const registry = start()
      .when(register(example('payments.issue_refund', { residue: undefined, colour: 'red' })), 1)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACT_REFUSED' });
    const problems = registry.decision().answer?.body['problems'] as readonly {
      readonly code: string;
      readonly path: string;
    }[];
    expect(problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'CONTRACT_FIELD_UNKNOWN /colour',
      'RESIDUE_MISSING /residue',
      'CAPABILITY_UNKNOWN /compensation_capability',
      'CAPABILITY_UNKNOWN /reconcile_capability',
      'CAPABILITY_UNKNOWN /stale_check/observe_capability',
      'CAPABILITY_UNKNOWN /verification/verify_capability',
    ]);
  });

  it('answers the same contract with the same digest, and records it once', () => {
    const registry = start().when(register(read), 1);
    const first = registry.decision().answer?.body;
    registry
      .when(register(Object.fromEntries(Object.entries(read).reverse())), 2)
      .thenNothing()
      .thenAnswer({ status: 'accepted', httpStatus: 200 });
    expect(registry.decision().answer?.body).toEqual(first);
    registry
      .when(register({ ...read, version: undefined }), 3)
      .thenNothing()
      .thenAnswer({ httpStatus: 200 });
  });

  it('is as large as the limit with its owner and its version, which it gets here, and no larger, also where it would wait', () => {
    const padded = (bytes: number, more: Json = {}): Json => {
      const result_schema = { ...(read['result_schema'] as Json), description: 'x'.repeat(bytes) };
      return { ...read, version: undefined, ...more, result_schema };
    };
    const written = String(
      start()
        .when(register(padded(1)), 1)
        .records()
        .at(-1)?.body['body'],
    );
    const room = 65_536 - Buffer.byteLength(written) + 1;
    const registry = start()
      .when(register(padded(room + 1)), 1)
      .thenNothing()
      .thenAnswer({ httpStatus: 422, code: 'CONTRACT_REFUSED', body: { problems: [{ code: 'CONTRACT_TOO_LARGE' }] } })
      .when(register(padded(room)), 2)
      .then(fact('ContractRegistered', { version: 1 }));
    const weaker = { risk_level: 'low' };
    const left = room - Buffer.byteLength('"risk_level":"low",');
    registry
      .when(register(padded(left + 1, weaker)), 3)
      .thenNothing()
      .thenAnswer({ httpStatus: 422, code: 'CONTRACT_REFUSED' })
      .when(register(padded(left, weaker)), 4)
      .then(fact('RegistrationProposed', { version: 2 }));
  });

  it('counts versions up, and keeps the old ones', () => {
    start()
      .when(register(read), 1)
      .when(register({ ...read, version: undefined, owner: 'ledger-team' }), 2)
      .then(fact('ContractRegistered', { version: 2 }))
      .when(register({ ...read, version: 2, owner: 'others' }), 3)
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'CONTRACT_VERSION_UNEXPECTED' })
      .when(register({ ...read, version: 3, owner: 'others' }), 4)
      .then(fact('ContractRegistered', { version: 3 }))
      .when(register(read), 5)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { version: 1 } });
  });

  it('retires a version once', () => {
    const registry = start()
      .when(register(read), 1)
      .when(retire('payments.get_refund', 1), 2)
      .then(fact('ContractRetired', { version: 1, retired_by: 'dana' }));
    expect(registry.rows('contract')[0]?.doc['retired']).toBe(true);
    registry
      .when(retire('payments.get_refund', 1), 3)
      .thenNothing()
      .thenAnswer({ status: 'accepted', httpStatus: 200 })
      .when(retire('payments.get_refund', 2), 4)
      .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'CONTRACT_UNKNOWN' })
      .when(retire('x'.repeat(9_000), 1), 5)
      .thenAnswer({ status: 'rejected', code: 'CONTRACT_UNKNOWN' })
      .when(register(read), 6)
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'CONTRACT_RETIRED' })
      .when(register({ ...read, version: undefined }), 7)
      .then(fact('ContractRegistered', { version: 2 }));
  });

  it('refuses a contract that names a retired capability', () => {
    const registry = start()
      .when(register(read), 1)
      .when(retire('payments.get_refund', 1), 2)
      .when(register(example('payments.reverse_refund')), 3)
      .thenAnswer({ status: 'rejected', code: 'CONTRACT_REFUSED' });
    expect(registry.decision().answer?.body['problems']).toMatchObject([{ code: 'CAPABILITY_UNKNOWN' }]);
  });

  it('refuses an undo that is proved by nothing, and keeps reading one that registered before', () => {
    const ISSUE = 'payments.issue_refund';
    const sound = example(ISSUE);
    const verification = sound['verification'] as Json;
    const hollow = { ...sound, verification: { ...verification, success_condition: 'true' } };
    const registry = start()
      .when(register(read), 1)
      .when(register(example('payments.reverse_refund')), 2)
      .when(register(hollow), 3)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACT_REFUSED' });
    expect(registry.decision().answer?.body['problems']).toMatchObject([
      { code: 'VERIFICATION_PROVES_NOTHING', path: '/verification/success_condition' },
    ]);
    registry.when(register(sound), 4);
    const [record] = registry.recorded().slice(-1);
    const body = JSON.stringify({ ...hollow, tenant: 'acme', version: 1 });
    const before = { ...(record ?? fact('nothing')), body: { ...record?.body, body, digest: contractDigest(body) } };
    const view = memoryView(contractView);
    view.append(ISSUE, before);
    const known = contractByName(view, 'acme', ISSUE);
    expect(known?.contract.verification?.success_condition).toBe('true');
    start()
      .when(register(read), 1)
      .when(register(example('payments.reverse_refund')), 2)
      .given(before)
      .when(register({ ...hollow, version: 2 }), 3)
      .thenAnswer({ status: 'rejected', code: 'CONTRACT_REFUSED' })
      .when(register({ ...sound, version: 2 }), 4)
      .thenAnswer({ status: 'accepted' });
  });

  it('takes contracts from editors only, and for their own tenant only', () => {
    start()
      .when(register(read, { roles: ['approver'] }), 1)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'ROLE_REQUIRED' })
      .when(register({ ...read, tenant: 'globex' }), 2)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'TENANT_MISMATCH' })
      .when(register({ ...read, tenant: 'acme' }), 3)
      .then(fact('ContractRegistered', { tenant: 'acme' }))
      .when(register({ ...read, tenant: 'globex' }, { tenant: 'globex' }), 4)
      .then(fact('ContractRegistered', { tenant: 'globex', version: 1 }));
  });

  it('feeds the view the other services read', () => {
    const view = memoryView(contractView);
    const registry = start().when(register(read), 1);
    const [record] = registry.recorded();
    view.append('payments.get_refund', record ?? fact('nothing'));
    const known = contractByName(view, 'acme', 'payments.get_refund');
    expect(known?.contract.name).toBe('payments.get_refund');
    expect(contractByDigest(view, known?.digest ?? Buffer.alloc(32))?.retired).toBe(false);
  });
});

it('records of the contracts log fit their schemas', async () => {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter(CONTRACTS_LOG, { register: true });
  const registry = harness(registryCore()).when(register(read), 1).when(retire('payments.get_refund', 1), 2);
  const types = registry.records().map(({ type, body, seq, decidedAt }) => {
    const frame = codecs.encode(CONTRACTS_LOG, type, {
      ...body,
      seq,
      prev_hash: Buffer.alloc(32),
      decided_at: decidedAt,
    });
    expect(frame.length).toBeGreaterThan(5);
    return type;
  });
  expect(types).toEqual(['ContractRegistered', 'ContractRetired']);
});
